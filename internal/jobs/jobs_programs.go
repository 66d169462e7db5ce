package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Jobs that drive programs.

func repl(s *stage) (func(*agent), func()) {
	seed := 1000 + rand.IntN(9000)
	s.write("seed", strconv.Itoa(seed)+"\n")
	pane := s.session("work")
	// A prompt alone in its line: the one before an echoed input is not.
	prompt := []string{`^>>>\s*$`}
	var product, raised string
	play := func(a *agent) {
		a.call("send_keys", args{"pane_id": pane, "keys": "repl", "patterns": prompt, "regex": true})
		text := a.call("send_keys", args{"pane_id": pane, "keys": "read -r seed <seed; echo seed=$seed", "patterns": prompt, "regex": true})
		function := "scale() {\n  echo product=$(($1 * " + find(text, `^seed=(\d+)$`) + "))\n}\nscale 3\n"
		// Prompts stand between the lines, so the result is what to wait for.
		text = a.call("paste_text", args{"pane_id": pane, "text": function, "bracket": false, "patterns": []string{`product=\d`}, "stop": []string{"error"}, "regex": true})
		product = find(text, `product=(\d+)$`)
		text = a.call("send_keys", args{"pane_id": pane, "keys": `scale "${factor:?was never set}"`, "patterns": prompt, "regex": true})
		raised = find(text, `^.*was never set$`)
	}
	return play, func() {
		want("product", product, strconv.Itoa(3*seed))
		if !strings.Contains(raised, "factor") {
			failf("outcome: the error is %q", raised)
		}
		// The REPL lives, and has the function.
		s.run("send-keys", "-t", pane, "scale 5", "Enter")
		s.await(pane, fmt.Sprintf("product=%d", 5*seed))
	}
}

func editInVim(s *stage) (func(*agent), func()) {
	var text strings.Builder
	for i := range 14 {
		fmt.Fprintf(&text, "option%d = %d\n", i, 100+i)
	}
	s.write("app.conf", text.String()+"timeout = 30\nretries = 3\n")
	pane := s.session("work")
	play := func(a *agent) {
		text := a.call("send_keys", args{"pane_id": pane, "keys": "vim app.conf", "quiet": 0.5, "show": "screen"})
		a.see(text, pane, `^timeout = 30$`)
		text = a.call("send_keys_batch", args{"operations": []args{
			{"pane_id": pane, "keys": "/^timeout"}, {"pane_id": pane, "keys": "A0", "enter": false}, {"pane_id": pane, "keys": "Escape", "enter": false},
		}, "show": "new"})
		a.see(text, pane, `^timeout = 300$`)
		text = a.call("send_keys", args{"pane_id": pane, "keys": ":wq", "show": "new"})
		a.see(text, pane, `^\$$`)
	}
	return play, func() {
		want("file", s.read("app.conf"), text.String()+"timeout = 300\nretries = 3\n")
		s.prompts(pane)
	}
}

func lookUpInLess(s *stage) (func(*agent), func()) {
	var log []string
	for i := range 900 {
		log = append(log, fmt.Sprintf("order %d taken", 4000+i), "  carrier "+secret())
	}
	s.write("orders.log", strings.Join(log, "\n")+"\n")
	pane := s.session("work")
	var carrier string
	play := func(a *agent) {
		text := a.call("send_keys", args{"pane_id": pane, "keys": "less orders.log", "quiet": 0.5, "show": "screen"})
		a.see(text, pane, `^orders\.log`)
		text = a.call("send_keys", args{"pane_id": pane, "keys": "/order 4711", "show": "new"})
		_, carrier = a.see(text, pane, `^order 4711 taken\n  carrier (\w+)$`)
		a.call("send_keys", args{"pane_id": pane, "keys": "q", "enter": false, "show": "new"})
	}
	return play, func() {
		i := slices.Index(log, "order 4711 taken")
		want("carrier", "  carrier "+carrier, log[i+1])
		s.prompts(pane)
	}
}

