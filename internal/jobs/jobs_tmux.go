package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Jobs about panes, windows and sessions.

func findError(s *stage) (func(*agent), func()) {
	const windows, panes, bad = 10, 4, 27
	var truth []string
	for n := range windows * panes {
		var log []string
		for i := range 13 {
			log = append(log, fmt.Sprintf("worker %d: step %d ok %s", n, i, secret()))
		}
		switch n {
		case bad:
			log[6] = "worker 27: ERROR: lost its lease"
			truth = log[1:12]
		case 3, 31: // not what is looked for
			log[6] = fmt.Sprintf("worker %d: 0 errors so far", n)
		}
		s.write(fmt.Sprint("log", n), strings.Join(log, "\n")+"\n")
	}
	var ids []string
	for w := range windows {
		for p := range panes {
			command := []string{"cat log" + strconv.Itoa(panes*w+p) + "; exec sleep 1000"}
			switch {
			case p > 0:
				ids = append(ids, s.split(ids[panes*w], command...))
			case w == 0:
				ids = append(ids, s.session("fleet", command...))
			default:
				ids = append(ids, s.window("fleet", command...))
			}
		}
	}
	for n, id := range ids {
		s.await(id, fmt.Sprintf("worker %d: step 12", n))
	}
	var pane string
	var found []string
	play := func(a *agent) {
		// Lines around it may have left the screen.
		text := a.call("search_panes", args{"pattern": `\b(error|panic|fatal)\b`, "regex": true, "context": 5, "content_start": -200})
		pane = find(text, `^(%\d+) `)
		for _, line := range lines(text)[1:] {
			found = append(found, find(line, `^-?\d+[:-](.*)$`))
		}
	}
	return play, func() {
		want("pane", pane, ids[bad])
		wantLines("lines around the error", found, truth)
		if !strings.Contains(s.run("capture-pane", "-p", "-S-", "-t", pane), "lost its lease") {
			failf("outcome: pane %s has no error", pane)
		}
	}
}

func workspace(s *stage) (func(*agent), func()) {
	s.write("app.log", "first line\n")
	s.session("mine")
	play := func(a *agent) {
		a.call("build_workspace", args{"session_name": "shop", "directory": s.work, "x": 160, "y": 48, "windows": []args{
			{"name": "code", "layout": "main-vertical", "main_size": 100, "panes": []args{
				{"title": "editor", "command": "echo $TMUX_PANE >editor"}, {"title": "tests", "command": "echo $TMUX_PANE >tests"},
			}},
			{"name": "logs", "layout": "even-vertical", "panes": []args{{"title": "app", "command": "tail -f app.log"}, {"title": "home", "directory": "/"}}},
			{"name": "shell", "focus": true},
		}})
	}
	return play, func() {
		if s.command(s.ctx, "has-session", "-t", "=shop").Run() != nil {
			failf("outcome: there is no session shop")
		}
		rows := strings.Split(s.run("list-panes", "-s", "-t", "=shop:", "-F",
			"#{window_name} #{pane_title} #{pane_current_path} #{pane_width} #{window_active}"), "\n")
		want("panes", len(rows), 5)
		for i, row := range []string{
			"code editor " + s.work + " 100 0", "code tests " + s.work + " 59 0",
			"logs app " + s.work + " 160 0", "logs home / 160 0",
		} {
			want("pane", rows[i], row)
		}
		if last := rows[4]; !strings.HasPrefix(last, "shell ") || !strings.HasSuffix(last, " "+s.work+" 160 1") {
			failf("outcome: the last window is %q", last)
		}
		ids := strings.Split(s.run("list-panes", "-s", "-t", "=shop:", "-F", "#{pane_id}"), "\n")
		s.until("the commands have run", func() bool {
			return s.read("editor") == ids[0]+"\n" && s.read("tests") == ids[1]+"\n"
		})
		s.runs(ids[2], "tail")
		s.halves(ids[2], ids[3], 48)
		s.await(ids[2], "first line")
	}
}

