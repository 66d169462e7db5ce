// Command gen writes the row types of package tmux: gen TABLE OUT.
package main

import (
	"fmt"
	"os"

	"tmuxmcp/internal/tokens"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen TABLE OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

func run(table, out string) error {
	data, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	list, err := tokens.Parse(data)
	if err != nil {
		return err
	}
	src, err := tokens.Generate(list)
	if err != nil {
		return err
	}
	return os.WriteFile(out, src, 0o666)
}
