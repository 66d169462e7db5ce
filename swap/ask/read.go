package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Reader parses a client's output: stdout, and without a dialogue stderr too. Its error
// wraps [ErrUnread] if the output has no answer (yet).
type Reader func(out, server string) (Answer, error)

// readers are all Readers by the client, or what several clients print.
var readers = map[string]Reader{
	"codex": codex, "config": config, "grok": grok,
	"claude": listed(`(?m)^NAME:\n +Scope: (?P<place>\w+).*\n +Status: \S+ (?P<says>.+)(?:\n +Type: \w+\n +(?:Command|URL): (?P<command>.*)(?:\n +Args:(?P<args>.*))?)?`, `No MCP server`),
	"droid":  listed(`(?m)^ +NAME +(?:stdio|http|sse) +(?P<says>.+?) +\[(?P<place>\w+)\]$`, `Configured MCP servers:|No MCP servers`),
	"gemini": listed(`(?m)^\S+ NAME(?: \(from .*\))?: (?P<command>.*) \((?:stdio|http|sse)\) - (?P<says>.+)$`, `(?m)^(Configured MCP servers:|No MCP servers configured)`),
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

// words are how clients' words for the state of a server begin, in lower case.
var words = []struct{ begin, state string }{
	{"connected", Connected},
	{"failed", NotStarted},
	{"disconnected", NotStarted},
	{"disabled", Disabled},
	{"blocked", Disabled},
	{"pending approval", Pending},
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

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]")

// listed returns a Reader that reads output meant for people. In pattern, NAME stands for
// the server's name; the groups "says", "command", "args" and "place" are the parts of the
// answer. If only absent matches, the client has answered that there is no such server.
func listed(pattern, absent string) Reader {
	none := regexp.MustCompile(absent)
	return func(out, server string) (Answer, error) {
		out = strings.ReplaceAll(escapes.ReplaceAllString(out, ""), "\r", "")
		re, err := regexp.Compile(strings.ReplaceAll(pattern, "NAME", regexp.QuoteMeta(server)))
		if err != nil {
			return Answer{}, fmt.Errorf("look for %q: %w", server, err)
		}
		m := re.FindStringSubmatch(out)
		if m == nil {
			if none.MatchString(out) {
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
	notFound  = regexp.MustCompile(`(?m)^Error: Server .* not found\.`)
	jsonBegin = regexp.MustCompile(`(?m)^[\[{]`)
)

// config reads JSON in which a client shows the servers in its config without starting
// them: a list, a list under "servers", or an object with a member per server. If a name
// occurs more than once, the last counts.
func config(out, server string) (Answer, error) {
	out = strings.ReplaceAll(out, "\r", "")
	if notFound.MatchString(out) {
		return Answer{State: NotThere}, nil
	}
	at := jsonBegin.FindStringIndex(out)
	var doc any
	if at == nil || json.NewDecoder(strings.NewReader(out[at[0]:])).Decode(&doc) != nil {
		return Answer{}, ErrUnread
	}
	if all, ok := doc.(map[string]any); ok {
		if doc, ok = all["servers"].([]any); !ok {
			doc = []any{all[server]}
		}
	}
	a := Answer{State: NotThere}
	list, _ := doc.([]any)
	for _, v := range list {
		e, ok := v.(map[string]any)
		if name, named := e["name"].(string); !ok || named && name != server {
			continue
		}
		a = Answer{State: Configured}
		if a.Place, _ = e["source"].(string); a.Place == "workspace" {
			a.Place = "project"
		}
		if spec, ok := e["spec"].(map[string]any); ok {
			e = spec
		}
		if e["enabled"] == false {
			a.State, a.Says = Disabled, "disabled"
		}
		if a.Command, _ = e["command"].(string); a.Command == "" {
			a.Command, _ = e["url"].(string)
		}
		args, _ := e["args"].([]any)
		for _, arg := range args {
			a.Command += " " + fmt.Sprint(arg)
		}
	}
	return a, nil
}

var grokTools = regexp.MustCompile(`^(\d+) tools? discovered$`)

// grok reads the output of grok mcp doctor --json.
func grok(out, server string) (Answer, error) {
	if strings.Contains(out, "not found.\n") {
		return Answer{State: NotThere, Says: "not found"}, nil
	}
	_, text, ok := strings.Cut("\n"+out, "\n{")
	var doc struct {
		Servers []struct {
			Name, Target string
			Healthy      bool
			Checks       []struct {
				Label, Detail string
				Passed        bool
			}
		}
	}
	if !ok || json.NewDecoder(strings.NewReader("{"+text)).Decode(&doc) != nil {
		return Answer{}, ErrUnread
	}
	for _, s := range doc.Servers {
		if s.Name != server {
			continue
		}
		a := Answer{State: NotStarted, Command: s.Target}
		if s.Healthy {
			a.State, a.Says = Connected, "healthy"
		}
		for _, c := range s.Checks {
			if m := grokTools.FindStringSubmatch(c.Label); m != nil {
				n, _ := strconv.Atoi(m[1])
				a.ToolCount = &n
			}
			if !c.Passed && a.Says == "" {
				a.Says = printable(c.Label + ": " + firstOf(c.Detail))
			}
			if c.Label == "folder untrusted" {
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

// codex reads the answers of codex app-server to initialize, config/read and
// mcpServerStatus/list, numbered from 0.
func codex(out, server string) (Answer, error) {
	type entry struct {
		Command, URL string
		Args         []string
		Enabled      *bool
	}
	var config struct {
		Config struct {
			Servers map[string]entry `json:"mcp_servers"`
		}
	}
	var list struct {
		Data []struct {
			Name       string
			ServerInfo any
			Tools      map[string]any
			ToolsError *string
		}
	}
	into := map[string]any{"1": &config, "2": &list}
	for line := range strings.Lines(out) {
		var msg struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if json.Unmarshal([]byte(line), &msg) != nil || msg.Method != "" {
			continue
		}
		if msg.Error != nil {
			return Answer{}, fmt.Errorf("codex app-server: %s", printable(firstOf(msg.Error.Message)))
		}
		id := string(msg.ID)
		if v := into[id]; v != nil {
			if err := json.Unmarshal(msg.Result, v); err != nil {
				return Answer{}, fmt.Errorf("codex app-server: read its answer: %w", err)
			}
			delete(into, id)
		}
	}
	if len(into) > 0 {
		return Answer{}, ErrUnread
	}
	a := Answer{State: NotThere}
	if e, ok := config.Config.Servers[server]; ok {
		a.State, a.Command = NotStarted, strings.Join(append([]string{e.Command + e.URL}, e.Args...), " ")
		if e.Enabled != nil && !*e.Enabled {
			a.State, a.Says = Disabled, "enabled = false"
		}
	}
	for _, s := range list.Data {
		if s.Name != server {
			continue
		}
		if s.ToolsError != nil {
			a.Says = brief(*s.ToolsError)
		}
		if s.ServerInfo != nil && s.ToolsError == nil {
			a.State = Connected
			a.Tools = slices.Sorted(maps.Keys(s.Tools))
			n := len(a.Tools)
			a.ToolCount = &n
		}
	}
	return a, nil
}
