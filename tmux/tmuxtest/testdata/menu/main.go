// Menu is a program to test: a menu that the arrow keys move in, and a click. Enter chooses,
// q quits.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/term"
)

func main() {
	before, err := term.MakeRaw(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "menu:", err)
		os.Exit(1)
	}
	defer term.Restore(0, before)
	fmt.Print("\x1b[?1049h\x1b[?25l\x1b[?1000;1006h")
	defer fmt.Print("\x1b[?1000;1006l\x1b[?25h\x1b[?1049l")
	items, at := []string{"New", "Open", "Quit"}, 0
	resized, input := make(chan os.Signal, 1), make(chan string)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for in := bufio.NewReader(os.Stdin); ; {
			input <- readKey(in)
		}
	}()
	for {
		width, height, _ := term.GetSize(0)
		fmt.Printf("\x1b[H\x1b[44;1m Menu%s\x1b[m\x1b[K\r\n", strings.Repeat(" ", width-5))
		for i, item := range items {
			look := "0"
			if i == at {
				look = "7"
			}
			fmt.Printf("\x1b[K  \x1b[%sm %s \x1b[m\r\n", look, item)
		}
		fmt.Printf("\x1b[J\x1b[%d;1H%dx%d", height, width, height)
		select {
		case <-resized:
		case key := <-input:
			var button, x, y int
			switch n, _ := fmt.Sscanf(key, "\x1b[<%d;%d;%dM", &button, &x, &y); {
			case n == 3 && y > 1 && y <= 1+len(items):
				at = y - 2
			case key == "\x1b[A" || key == "\x1bOA":
				at = max(at-1, 0)
			case key == "\x1b[B" || key == "\x1bOB":
				at = min(at+1, len(items)-1)
			case key == "q", key == "\r" && items[at] == "Quit":
				return
			}
		}
	}
}

// readKey reads one key: a character, or an escape sequence up to its last letter.
func readKey(in *bufio.Reader) string {
	for key := ""; ; {
		c, _, err := in.ReadRune()
		if err != nil {
			os.Exit(1) // the terminal is gone
		}
		key += string(c)
		if key[0] != '\x1b' || unicode.IsLetter(c) && key != "\x1bO" {
			return key
		}
	}
}
