#!/usr/bin/env node
// Starts this platform's {{.Program}}, which is in a package of its own. What starts it often may
// run that file itself, without Node: tmux-mcp setup writes its path.
'use strict'
const fs = require('fs')
const path = require('path')

const packages = [{{range $i, $p := .Packages}}{{if $i}}, {{end}}'{{$p}}'{{end}}]
const platform = `${process.platform}-${process.arch}`
const args = process.argv.slice(2)

function fail(text) {
  fs.writeSync(2, `{{.Program}}: ${text}\n`)
  process.exit(1)
}

// find returns the path of the program.
function find() {
  const holder = packages.find((name) => name.endsWith('-' + platform))
  if (!holder) {
    fail(`{{.Package}} {{.Number}} is not published for ${platform}, only in ${packages.join(', ')}`)
  }
  let dir
  try {
    dir = path.dirname(require.resolve(holder + '/package.json'))
  } catch {
    fail(`${holder}, which holds the program, is not installed: ` +
      'install {{.Package}} again, on this machine and with --include=optional')
  }
  const windows = process.platform === 'win32'
  const program = path.join(dir, 'bin', '{{.Program}}' + (windows ? '.exe' : ''))
  if (windows && !fs.existsSync(program)) {
    fail('needs tmux, which Windows has in WSL: install {{.Package}} there')
  }
  return program
}

// replace becomes the program, where Node can do that: then no process waits for another.
function replace(program) {
  if (!process.execve) return
  try {
    process.execve(program, [program, ...args], process.env)
  } catch {}
}

// spawn runs the program, and ends as it does. A signal that comes while it is started is passed
// on once it is.
function spawn(program) {
  // A terminal sends these two to the program itself.
  const typed = require('tty').isatty(0) ? ['SIGINT', 'SIGQUIT'] : []
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => typed.includes(signal) || child.kill(signal))
  }
  const child = require('child_process').spawn(program, args, { stdio: 'inherit' })
  child.on('error', (err) => fail(err.message))
  child.on('exit', (status, signal) => {
    if (!signal) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

const program = find()
replace(program)
spawn(program)
