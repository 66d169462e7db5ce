#!/bin/sh
# A project's .mcp.json switches off a server of the same name in grok's own config.
#
# @xai-official/grok 1.0.41. It also reads the .mcp.json of a project, once the user trusts the
# folder, and with lower precedence than its own ~/.grok/config.toml.
#
# Expected: what is in a folder that is not trusted does not count, so that the server of the
#           user's own config starts there as elsewhere.
# Seen:     it does not start, with the check "folder untrusted", as soon as .mcp.json has an
#           entry of its name, whatever that runs.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" @xai-official/grok@1.0.41 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s) and its registry' >&2; exit 2; }
mkdir -p "$dir/home/.grok" "$dir/work" && cd "$dir/work" || exit 2
cat >"$dir/home/.grok/config.toml" <<END
[mcp_servers.srv]
command = "/bin/sh"
args = ["-c", "echo own >>$dir/started"]
END
# What the server of the name does when it is asked about; "none", if none was started.
started() {
	rm -f "$dir/started"
	HOME=$dir/home timeout 15 "$dir/npm/node_modules/.bin/grok" mcp doctor srv --json >"$dir/log" 2>&1 </dev/null
	echo "$1: $(head -1 "$dir/started" 2>/dev/null || echo none)$(grep -o 'folder untrusted' "$dir/log" | sed 's/^/, /' | head -1)"
}
seen=$(
	started 'no .mcp.json'
	echo '{"mcpServers": {"other": {"command": "true"}}}' >.mcp.json
	started 'of another name'
	echo '{"mcpServers": {"srv": {"command": "true"}}}' >.mcp.json
	started 'of its name'
)
expected='no .mcp.json: own
of another name: own
of its name: none, folder untrusted'
printf '%s\n' "$seen"
[ "$seen" = "$expected" ] || { cat "$dir/log"; printf 'it was:\n%s\n' "$expected" >&2; exit 1; }
