#!/bin/sh
# opencode reads a backslash in an environment variable as an escape of JSON.
#
# opencode-ai 1.18.33. Its documentation has "{env:NAME}" for the value of a variable in
# opencode.json.
#
# Expected: the server's argument is the value of the variable.
# Seen:     the value is put into the text of the file, which is then parsed. A Windows path
#           such as C:\new is C:, a line break and ew; C:\\new is C:\new.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" opencode-ai@1.18.33 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s) and its registry' >&2; exit 2; }
mkdir -p "$dir/home/.config/opencode" "$dir/work" && cd "$dir/work" || exit 2
cat >"$dir/home/.config/opencode/opencode.json" <<'END'
{"mcp": {
  "a": {"type": "local", "command": ["sh", "-c", "printf %s \"$1\" >a", "sh", "{env:SLASH}"]},
  "b": {"type": "local", "command": ["sh", "-c", "printf %s \"$1\" >b", "sh", "{env:BACKSLASH}"]},
  "c": {"type": "local", "command": ["sh", "-c", "printf %s \"$1\" >c", "sh", "{env:TWO}"]}
}}
END

# A listing starts the servers, and each writes down its argument.
HOME=$dir/home SLASH='C:/new' BACKSLASH='C:\new' TWO='C:\\new' timeout 60 "$dir/npm/node_modules/.bin/opencode" mcp list >"$dir/log" 2>&1 </dev/null
[ -s a ] && [ -s b ] && [ -s c ] || { cat "$dir/log"; exit 2; }
seen=$(tail -n +1 a b c)
expected='==> a <==
C:/new
==> b <==
C:
ew
==> c <==
C:\new'
printf '%s\n' "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }
