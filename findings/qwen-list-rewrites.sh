#!/bin/sh
# "qwen mcp list" rewrites the user's settings.
#
# @qwen-code/qwen-code 0.24.4. The command lists the servers of ~/.qwen/settings.json.
#
# Expected: a listing changes no file of the user's.
# Seen:     the first command after an update, a listing too, adds "$version" to the file
#           and formats all of it anew: objects on one line become several. Comments stay.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" @qwen-code/qwen-code@0.24.4 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s), its registry and Node 22' >&2; exit 2; }
mkdir -p "$dir/home/.qwen" "$dir/work" && cd "$dir/work" || exit 2
cat >"$dir/home/.qwen/settings.json" <<'END'
{
    // mine
    "mcpServers": {"a": {"command": "true"}}
}
END
HOME=$dir/home timeout 60 "$dir/npm/node_modules/.bin/qwen" mcp list >"$dir/log" 2>&1 </dev/null || { cat "$dir/log"; exit 2; }
grep -q 'a: true' "$dir/log" || { cat "$dir/log"; exit 2; }
expected='{
    // mine
    "mcpServers": {
        "a": {
            "command": "true"
        }
    },
    "$version": 4
}'
cat "$dir/home/.qwen/settings.json"
[ "$(cat "$dir/home/.qwen/settings.json")" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; exit 1; }
