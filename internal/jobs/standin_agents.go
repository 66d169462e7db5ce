package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A face is how an agent CLI looks. Step shows that another step of its work is done;
// frame is called several times a second while it works.
type face interface {
	start() (end func())
	step(text string)
	frame(status string)
	ask(command string)
	done(text string)
}

const (
	ready    = "at work"
	finished = "All changes are in place"
	stepTime = 400 * time.Millisecond
)

// work is an agent CLI: quick is soon done, asks asks in the middle, slow takes longest.
// It begins when the file begin is there. It keeps a record of the question and of every
// key that it gets.
func work(args []string, f face) int {
	kind := strings.Join(args, " ")
	before, after := map[string]int{"quick": 3, "asks": 5, "slow": 14}[kind], 0
	defer f.start()()
	keys := make(chan string)
	go func() {
		buffer := make([]byte, 1024)
		for {
			n, err := os.Stdin.Read(buffer)
			if err != nil {
				close(keys)
				return
			}
			keys <- string(buffer[:n])
		}
	}()
	stray := func(typed string) {
		if strings.Trim(typed, "\r\n") != "" {
			note("stray", kind+" "+typed+"\n")
		}
	}
	// labour works for a step.
	labour := func(status string) {
		for end := time.After(stepTime); ; {
			select {
			case typed := <-keys:
				stray(typed)
			case <-time.After(100 * time.Millisecond):
				f.frame(status)
			case <-end:
				return
			}
		}
	}
	for {
		if _, err := os.Stat("begin"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	begin := time.Now()
	for n := 0; n < before+after; n++ {
		f.step(fmt.Sprintf("edited internal/%s/file%d.go", kind, n))
		labour(fmt.Sprintf("Thinking… (%ds)", int(time.Since(begin).Seconds())))
		if kind == "asks" && after == 0 && n == before-1 {
			command := "make migrate-" + secret()
			note("question", command+"\n")
			f.ask(command)
			for after == 0 {
				typed, ok := <-keys
				if !ok {
					return 1
				}
				switch strings.TrimRight(typed, "\r\n") {
				case "y", "1":
					note("answer", "yes\n")
					after = 3
				default:
					stray(typed)
				}
			}
		}
	}
	note(kind+".done", "done\n")
	f.done(finished)
	for typed := range keys {
		stray(typed)
	}
	return 0
}

// plain prints lines.
type plain struct{}

func (plain) start() func() {
	fmt.Println(ready)
	return func() {}
}
func (plain) step(text string)   { fmt.Println("*", text) }
func (plain) frame(string)       {}
func (plain) ask(command string) { fmt.Printf("Run %s? [y/n] ", command) }
func (plain) done(text string)   { fmt.Printf("%s\n> ", text) }

// full draws the whole alternate screen anew each time.
type full struct {
	steps    []string
	question string
}

func (f *full) start() func() {
	restore := raw()
	fmt.Print("\033[?1049h")
	f.frame(ready)
	return func() {
		fmt.Print("\033[?1049l")
		restore()
	}
}

func (f *full) frame(status string) {
	var b strings.Builder
	b.WriteString("\033[2J\033[H=== agent ===\r\n\r\n")
	for _, s := range f.steps[max(0, len(f.steps)-10):] {
		b.WriteString("* " + s + "\r\n")
	}
	fmt.Fprintf(&b, "\033[20;1H%s\r\n%s\r\n> ", f.question, status)
	fmt.Print(b.String())
}

func (f *full) step(text string) {
	f.steps, f.question = append(f.steps, text), ""
	f.frame("working")
}

func (f *full) ask(command string) {
	f.question = "Run " + command + "? [y/n]"
	f.frame("waiting for an answer")
}

func (f *full) done(text string) {
	f.question = ""
	f.frame(text)
}

// box prints its steps above a box that is redrawn in place, and looks like Claude Code.
type box struct {
	up     int // rows from the top of what is redrawn to the cursor
	status string
}

const rule = "────────────────────────────────────────"

func (b *box) start() func() {
	restore := raw()
	b.frame(ready)
	return restore
}

// redraw replaces what is drawn with rows that scroll away and rows that stay; the
// cursor goes to a row of these.
func (b *box) redraw(scroll, stay []string, row, column int) {
	var out strings.Builder
	out.WriteString("\r")
	if b.up > 0 {
		fmt.Fprintf(&out, "\033[%dA", b.up)
	}
	out.WriteString("\033[J" + strings.Join(append(scroll, stay...), "\r\n"))
	if last := len(stay) - 1; row < last {
		fmt.Fprintf(&out, "\033[%dA", last-row)
	}
	fmt.Fprintf(&out, "\033[%dG", column)
	b.up = row
	fmt.Print(out.String())
}

func (b *box) frame(status string) {
	b.status = status
	b.redraw(nil, b.working(), 3, 3)
}

func (b *box) working() []string {
	return []string{"✻ " + b.status, "", rule, "❯ ", rule, "  esc to interrupt"}
}

func (b *box) step(text string) { b.redraw([]string{"● " + text}, b.working(), 3, 3) }

func (b *box) ask(command string) {
	b.redraw(nil, []string{rule, " Bash command", "", "   " + command, "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"}, 9, 15)
}

func (b *box) done(text string) {
	b.redraw([]string{"● " + text, ""}, []string{rule, "❯ ", rule, "  ? for shortcuts"}, 1, 3)
}
