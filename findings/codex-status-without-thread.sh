#!/bin/sh
# codex app-server says that a server is connected which the project has switched off.
#
# @openai/codex 0.171.0. "config/read" with a cwd returns the configuration of a directory, with
# the project's .codex/config.toml merged, and "mcpServerStatus/list" the servers' status.
#
# Expected: both are about the directory in which the app-server runs, or the second says
#           that it is not.
# Seen:     without a threadId the status is that of the user's own config: the server is
#           started and has its tools, while the merged configuration has enabled = false.
#           With the threadId of a thread started there it is "disabled".
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" @openai/codex@0.171.0 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s) and its registry' >&2; exit 2; }
mkdir -p "$dir/home/.codex" "$dir/work/.codex" && cd "$dir/work" || exit 2
work=$(pwd -P)
cat >"$dir/server.js" <<'END'
const tools = [{name: "hello", inputSchema: {type: "object"}}]
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const {id, method, params} = JSON.parse(line)
  const result = method === "initialize"
    ? {protocolVersion: params.protocolVersion, capabilities: {tools: {}}, serverInfo: {name: "s", version: "1"}}
    : method === "tools/list" ? {tools} : {}
  if (id !== undefined) console.log(JSON.stringify({jsonrpc: "2.0", id, result}))
})
END
cat >"$dir/home/.codex/config.toml" <<END
[mcp_servers.srv]
command = "$(command -v node)"
args = ["$dir/server.js"]
[projects."$work"]
trust_level = "trusted"
END
printf '[mcp_servers.srv]\nenabled = false\n' >.codex/config.toml
cat >"$dir/ask.js" <<'END'
const codex = require("child_process").spawn(process.argv[2], ["app-server"], {stdio: ["pipe", "pipe", "ignore"]})
const waiting = {}
let last = 0
const ask = (method, params) => new Promise(done => {
  waiting[++last] = done
  codex.stdin.write(JSON.stringify({id: last, method, params}) + "\n")
})
require("readline").createInterface({input: codex.stdout}).on("line", line => {
  const {id, result, error} = JSON.parse(line)
  if (waiting[id]) waiting[id](result || error)
})
const status = async more => {
  const list = await ask("mcpServerStatus/list", {serverName: "srv", ...more})
  const {runtimeStatus, tools} = list.data[0]
  return `${runtimeStatus}, tools: ${Object.keys(tools).join() || "none"}`
}
setTimeout(() => process.exit(2), 60000).unref()
;(async () => {
  const cwd = process.cwd()
  await ask("initialize", {clientInfo: {name: "x", title: "x", version: "1"}})
  codex.stdin.write('{"method":"initialized"}\n')
  console.log("enabled:", (await ask("config/read", {cwd})).config.mcp_servers.srv.enabled)
  console.log("without a thread:", await status({}))
  const {thread} = await ask("thread/start", {cwd, ephemeral: true})
  console.log("in a thread:", await status({threadId: thread.id}))
  codex.kill()
  process.exit()
})()
END
seen=$(HOME=$dir/home CODEX_HOME=$dir/home/.codex node "$dir/ask.js" "$dir/npm/node_modules/.bin/codex" </dev/null) ||
	{ printf '%s\n' "$seen"; exit 2; }
expected='enabled: false
without a thread: null, tools: hello
in a thread: disabled, tools: none'
printf '%s\n' "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }
