package ask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"tmuxmcp/internal/lazy"
)

// A Reader parses a client's output: stdout and, unless in a dialogue, stderr. Its error wraps
// [ErrUnread] if the output has no answer (yet).
type Reader func(out, server string) (Answer, error)

// readers are all Readers, by the client or the format that they read.
var readers = map[string]Reader{
	"codex": codex, "config": config, "grok": grok,
	"claude": listed(`(?m)^NAME:\n +Scope: (?P<place>\w+).*\n +Status: \S+ (?P<says>.+)(?:\n +Type: \w+\n +(?:Command|URL): (?P<command>.*)(?:\n +Args:(?P<args>.*))?)?`, `No MCP server`),
	"droid":  listed(`(?m)^ +NAME +(?:stdio|http|sse) +(?P<says>.+?) +\[(?P<place>\w+)\]$`, `Configured MCP servers:|No MCP servers`),
	"gemini": listed(`(?m)^\S+ NAME(?: \(from .*\))?: (?:(?P<command>.*) \((?:stdio|http|sse)\))? - (?P<says>.+)$`, `(?m)^(Configured MCP servers:|No MCP servers configured)`),
	// For a server that failed, the reason comes before the command.
	"opencode": listed(`(?m)^\S +\S NAME (?P<says>.+)\n(?:\S {6}.*\n)*\S {6}(?P<command>.+)\n\S\s*$`, `\d+ server\(s\)|No MCP servers`),
}

// UnmarshalText finds a Reader by its name.
func (r *Reader) UnmarshalText(name []byte) error {
	if *r = readers[string(name)]; *r == nil {
		return fmt.Errorf("no reader %q", name)
	}
	return nil
}

// words has the beginnings of clients' words for the state of a server, in lower case.
var words = []struct{ begin, state string }{
	{"connected", Connected},
	{"failed", NotStarted},
	{"disconnected", NotStarted},
	{"disabled", Disabled},
	{"blocked", Disabled},
	{"pending approval", Pending},
	{"rejected", Disabled},
	{"connecting", NotStarted}, // droid waits only a few seconds
}

func stateOf(says string) string {
	says = strings.ToLower(says)
	for _, w := range words {
		if strings.HasPrefix(says, w.begin) {
			return w.state
		}
	}
	return Unclear
}

var escapes = lazy.Regexp("\x1b\\[[0-9;?]*[a-zA-Z]")

// listed returns a Reader of output meant for people. In pattern, NAME stands for the server's
// name; the groups "says", "command", "args" and "place" are the parts of the answer. If only
// absent matches, the client has answered that there is no such server.
func listed(pattern, absent string) Reader {
	none := lazy.Regexp(absent)
	return func(out, server string) (Answer, error) {
		out = strings.ReplaceAll(escapes().ReplaceAllString(out, ""), "\r", "")
		re, err := regexp.Compile(strings.ReplaceAll(pattern, "NAME", regexp.QuoteMeta(server)))
		if err != nil {
			return Answer{}, fmt.Errorf("look for %q: %w", server, err)
		}
		m := re.FindStringSubmatch(out)
		if m == nil {
			if none().MatchString(out) {
				return Answer{State: NotThere}, nil
			}
			return Answer{}, ErrUnread
		}
		part := func(name string) string {
			if i := re.SubexpIndex(name); i >= 0 {
				return printable(strings.TrimSpace(m[i]))
			}
			return ""
		}
		a := Answer{Says: part("says"), Place: strings.ToLower(part("place"))}
		a.State = stateOf(a.Says)
		a.Command = strings.TrimSpace(part("command") + " " + part("args"))
		return a, nil
	}
}

var (
	notFound  = lazy.Regexp(`(?m)^Error: Server .* not found\.`)
	jsonBegin = lazy.Regexp(`(?m)^[\[{]`)
)

// document returns the first JSON value in an output that starts a line.
func document(out string) (doc gjson.Result, ok bool) {
	at := jsonBegin().FindStringIndex(out)
	var text json.RawMessage
	if at == nil || json.NewDecoder(strings.NewReader(out[at[0]:])).Decode(&text) != nil {
		return doc, false
	}
	return gjson.ParseBytes(text), true
}