func recoverPanes(s *stage) (func(*agent), func()) {
	hanging := s.session("work")
	dead := s.window("work")
	scrolled := s.window("work")
	s.run("set-option", "-g", "remain-on-exit", "on")
	s.run("send-keys", "-t", hanging, "stuck", "Enter")
	s.await(hanging, "waiting for a lock")
	s.run("send-keys", "-t", dead, "exit 9", "Enter")
	s.until("a dead pane", func() bool { return s.of(dead, "#{pane_dead}") == "1" })
	s.run("copy-mode", "-t", scrolled)
	ids := []string{hanging, dead, scrolled}
	var shells []string
	for _, id := range ids {
		shells = append(shells, s.of(id, "#{pane_pid}"))
	}
	play := func(a *agent) {
		text := a.call("list_panes", args{"session_name": "work"})
		gone, mode := find(text, `^(%\d+)\t.*\bdead\b`), find(text, `^(%\d+)\t.*\bin-mode\b`)
		rest := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == gone || id == mode })
		a.call("call_mutating_tools_batch", args{"operations": []args{
			{"tool": "respawn_pane", "arguments": args{"pane_id": gone}},
			{"tool": "exit_copy_mode", "arguments": args{"pane_id": mode}},
			{"tool": "send_keys", "arguments": args{"pane_id": rest[0], "keys": "C-c", "enter": false}},
		}})
		var echo []args
		for _, id := range ids {
			echo = append(echo, args{"pane_id": id, "keys": "echo alive $TMUX_PANE | tee -a alive"})
		}
		text = a.call("send_keys_batch", args{"operations": echo, "patterns": []string{`^alive %\d`}, "regex": true, "timeout": 3})
		for _, id := range []string{gone, mode} {
			find(text, `^alive `+id+`$`)
		}
		if strings.Contains(text, "alive "+rest[0]) {
			failf("the agent reads that pane %s is alive in:\n%s", rest[0], text)
		}
		a.call("respawn_pane", args{"pane_id": rest[0]})
		find(a.call("run_command", args{"pane_id": rest[0], "command": "echo alive $TMUX_PANE | tee -a alive"}), `^alive `+rest[0]+`$`)
	}
	return play, func() {
		alive := strings.Split(strings.TrimSpace(s.read("alive")), "\n")
		slices.Sort(alive)
		wantLines("panes that ran a command", alive, []string{"alive " + ids[0], "alive " + ids[1], "alive " + ids[2]})
		for i, id := range ids {
			s.prompts(id)
			want("mode of pane "+id, s.of(id, "#{pane_in_mode}"), "0")
			want("pane "+id+" has its old shell", s.of(id, "#{pane_pid}") == shells[i], id == scrolled)
		}
	}
}

func moveWindow(s *stage) (func(*agent), func()) {
	s.session("dev")
	first := s.window("dev", "exec sleep 1000")
	s.run("rename-window", "-t", first, "workers")
	ids := []string{first, s.split(first, "exec sleep 1001"), s.split(first, "exec sleep 1002")}
	s.session("ops")
	window := s.of(first, "#{window_id}")
	const processes = "#{pane_id} #{pane_pid}"
	before := s.run("list-panes", "-t", window, "-F", processes)
	play := func(a *agent) {
		text := a.call("list_windows", args{"session_name": "dev"})
		id := find(text, `^(@\d+)\t.*\bworkers\b`)
		text = a.call("call_mutating_tools_batch", args{"operations": []args{
			{"tool": "move_window", "arguments": args{"window_id": id, "destination_session": "ops"}},
			{"tool": "resize_window", "arguments": args{"window_id": id, "width": 160, "height": 48}},
			{"tool": "select_layout", "arguments": args{"window_id": id, "layout": "main-vertical", "main_size": 100}},
		}})
		find(text, `3 of 3 succeeded`)
	}
	return play, func() {
		want("processes", s.run("list-panes", "-t", window, "-F", processes), before)
		want("session", s.of(ids[0], "#{session_name}"), "ops")
		want("windows left behind", s.run("list-windows", "-t", "=dev:", "-F", "#{window_panes}"), "1")
		want("size of the main pane", s.of(ids[0], "#{pane_width}x#{pane_height}"), "100x48")
		s.halves(ids[2], ids[1], 48) // the second split came between
	}
}

// halves checks that two panes stand one above the other and share so many rows.
func (s *stage) halves(upper, lower string, rows int) {
	const size = "#{pane_left} #{pane_top} #{pane_height}"
	var left, top, height [2]int
	for i, id := range []string{upper, lower} {
		_, err := fmt.Sscan(s.of(id, size), &left[i], &top[i], &height[i])
		must(err)
	}
	want("left edges of panes "+upper+" and "+lower, left[0], left[1])
	want("top of pane "+lower, top[1], height[0]+1)
	want("rows of both and the border", height[0]+height[1]+1, rows)
	// Versions of tmux round differently.
	if d := height[0] - height[1]; d < -1 || d > 1 {
		failf("outcome: panes %s and %s have %v rows", upper, lower, height)
	}
}
