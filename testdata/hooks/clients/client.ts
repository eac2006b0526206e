import { execFileSync } from 'node:child_process';

const request = {
  version: 1, dialect: 'claude', event: 'PreToolUse',
  settings: { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: "echo 'not here' >&2; exit 2" }] }] } },
  input: { tool_name: 'Bash', tool_input: { command: 'ls' } },
};
const result = execFileSync('fsmtx', ['hooks', 'eval'], { input: JSON.stringify(request), encoding: 'utf8' });
const policy = JSON.parse(result).policy;
console.log(policy.verdict, policy.reason);
