// Tokens writes the row types of package tmux from the table of tmux's format tokens:
//
//	tokens TABLE OUT
//
// The table, fixtures/tokens.json, holds what tmux itself does not say: to tmux a token is text or
// a time, and which object it belongs to is known to a C function only. Each row of the table gives
// one token its scope, its real type, the release that brought it and one sentence of meaning.
// mcp-conform tokens finds what it lacks. To add a token, add its row and run go generate ./tmux.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: tokens TABLE OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "tokens: %v\n", err)
		os.Exit(1)
	}
}

func run(table, out string) error {
	data, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	list, err := parse(data)
	if err != nil {
		return err
	}
	src, err := generate(list)
	if err != nil {
		return err
	}
	return os.WriteFile(out, src, 0o666)
}
