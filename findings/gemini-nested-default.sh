#!/bin/sh
# gemini leaves a variable in a default as it is, and expands one behind a backslash.
#
# @google/gemini-cli 0.61.0. In settings.json, $NAME and ${NAME} stand for a variable, and
# ${NAME:-DEFAULT} for one with a default.
#
# Expected: a default is expanded as in a shell, where ${A:-${B}} is the value of B if A is
#           not set; and a backslash before $B makes it text.
# Seen:     the default is the text ${B}, whatever B is. A backslash before $B stays, and the
#           value of B follows it.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
timeout 90 npm install --silent --no-fund --no-audit --prefix "$dir/npm" @google/gemini-cli@0.61.0 >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; echo 'needs npm (within 90 s), its registry and Node 20' >&2; exit 2; }
mkdir -p "$dir/home/.gemini" "$dir/work" && cd "$dir/work" || exit 2
cat >"$dir/home/.gemini/settings.json" <<'END'
{"mcpServers": {"a": {"command": "true", "args": ["${A:-plain}", "${A:-${B}}", "${A:-$B}", "\\$B", "${B:-x}"]}}}
END
unset A
seen=$(HOME=$dir/home B=value timeout 60 "$dir/npm/node_modules/.bin/gemini" mcp list 2>&1 </dev/null | sed -n 's/.*a: true \(.*\) (stdio).*/\1/p')
expected='plain ${B} $B \value value'
printf '%s\n' "$seen"
[ -n "$seen" ] || exit 2
[ "$seen" = "$expected" ] || { printf 'it was: %s\n' "$expected" >&2; exit 1; }