func chooseFromMenu(s *stage) (func(*agent), func()) {
	items := []string{"Build", "Run the tests", "Deploy to staging", "Deploy to production", "Show the logs", "Roll back", "Clean", "Quit"}
	rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	const wanted = "Deploy to staging"
	if items[0] == wanted { // there is something to do
		items[0], items[5] = items[5], items[0]
	}
	s.write("items", strings.Join(items, "\n")+"\n")
	pane := s.session("work")
	var receipt string
	play := func(a *agent) {
		text := a.call("send_keys", args{"pane_id": pane, "keys": "menu", "patterns": []string{"Enter selects"}, "show": "screen"})
		text, _ = a.see(text, pane, wanted+"$")
		var at, to int
		for i, line := range lines(text) {
			if strings.HasPrefix(line, "> ") {
				at = i
			}
			if strings.HasSuffix(line, wanted) {
				to = i
			}
		}
		var downs []args
		for range to - at {
			downs = append(downs, args{"pane_id": pane, "keys": "Down", "enter": false})
		}
		text = a.call("send_keys_batch", args{"operations": downs, "show": "new"})
		a.see(text, pane, "^> "+wanted+"$")
		text = a.call("send_keys", args{"pane_id": pane, "keys": "Enter", "enter": false, "show": "new"})
		_, receipt = a.see(text, pane, `^started as (\w+)$`)
	}
	return play, func() {
		want("choice", s.read("chosen"), wanted+"\n")
		want("receipt", receipt, strings.TrimSpace(s.read("receipt")))
		s.prompts(pane)
	}
}

func answerQuestions(s *stage) (func(*agent), func()) {
	code, pass := secret(), "pass "+secret()
	s.write("code", code)
	pane := s.session("work")
	var installed string
	play := func(a *agent) {
		a.call("send_keys", args{"pane_id": pane, "keys": "install", "patterns": []string{"[y/N]"}})
		a.call("send_keys", args{"pane_id": pane, "keys": "y", "patterns": []string{"Passphrase:"}})
		text := a.call("send_keys", args{"pane_id": pane, "keys": pass, "patterns": []string{"installed"}, "stop": []string{"wrong"}})
		installed = find(text, `^installed as (\w+)$`)
	}
	return play, func() {
		want("installed", installed, code)
		want("answer", s.read("answer"), "y\n")
		want("secret", s.read("secret"), pass+"\n")
		want("typed before it asked", s.read("early"), "")
		if strings.Contains(s.run("capture-pane", "-p", "-S-", "-t", pane), pass) {
			failf("outcome: the secret is on the screen")
		}
		s.prompts(pane)
	}
}

func goOnWhenQuiet(s *stage) (func(*agent), func()) {
	code := secret()
	s.write("code", code)
	pane := s.session("work")
	var result string
	play := func(a *agent) {
		text := a.call("send_keys", args{"pane_id": pane, "keys": "warmup", "quiet": 2, "timeout": 60})
		find(text, `quiet`)
		text = a.call("send_keys", args{"pane_id": pane, "keys": "go on", "patterns": []string{"result:"}})
		result = find(text, `^result: (\w+)$`)
	}
	return play, func() {
		want("result", result, code)
		want("line", s.read("line"), "go on\n")
		silent, err := strconv.Atoi(strings.TrimSpace(s.read("silent")))
		must(err)
		answered, err := strconv.Atoi(strings.TrimSpace(s.read("answered")))
		must(err)
		// Both are whole seconds.
		if d := answered - silent; d < 1 || d > 6+int(s.think.Seconds()) {
			failf("outcome: answered %d s after its last line", d)
		}
		s.prompts(pane)
	}
}

func readWatcher(s *stage) (func(*agent), func()) {
	code := "case_" + secret()
	s.write("input", "1\n")
	s.write("result.1", "Tests: 12 passed\n")
	s.write("result.2", "FAIL "+code+"\nTests: 1 failed, 11 passed\n")
	watcher := s.session("work", "exec watcher")
	s.await(watcher, "watching for changes")
	shell := s.window("work")
	var failed string
	play := func(a *agent) {
		text := a.call("capture_since", args{"pane_id": watcher})
		find(text, `^Tests: 12 passed$`)
		a.call("run_command", args{"pane_id": shell, "command": "echo 2 >input"})
		text = a.call("wait_for_text", args{"since": find(text, `cursor (\S+?)[\],]`), "patterns": []string{"Tests:"}, "timeout": 20})
		failed = find(text, `^FAIL (\w+)$`)
	}
	return play, func() {
		want("input", s.read("input"), "2\n")
		want("failed case", failed, code)
		s.await(watcher, code)
	}
}
