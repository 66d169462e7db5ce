package commands

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// A parsed command line is what the words after a launcher say, up to what it starts.
type parsed struct {
	way    way
	from   starter  // with the directory that the flags change to
	file   string   // to run
	module string   // to run
	pkgs   []string // one of which has the program
	withs  []string // packages beside the project's
	text   string   // for a shell
	split  string   // more words for the launcher
	with   string   // the command for the rest
	inline bool     // the program itself is in the command line
	ended  bool     // the flags ended with -- or the like
	rest   []string // what comes after the flags
}

// parse parses the words after a launcher.
func (l launcher) parse(from starter, args []string) parsed {
	p := parsed{from: from}
	for len(args) > 0 && !p.ended && !p.inline && p.module == "" && p.split == "" {
		word, n := args[0], 1
		switch {
		case word == "--" || has(l.then, word):
			p.ended = true
		case l.windows && strings.HasPrefix(word, "/"), l.vars && assignment().MatchString(word):
		case strings.HasPrefix(word, "-") && word != "-":
			n = p.flag(l, args)
		default:
			n = p.lead(l, args)
		}
		if n == 0 {
			break
		}
		args = args[n:]
	}
	p.rest, p.way = args, cmp.Or(p.way, l.ways[""])
	return p
}

// lead parses the launcher's leading words, such as run, and other words before what is started.
// It returns how many they are: 0 if what is started begins there.
func (p *parsed) lead(l launcher, args []string) int {
	for n := min(2, len(args)); n > 0 && p.way == 0; n-- {
		lead := strings.Join(args[:n], " ")
		if w := l.ways[lead]; w != 0 && lead != "" {
			p.way = w
			return n
		}
	}
	switch {
	case cmp.Or(p.way, l.ways[""]) == project:
		return 1
	case l.then != "" && p.way == inProject:
		if dir, _, _ := strings.Cut(strings.TrimPrefix(args[0], "path:"), "#"); isFile(dir) {
			p.from = p.from.to(dir)
		}
		return 1
	}
	return 0
}

// flag parses a flag, and returns how many words it takes.
func (p *parsed) flag(l launcher, args []string) int {
	flag, value, joined := strings.Cut(args[0], "=")
	n := 1
	if !joined && len(args) > 1 {
		value, n = args[1], 2
	}
	scripts := l.ways[""] == script
	switch {
	case has(l.dirs, flag):
		p.from = p.from.to(value)
	case has(l.files, flag):
		p.from = p.from.to(filepath.Dir(value))
	case has(l.runs, flag):
		p.file = value
	case has(l.pkgs, flag) && p.way != inProject:
		p.pkgs = append(p.pkgs, value)
	case has(l.withs, flag):
		p.withs = append(p.withs, strings.Split(value, ",")...)
	case has(l.texts, flag):
		p.text = value
	case has(l.splits, flag):
		p.split = value
	case has(l.with, flag):
		p.with = value
	case has(l.modules, flag), scripts && flag == "-m":
		p.module = value
	case has(l.takes, flag):
	case scripts && has("-c -e --eval", flag):
		p.inline = true
	default:
		return 1
	}
	return n
}

func has(list, flag string) bool { return slices.Contains(strings.Fields(list), flag) }
