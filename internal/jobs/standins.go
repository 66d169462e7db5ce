package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/term"
)

// standIns are the programs that panes run and that are more than a shell script. This
// program is each of them if it is called by its name, with its arguments. They read
// and write files in their working directory.
var standIns = map[string]func(args []string) int{
	"serve":       serve,
	"fetch":       fetch,
	"menu":        menu,
	"lines-agent": func(args []string) int { return work(args, &plain{}) },
	"full-agent":  func(args []string) int { return work(args, &full{}) },
	"claude":      func(args []string) int { return work(args, &box{}) },
}

// note appends to a file.
func note(name, text string) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve is a development server.
func serve([]string) int {
	fmt.Println("loading the configuration")
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	time.Sleep(1200 * time.Millisecond)
	order := secret()
	note("order", order+"\n")
	handle := func(w http.ResponseWriter, r *http.Request) {
		lines := fmt.Sprintf("%s %s\n  query %s in %d us\n", r.Method, r.URL.Path, secret(), rand.IntN(1000))
		fmt.Print(lines)
		note("requests", lines)
		fmt.Fprintf(w, "order %s\n", order)
	}
	go func() {
		<-interrupts
		time.Sleep(300 * time.Millisecond)
		note("stopped", "interrupt\n")
		l.Close()
	}()
	fmt.Printf("ready on http://%s\n", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(handle))
	fmt.Println("bye")
	return 5
}

// fetch prints what is at an address.
func fetch(args []string) int {
	res, err := http.Get(strings.Join(args, " "))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		return 1
	}
	return 0
}

// raw makes the terminal raw until restore is called.
func raw() (restore func()) {
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		log.Fatal(err)
	}
	return func() { term.Restore(int(os.Stdin.Fd()), state) }
}

// menu is a full-screen menu of the lines of the file items.
func menu([]string) int {
	text, err := os.ReadFile("items")
	if err != nil {
		log.Fatal(err)
	}
	items := strings.Split(strings.TrimSpace(string(text)), "\n")
	restore := raw()
	fmt.Print("\033[?1049h\033[?25l")
	at := 0
	keys := make([]byte, 64)
	for chosen := false; !chosen; {
		fmt.Print("\033[2J\033[H What is to be done?\r\n\r\n")
		for i, item := range items {
			mark := "  "
			if i == at {
				mark = "> "
			}
			fmt.Print(mark, item, "\r\n")
		}
		fmt.Print("\r\n Enter selects, arrows move")
		n, err := os.Stdin.Read(keys)
		if err != nil {
			log.Fatal(err)
		}
		typed := strings.ReplaceAll(string(keys[:n]), "\033O", "\033[")
		at = min(at+strings.Count(typed, "\033[B"), len(items)-1)
		at = max(at-strings.Count(typed, "\033[A"), 0)
		chosen = strings.Contains(typed, "\r")
	}
	fmt.Print("\033[?25h\033[?1049l")
	restore()
	receipt := secret()
	note("chosen", items[at]+"\n")
	note("receipt", receipt+"\n")
	fmt.Printf("%s\nstarted as %s\n", items[at], receipt)
	return 0
}
