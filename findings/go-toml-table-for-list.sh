#!/bin/sh
# go-toml takes a table for a list of one, in one spelling of TOML, but not in the other.
#
# github.com/pelletier/go-toml/v2 2.4.3. TOML has two spellings of a table: a header, [server],
# and inline, server = { … }. Both mean the same, so a decoder should accept both or neither
# where the program has a list of structs, which is [[server]] or server = [{ … }].
#
# Expected: an error for both, as other values of a wrong type get one.
# Seen:     [server] becomes a list with one element, without an error; the inline table is an
#           error. A config with a bracket too few works until somebody adds a second server,
#           or writes the same in one line. So who checks a config of this form has to look at
#           the brackets too.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" && cat >go.mod <<'END' && cat >go.sum <<'END2' && cat >main.go <<'END3' || exit 2
module try

go 1.21.0

require github.com/pelletier/go-toml/v2 v2.4.3
END
github.com/pelletier/go-toml/v2 v2.4.3 h1:GTRvJQutkOSftxIFD5xw9aepkYNuPWmVJpffdDPYVpY=
github.com/pelletier/go-toml/v2 v2.4.3/go.mod h1:2gIqNv+qfxSVS7cM2xJQKtLSTLUE9V8t9Stt+h56mCY=
END2
package main

import (
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

func main() {
	for _, text := range []string{
		"[[server]]\ncommand = 'a'\n", "server = [{ command = 'a' }]\n", // lists
		"[server]\ncommand = 'a'\n", "server = { command = 'a' }\n", // tables
	} {
		var config struct{ Server []struct{ Command string } }
		err := toml.Unmarshal([]byte(text), &config)
		fmt.Printf("%q: %v, error %t\n", text, config.Server, err != nil)
	}
}
END3
GOWORK=off GOFLAGS=-modcacherw GOMODCACHE=$dir/mod timeout 90 go build -o run . >log 2>&1 ||
	{ cat log; echo 'needs Go and its module proxy' >&2; exit 2; }
seen=$(./run) || exit 2
expected='"[[server]]\ncommand = '\''a'\''\n": [{a}], error false
"server = [{ command = '\''a'\'' }]\n": [{a}], error false
"[server]\ncommand = '\''a'\''\n": [{a}], error false
"server = { command = '\''a'\'' }\n": [], error true'
printf "%s\n" "$seen"
[ "$seen" = "$expected" ] || { printf "it was:\n%s\n" "$expected" >&2; exit 1; }
