// Writes a task list as the client does, with the client's own locking library.
// One order a line on standard input, one answer a line on standard output.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const lockfile = require('proper-lockfile');

const dir = process.argv[2];
const at = (name) => path.join(dir, name);
const retries = { retries: 30, minTimeout: 5, maxTimeout: 100 };
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const say = (answer) => fs.writeSync(1, JSON.stringify(answer) + '\n');
const die = () => process.kill(process.pid, 'SIGKILL');

class Failed extends Error {}

async function withLock(name, order, work) {
  let release;
  try {
    release = await lockfile.lock(at(name), { retries });
  } catch (error) {
    throw new Failed(error.code === 'ENOENT' ? 'gone' : 'locked');
  }
  const answer = await work();
  if (order.die) {
    say(answer);
    die();
  }
  try {
    await release();
  } catch (error) {
    return { ...answer, error: 'release: ' + error.message };
  }
  return answer;
}

async function pause(order) {
  if (!order.wait) return;
  say({ paused: true });
  await lines.next();
}

// put writes in place, then truncates.
async function put(name, text, torn) {
  const file = await fs.promises.open(at(name), fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o666);
  const data = Buffer.from(torn ? text.slice(0, text.length / 2) : text);
  await file.write(data, 0, data.length, 0);
  await file.truncate(data.length);
  await file.close();
}

async function mark() {
  try {
    return parseInt(await fs.promises.readFile(at('.highwatermark'), 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

async function highest() {
  const numbers = (await fs.promises.readdir(dir))
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => parseInt(name, 10) || 0);
  return Math.max(0, ...numbers, await mark());
}

const countOf = (description) => parseInt((/^count=(\d+)/.exec(description) || [])[1] || '0', 10);
const padded = (count, pad) => `count=${count} ${'x'.repeat(pad)}`;

async function create(order) {
  await fs.promises.mkdir(dir, { recursive: true });
  await fs.promises.writeFile(at('.lock'), '', { flag: 'wx' }).catch(() => {});
  return withLock('.lock', order, async () => {
    const id = (await highest()) + 1;
    await pause(order);
    if (order.die === 'locked') return { id, error: 'died' };
    const task = {
      id: String(id), subject: order.subject, description: padded(0, order.pad), status: 'pending', blocks: [], blockedBy: [],
    };
    await put(`${id}.json`, JSON.stringify(task, null, 2));
    return { id };
  });
}

async function update(order, change) {
  const name = `${order.id}.json`;
  return withLock(name, order, async () => {
    let text;
    try {
      text = await fs.promises.readFile(at(name), 'utf8');
    } catch {
      return { error: 'gone' };
    }
    let task;
    try {
      task = JSON.parse(text);
    } catch {
      return { error: 'broken' };
    }
    change(task);
    await pause(order);
    if (order.die === 'locked') return { error: 'died' };
    await put(name, JSON.stringify(task, null, 2), order.die === 'torn');
    return { id: order.id, count: countOf(task.description) };
  });
}

async function remove(order) {
  const name = `${order.id}.json`;
  if (!fs.existsSync(at(name))) return { error: 'gone' };
  if ((await mark()) < order.id) await put('.highwatermark', String(order.id));
  await pause(order);
  try {
    await fs.promises.unlink(at(name));
  } catch {
    return { error: 'gone' };
  }
  await strip(order);
  return { id: order.id };
}

async function strip(order) {
  for (const name of await fs.promises.readdir(dir)) {
    if (!name.endsWith('.json')) continue;
    try {
      const task = JSON.parse(await fs.promises.readFile(at(name), 'utf8'));
      if (!task.blockedBy.includes(String(order.id))) continue;
      await update({ id: parseInt(name, 10) }, (t) => {
        t.blockedBy = t.blockedBy.filter((id) => id !== String(order.id));
      });
    } catch {
      // gone, half written or locked for too long: the client ignores that too
    }
  }
}

async function obey(order) {
  if (order.op === 'create') return create(order);
  if (order.op === 'delete') return remove(order);
  return update(order, (task) => { task.description = padded(countOf(task.description) + 1, order.pad); });
}

(async () => {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return;
    const order = JSON.parse(value);
    try {
      say(await obey(order));
    } catch (error) {
      say({ error: error instanceof Failed ? error.message : String(error.stack) });
    }
    if (order.die) die();
  }
})();