// config reads JSON of a client that shows the servers in its config without starting them: a list,
// a list under "servers", or an object with a member per server. If a name occurs more than once,
// the last one counts.
func config(out, server string) (Answer, error) {
	out = strings.ReplaceAll(out, "\r", "")
	if notFound().MatchString(out) {
		return Answer{State: NotThere}, nil
	}
	doc, ok := document(out)
	if !ok {
		return Answer{}, ErrUnread
	}
	list := doc.Array()
	if servers := doc.Get("servers"); servers.IsArray() {
		list = servers.Array()
	} else if doc.IsObject() {
		list = []gjson.Result{doc.Map()[server]}
	}
	a := Answer{State: NotThere}
	for _, e := range list {
		name := e.Get("name")
		if !e.IsObject() || name.Type == gjson.String && name.Str != server {
			continue
		}
		a = Answer{State: Configured, Place: e.Get("source").Str}
		if a.Place == "workspace" {
			a.Place = "project"
		}
		if spec := e.Get("spec"); spec.IsObject() {
			e = spec
		}
		if e.Get("enabled").Type == gjson.False {
			a.State, a.Says = Disabled, "disabled"
		}
		a.Command = cmp.Or(e.Get("command").Str, e.Get("url").Str)
		for _, arg := range e.Get("args").Array() {
			a.Command += " " + arg.String()
		}
	}
	return a, nil
}

var grokTools = lazy.Regexp(`^(\d+) tools? discovered$`)

// grok reads the output of grok mcp doctor --json.
func grok(out, server string) (Answer, error) {
	if strings.Contains(out, "not found.\n") {
		return Answer{State: NotThere, Says: "not found"}, nil
	}
	doc, ok := document(out)
	if !ok {
		return Answer{}, ErrUnread
	}
	for _, s := range doc.Get("servers").Array() {
		if s.Get("name").Str != server {
			continue
		}
		a := Answer{State: NotStarted, Command: s.Get("target").Str}
		if s.Get("healthy").Bool() {
			a.State, a.Says = Connected, "healthy"
		}
		for _, c := range s.Get("checks").Array() {
			label := c.Get("label").Str
			if m := grokTools().FindStringSubmatch(label); m != nil {
				n, _ := strconv.Atoi(m[1])
				a.ToolCount = &n
			}
			if !c.Get("passed").Bool() && a.Says == "" {
				a.Says = printable(label + ": " + firstOf(c.Get("detail").Str))
			}
			if label == "folder untrusted" {
				a.State, a.Place = Disabled, "project"
			}
		}
		return a, nil
	}
	return Answer{State: NotThere}, nil
}

// brief returns the beginning of a program's message on one line.
func brief(text string) string {
	text = printable(firstOf(text))
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}

func firstOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// refusedValue matches codex's error for an invalid value of an entry, with the value.
var refusedValue = lazy.Regexp("(invalid type: \\w+) (?:`[^`]*`|\".*\")")

// codex reads the answers of codex app-server to initialize, config/read, thread/start and
// mcpServerStatus/list, numbered from 0.
func codex(out, server string) (Answer, error) {
	results := map[string]gjson.Result{}
	threads := true // versions without threads cannot report on servers of the directory
	for line := range strings.Lines(out) {
		msg := gjson.Parse(line)
		if !gjson.Valid(line) || msg.Get("method").Exists() {
			continue
		}
		if e := msg.Get("error"); e.IsObject() {
			text := e.Get("message").Str
			if threads = !strings.Contains(text, "unknown variant"); !threads {
				continue
			}
			return Answer{}, fmt.Errorf("codex app-server: %s", refusedValue().ReplaceAllString(brief(text), "$1"))
		}
		results[msg.Get("id").Raw] = msg.Get("result")
	}
	if !results["1"].Exists() || threads && !results["3"].Exists() {
		return Answer{}, ErrUnread
	}
	a := Answer{State: NotThere}
	if e := results["1"].Get("config.mcp_servers").Map()[server]; e.Exists() {
		a.State, a.Command = NotStarted, e.Get("command").Str+e.Get("url").Str
		if !threads {
			a.State = Configured
		}
		for _, arg := range e.Get("args").Array() {
			a.Command += " " + arg.String()
		}
		if e.Get("enabled").Type == gjson.False {
			a.State, a.Says = Disabled, "enabled = false"
		}
	}
	for _, s := range results["3"].Get("data").Array() {
		if s.Get("name").Str != server {
			continue
		}
		if e := s.Get("toolsError"); e.Type == gjson.String {
			a.Says = brief(e.Str)
		} else if s.Get("serverInfo").IsObject() {
			a.State = Connected
			a.Tools = slices.Sorted(maps.Keys(s.Get("tools").Map()))
			n := len(a.Tools)
			a.ToolCount = &n
		}
	}
	return a, nil
}
