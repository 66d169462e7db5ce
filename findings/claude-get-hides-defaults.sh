#!/bin/sh
# "claude mcp get" shows a placeholder without its default, and part of a nested one.
#
# @anthropic-ai/claude-code 2.1.332. In .mcp.json and ~/.claude.json, ${NAME:-DEFAULT} stands
# for a variable with a default.
#
# Expected: the command shows the argument as the file has it, or with the value that the
#           server is started with.
# Seen:     neither. ${NAME:-plain} is shown as ${NAME}, though the server gets "plain"; of
#           ${NAME:-${OTHER:-inner}} the last brace stays. Who compares what it shows with
#           the file finds another command.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" @anthropic-ai/claude-code@2.1.332 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s) and its registry' >&2; exit 2; }
mkdir -p "$dir/home" "$dir/work" && cd "$dir/work" || exit 2
cat >"$dir/home/.claude.json" <<'END'
{"mcpServers": {"a": {"command": "sh", "args": ["-c", "echo \"$1\" >seen", "sh", "${NO_SUCH:-plain}", "${NO_SUCH:-${NOR_THIS:-inner}}"]}}}
END
HOME=$dir/home timeout 60 "$dir/npm/node_modules/.bin/claude" mcp get a >"$dir/log" 2>&1 </dev/null
shown=$(sed -n 's/^ *Args: .* sh //p' "$dir/log")
seen="shown: $shown; the server got: $(cat seen)"
expected='shown: ${NO_SUCH} ${NO_SUCH}}; the server got: plain'
echo "$seen"
[ -n "$shown" ] || { cat "$dir/log"; exit 2; }
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; exit 1; }
