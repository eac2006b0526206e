#!/usr/bin/env node
'use strict'

// Starts the program fsmtx, which is in the package of this platform, and waits for it.
// Hooks do not use this launcher: "fsmtx install" registers a copy of the program.

const { spawn } = require('child_process')
const { constants } = require('os')
const path = require('path')

const windows = process.platform === 'win32'

function fail(message, hint) {
  process.stderr.write('fsmtx: ' + message + '\nhint: ' + hint + '\n')
  process.exit(1)
}

function find() {
  const platform = process.platform + '-' + process.arch
  const name = '@fsmtx/' + platform
  try {
    return path.join(path.dirname(require.resolve(name + '/package.json')), 'bin', windows ? 'fsmtx.exe' : 'fsmtx')
  } catch (error) {
    if (!(name in require('../package.json').optionalDependencies)) {
      fail('there is no program for ' + platform, 'fsmtx runs on Linux, macOS and Windows, on x64 and arm64')
    }
    fail('the package ' + name + ', which has the program, is not installed', 'install fsmtx again, and do not leave out optional packages (--omit=optional, --no-optional)')
  }
}

const program = find()

// A signal to this process is meant for the program. From a terminal both get it, and the
// program gets it twice, which does no harm. It is caught before the program starts: one that
// comes at once would otherwise end this process alone. On Windows the console tells the program
// itself, and kill would end it.
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT']
for (const signal of signals) {
  process.on(signal, () => windows || child.kill(signal))
}

// FSMTX_LAUNCHER tells the program that this file is the fsmtx on PATH.
const child = spawn(program, process.argv.slice(2), {
  stdio: 'inherit',
  env: Object.assign({}, process.env, { FSMTX_LAUNCHER: __filename }),
})

child.on('error', (error) => {
  fail(program + ' cannot be started: ' + error.message, 'install fsmtx again')
})
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code)
  }
  for (const handled of signals) {
    process.removeAllListeners(handled)
  }
  process.kill(process.pid, signal)
  // Node ignores some signals, which then do not end it.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100)
})
