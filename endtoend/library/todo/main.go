// Todo is a small to-do list for the terminal.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
)

type item struct {
	text string
	done bool
}

type model struct {
	items  []item
	cursor int
	adding bool
	field  []rune
	w, h   int
}

// update handles one key, and reports the exit status if the program ends, else -1.
func (m *model) update(key string) int {
	switch {
	case key == "\x03":
		return 130
	case m.adding && key == "\r":
		if s := strings.TrimSpace(string(m.field)); s != "" {
			m.items = append(m.items, item{text: s})
			m.cursor = len(m.items) - 1
		}
		m.adding, m.field = false, nil
	case m.adding && key == "esc":
		m.adding, m.field = false, nil
	case m.adding && key == "\x7f":
		m.field = m.field[:max(0, len(m.field)-1)]
	case m.adding && len([]rune(key)) == 1 && key >= " ":
		m.field = append(m.field, []rune(key)...)
	case m.adding:
	case key == "a":
		m.adding = true
	case key == "up":
		m.cursor = max(0, m.cursor-1)
	case key == "down":
		m.cursor = max(0, min(len(m.items)-1, m.cursor+1))
	case key == " " && len(m.items) > 0:
		m.items[m.cursor].done = !m.items[m.cursor].done
	case key == "q":
		for _, it := range m.items {
			if !it.done {
				return 1
			}
		}
		return 0
	}
	return -1
}

func (m *model) view() string {
	var b strings.Builder
	b.WriteString("\x1b[?25l\x1b[H\x1b[2J\x1b[1;35mTo do\x1b[0m\r\n")
	rows := m.h - 3
	first := max(0, m.cursor-rows+1)
	for i := first; i < len(m.items) && i < first+rows; i++ {
		it, mark, sgr := m.items[i], " ", ""
		if it.done {
			mark, sgr = "x", "\x1b[9;32m"
		}
		point := "  "
		if i == m.cursor {
			point = "\x1b[1;33m> \x1b[0m"
		}
		text := []rune(it.text)
		if n := m.w - 6; len(text) > n {
			text = append(text[:max(0, n-1):max(0, n-1)], '…')
		}
		fmt.Fprintf(&b, "%s[%s] %s%s\x1b[0m\r\n", point, mark, sgr, string(text))
	}
	help := "a add  space toggle  q quit"
	fmt.Fprintf(&b, "\x1b[%d;1H\x1b[37;44m%-*.*s\x1b[0m", m.h, m.w, m.w, fmt.Sprintf("%s  %dx%d", help, m.w, m.h))
	if m.adding {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[36mNew:\x1b[0m %s\x1b[?25h", m.h-1, string(m.field))
	}
	return b.String()
}

// keys sends what stdin says, one key at a time.
func keys(c chan<- string) {
	in := bufio.NewReader(os.Stdin)
	for {
		r, _, err := in.ReadRune()
		if err != nil {
			close(c)
			return
		}
		if r != '\x1b' {
			c <- string(r)
			continue
		}
		if in.Buffered() < 2 {
			c <- "esc"
			continue
		}
		in.ReadRune()
		switch r, _, _ = in.ReadRune(); r {
		case 'A':
			c <- "up"
		case 'B':
			c <- "down"
		}
	}
}

func run() (int, error) {
	fd := int(os.Stdin.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return 2, err
	}
	fmt.Print("\x1b[?1049h")
	defer func() {
		fmt.Print("\x1b[?25h\x1b[?1049l")
		term.Restore(fd, old)
	}()
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	input := make(chan string)
	go keys(input)
	m := &model{}
	for {
		if m.w, m.h, err = term.GetSize(fd); err != nil {
			return 2, err
		}
		fmt.Print(m.view())
		select {
		case key, ok := <-input:
			if !ok {
				return 2, fmt.Errorf("end of input")
			}
			if status := m.update(key); status >= 0 {
				return status, nil
			}
		case <-winch:
		}
	}
}

func main() {
	status, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "todo:", err)
	} else {
		fmt.Println("bye")
	}
	os.Exit(status)
}
