package paneprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Kinds are the kinds of [Realistic] output.
var Kinds = []string{"plain", "sgr", "progress", "tabs", "wide", "apt", "spinner", "git", "npm", "cargo", "pytest", "clear", "prompt", "pager", "top", "wget", "docker"}

// Realistic returns steps that write what programs of a kind do, in a pane of that size.
func Realistic(r *rand.Rand, kind string, columns, rows int) []Step {
	g := gen{Rand: r, columns: columns, rows: rows}
	var steps []Step
	out := func(n int, format string, args ...any) {
		steps = append(steps, Step{Op: "out", A: n, Text: fmt.Sprintf(format, args...)})
	}
	bar := max(1, min(columns-20, 40))
	done := r.IntN(bar + 1)
	switch kind {
	case "plain":
		out(1+r.IntN(3*rows), "{w}\r\n")
		out(1+r.IntN(4), "{w} {lorem ipsum *%d}\r\n", 1+r.IntN(20))
	case "sgr":
		for range 1 + r.IntN(6) {
			out(1, "%s{w}\x1b[0m  %s{w}\x1b[0m\r\n", g.sgr(), g.sgr())
		}
		out(1+r.IntN(5), "\x1b[0m\x1b[01;34m{w}\x1b[0m\r\n")
	case "progress":
		for i := range 1 + r.IntN(6) {
			out(1, "\r%3d%% [{#*%d}{.*%d}] {w}", i*10, done+1, bar-done+1)
		}
		out(1, "%s\r\n", pick(r, "", " done {w}"))
	case "tabs":
		out(1+r.IntN(5), "{w}\t{w}\tx\r\n")
		out(1, "\t\t{w}\r\n")
	case "wide":
		out(1+r.IntN(4), "{w}{日本*%d}\r\n", 1+r.IntN(columns))
		out(1, "{w} 😀 e\u0301 {w}\r\n")
	case "apt":
		out(1+r.IntN(5), "Get:1 http://deb {w}\r\n")
		out(1, "\r\n\x1b7\x1b[0;%dr\x1b8\x1b[1A", max(1, rows-1))
		for range 1 + r.IntN(4) {
			out(1, "\x1b7\x1b[%d;0f\x1b[42m\x1b[30mProgress: [%3d%%]\x1b[49m\x1b[39m [{#*%d}{.*%d}] \x1b8", rows, r.IntN(101), done+1, bar-done+1)
			out(1+r.IntN(rows), "Setting up {w} ...\r\n")
		}
		out(1, "\r\n\x1b7\x1b[0;%dr\x1b8\x1b[1A\x1b[J", rows)
	case "spinner":
		for _, c := range "⠋⠙⠹⠸"[:3*(1+r.IntN(4))] {
			out(1, "%s%c building {w}", pick(r, "\r", "\r\x1b[K", "\x1b[2K\x1b[1G"), c)
		}
		out(1, "\r\x1b[K✔ built {w}\r\n")
	case "git":
		for i := range 3 {
			out(1, "remote: Counting {w}: %3d%% (%d/3)   \x1b[K\r", i*33, i)
		}
		out(1, "remote: Counting {w}: 100%% (3/3), done.\x1b[K\r\nReceiving {w}: 50%%\rReceiving {w}: 100%%, done.\r\n")
	case "npm":
		out(1, "\x1b[?25l⸨{░*%d}⸩ {w}\x1b[0K\r", bar)
		out(2, "\x1b[2K\x1b[0G⸨{#*%d}⸩ {w}\x1b[0K\r", bar)
		out(1, "\x1b[2K\x1b[0G\x1b[?25h\r\nadded {w}\r\n")
	case "cargo":
		out(1+r.IntN(rows), "\x1b[K\x1b[0m\x1b[0m\x1b[1m\x1b[32m   Compiling\x1b[0m {w}\r\n    \x1b[36mBuilding\x1b[0m [={>*%d}] {w}\r", bar)
		out(1, "\x1b[K\x1b[32mFinished\x1b[0m {w}\r\n")
	case "pytest":
		out(1, "\x1b[1m{=*%d} {w}\x1b[0m\r\n", max(1, columns-8))
		out(1, "tests/test_a.py {\x1b[32m.\x1b[0m*%d}\x1b[32m [100%%]\x1b[0m\r\n", 1+r.IntN(60))
		out(1, "\x1b[32m{=*%d} {w}\x1b[0m\r\n", 1+r.IntN(20))
	case "clear":
		out(1+r.IntN(rows), "{w}\r\n")
		out(1, "%s", pick(r, "\x1b[H\x1b[2J\x1b[3J", "\x1b[H\x1b[J", "\x1b[H\x1b[2J", "\x1bc"))
		out(1+r.IntN(4), "{w}\r\n")
	case "prompt":
		for range 1 + r.IntN(3) {
			out(1, "\x1b[?2004h\x1b]0;user@host\x07\x1b[01;32muser@host\x1b[00m:\x1b[01;34m~\x1b[00m$ {w}\r\n\x1b[?2004l\r{w}\r\n")
		}
	case "pager":
		out(1, "\x1b[?1049h\x1b[22;0;0t\x1b[?1h\x1b=\r")
		out(1, "%s", g.fullScreen())
		for range r.IntN(4) {
			out(1+r.IntN(3), "%s", pick(r, "\r\x1b[K{w}\r\n:\x1b[K", "\x1b[H\x1bM{w}\x1b[m\r\n\x1b["+fmt.Sprint(rows)+";1H:"))
		}
		out(1, "\r\x1b[K\x1b[?1l\x1b>\x1b[?1049l\x1b[23;0;0t")
	case "top":
		for range 1 + r.IntN(3) {
			var b strings.Builder
			b.WriteString("\x1b[H\x1b[?25l")
			for range min(rows-1, 20) {
				fmt.Fprintf(&b, "{w} {0 *%d}\x1b[m\x1b[39;49m\x1b[K\r\n", max(1, r.IntN(max(1, columns/2))))
			}
			b.WriteString("\x1b[J\x1b[?25h")
			out(1, "%s", b.String())
		}
	case "wget":
		for i := range 1 + r.IntN(5) {
			out(1, "\rfile.tar.gz {w} %2d%%[%s>%s]  1.%dM  1MB/s    ", i*20, strings.Repeat("=", i), strings.Repeat(" ", 5-min(5, i)), i)
		}
		out(1, "\r\n\r\n{w} saved\r\n")
	case "docker":
		n := 1 + r.IntN(min(rows, 5))
		out(n, "{w}: Pulling\r\n")
		for range 1 + r.IntN(4) {
			up := 1 + r.IntN(n)
			out(1, "\x1b[%dA\x1b[2K\r{w}: Downloading [{=*%d}>]\r\x1b[%dB", up, 1+r.IntN(20), up)
		}
	}
	return steps
}
