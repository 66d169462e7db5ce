// Counter is a program to test in twenty lines: + and - count, q quits.
package main

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

func main() {
	before, err := term.MakeRaw(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "counter:", err)
		os.Exit(1)
	}
	defer term.Restore(0, before)
	for n, key := 0, []byte{0}; key[0] != 'q'; os.Stdin.Read(key) {
		n += map[byte]int{'+': 1, '-': -1}[key[0]]
		fmt.Printf("\x1b[H\x1b[JCount: \x1b[1m%d\x1b[m\r\n+ and - count, q quits", n)
	}
}
