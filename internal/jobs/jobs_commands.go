package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Jobs that run commands and read what they print.

func shortCommand(s *stage) (func(*agent), func()) {
	code := secret()
	s.write("code", code)
	pane := s.session("work")
	var status, cause string
	play := func(a *agent) {
		text := a.call("run_command", args{"pane_id": pane, "command": "probe"})
		status, cause = find(text, `exit (\d+)`), find(text, `^network: .*code (\w+)$`)
	}
	return play, func() {
		want("status", status, "3")
		want("cause", cause, code)
		want("runs", s.read("probe.runs"), "run\n")
		s.await(pane, "code "+code)
		s.prompts(pane)
	}
}

const (
	suiteCases    = 4999
	suiteFailures = 7
)

// suite writes the output of a test suite, and returns its lines and which failed.
func (s *stage) suite() (log []string, failed []int) {
	for i := range suiteCases {
		log = append(log, fmt.Sprintf("ok   case %04d in %d us", i, rand.IntN(1000)))
	}
	for i := range suiteFailures {
		at := 20 + i*700 + rand.IntN(600)
		failed = append(failed, at)
		log[at] = fmt.Sprintf("FAIL case %04d: want %d, got %d", at, rand.IntN(100), 100+rand.IntN(100))
	}
	log = append(log, fmt.Sprintf("%d cases, %d failed, seed %s", suiteCases, suiteFailures, secret()))
	s.write("suite.log", strings.Join(log, "\n")+"\n")
	return log, failed
}

// numbered takes the numbers of lines off that match returns: "17:text", or "17-text"
// for a line around a match.
func numbered(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		number := strings.TrimLeft(line, "0123456789")
		if number != line && number != "" && strings.ContainsAny(number[:1], ":-") {
			lines = append(lines, number[1:])
		}
	}
	return lines
}

func failingLines(s *stage) (func(*agent), func()) {
	log, failed := s.suite()
	pane := s.session("work")
	var status, summary string
	var failures []string
	play := func(a *agent) {
		// How the suite reports failures is not known, so first its end.
		text := a.call("run_command", args{"pane_id": pane, "command": "suite", "max_lines": 10})
		status, summary = find(text, `exit (\d+)`), find(text, `^\d+ cases, .*$`)
		job := find(text, `get_job (\S+) with match`)
		failures = numbered(a.call("get_job", args{"job_id": job, "match": "FAIL"}))
	}
	return play, func() {
		want("status", status, "1")
		want("summary", summary, log[len(log)-1])
		var truth []string
		for _, at := range append(failed, suiteCases) { // the summary matches too
			truth = append(truth, log[at])
		}
		wantLines("failures", failures, truth)
		want("runs", s.read("suite.runs"), "run\n")
		s.prompts(pane)
	}
}

func failingContext(s *stage) (func(*agent), func()) {
	log, failed := s.suite()
	pane := s.session("work")
	var status string
	var failures []string
	play := func(a *agent) {
		text := a.call("run_command", args{"pane_id": pane, "command": "suite", "match": `^FAIL|\d failed`, "regex": true, "context": 3})
		status, failures = find(text, `exit (\d+)`), numbered(text)
	}
	return play, func() {
		want("status", status, "1")
		var truth []string
		for _, at := range append(failed, suiteCases) {
			truth = append(truth, log[at-3:min(at+4, len(log))]...)
		}
		wantLines("failures", failures, truth)
		want("runs", s.read("suite.runs"), "run\n")
		s.prompts(pane)
	}
}

func devServer(s *stage) (func(*agent), func()) {
	server := s.session("work")
	var body, status string
	var caused []string
	play := func(a *agent) {
		text := a.call("send_keys", args{"pane_id": server, "keys": "serve", "patterns": []string{"ready on", "listening"}, "stop": []string{"error"}, "timeout": 30})
		url, cursor := find(text, `(http://\S+)`), find(text, `cursor (\S+?)[\],]`)
		client := find(a.call("split_window", args{"pane_id": server}), `^\[(%\d+) `)
		body = find(a.call("run_command", args{"pane_id": client, "command": "fetch " + url + "/orders/17"}), `^order (\w+)$`)
		caused = lines(a.call("capture_since", args{"cursor": cursor}))
		// What is typed ahead is read by the shell, once it is back.
		text = a.call("send_keys_batch", args{
			"operations": []args{{"pane_id": server, "keys": "C-c", "enter": false}, {"pane_id": server, "keys": "echo status=$?"}},
			"patterns":   []string{`status=\d`}, "regex": true,
		})
		status = find(text, `status=(\d+)$`)
	}
	return play, func() {
		want("answer", body, strings.TrimSpace(s.read("order")))
		wantLines("lines of the request", caused, strings.Split(strings.TrimSpace(s.read("requests")), "\n"))
		want("status", status, "5")
		want("note of the server's end", s.read("stopped"), "interrupt\n")
		s.prompts(server)
	}
}

func progressBar(s *stage) (func(*agent), func()) {
	code := secret()
	s.write("code", code)
	s.write("notes", strings.Repeat("a line\n", 417))
	long := s.session("work")
	var count, status, receipt string
	play := func(a *agent) {
		job := find(a.call("run_command", args{"pane_id": long, "command": "upload", "detach": true}), `job (\S+?)[\],]`)
		other := find(a.call("split_window", args{"pane_id": long}), `^\[(%\d+) `)
		count = find(a.call("run_command", args{"pane_id": other, "command": "wc -l <notes | tee counted"}), `^ *(\d+)$`)
		text := a.call("get_job", args{"job_id": job, "timeout": 60, "max_lines": 3})
		status, receipt = find(text, `exit (\d+)`), find(text, `^receipt (\w+)$`)
	}
	return play, func() {
		want("lines counted", count, "417")
		if !s.changed("counted").Before(s.changed("upload.ended")) {
			failf("outcome: the lines were not counted during the upload")
		}
		want("status", status, "4")
		want("receipt", receipt, code)
		want("runs", s.read("upload.runs"), "run\n")
		s.prompts(long)
	}
}
