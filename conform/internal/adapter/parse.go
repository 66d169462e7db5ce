package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Request is a request of the protocol.
type Request struct {
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
}

// Words returns the method and its parameters as JSON.
func (r Request) Words() []string {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.Encode(r.Params) // texts, numbers and lists of texts
	return []string{r.Method, strings.TrimSuffix(b.String(), "\n")}
}

// Call is a call as a script wrote it.
type Call struct {
	// Word is the first word, such as "send-keys".
	Word    string
	Request Request // for fields, without the target
	// Names are the fields of the calls "fields" and "type".
	Names []string
}

// Misuse is the error of a malformed call in a script.
type Misuse string

func (m Misuse) Error() string { return string(m) }

// Parse parses the words of a call. Its error is a [Misuse].
func Parse(words []string) (Call, error) {
	if len(words) > 0 {
		for i := range Verbs {
			for _, f := range Verbs[i].Forms {
				if f.Word == words[0] {
					return f.parse(&Verbs[i], words[1:])
				}
			}
		}
	}
	var all []string
	for _, v := range Verbs {
		for _, f := range v.Forms {
			all = append(all, "["+f.Usage()+"]")
		}
	}
	slices.Sort(all)
	return Call{}, Misuse(fmt.Sprintf("api: want one of these verbs with its arguments: %s, not %q", strings.Join(all, " "), words))
}

// Usage returns the form with its arguments, as in "reset PANE".
func (f Form) Usage() string {
	words := []string{f.Word}
	for _, a := range f.Args {
		text := strings.TrimSpace(a.Flag + " " + a.Name)
		if a.Words != nil {
			text = strings.Join(a.Words, "|")
		}
		if a.Param == "kind" {
			text = strings.Join(kinds, "|")
		}
		if a.Rest && f.Word != "run-shell" && a.Param != "filter" {
			text += "…"
		}
		if a.Flag != "" || a.Optional {
			text = "[" + text + "]"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// parse parses the words after the first.
func (f Form) parse(v *Verb, words []string) (Call, error) {
	c := Call{Word: f.Word, Request: Request{v.Name, map[string]any{}}}
	maps.Copy(c.Request.Params, f.Sets)
	left := words
	for i, a := range f.Args {
		took, ok := a.take(left, required(f.Args[i+1:]))
		taken := left[:took]
		left = left[took:]
		if a.Flag != "" && a.Name != "" && len(taken) > 0 {
			taken = taken[1:]
		}
		if ok {
			ok = c.set(v.param(a.Param), a, taken)
		}
		if !ok {
			return Call{}, f.misuse(words)
		}
	}
	if len(left) > 0 {
		return Call{}, f.misuse(words)
	}
	return c, nil
}

func (f Form) misuse(words []string) error {
	return Misuse(fmt.Sprintf("usage: api %s, not %q", f.Usage(), words))
}

// required returns the least number of words that these arguments need.
func required(args []Arg) (n int) {
	for _, a := range args {
		if !a.Optional && a.Flag == "" {
			n++
		}
	}
	return n
}

// take returns how many of the words belong to the argument, given how many the arguments after it
// need. It returns false if there are too few.
func (a Arg) take(words []string, others int) (int, bool) {
	switch {
	case a.Flag != "" && (len(words) == 0 || words[0] != a.Flag):
		return 0, true
	case a.Flag != "" && a.Name != "":
		return min(2, len(words)), len(words) > 1
	case a.Words != nil && (len(words) == 0 || !slices.Contains(a.Words, words[0])):
		return 0, true
	case a.Rest:
		return len(words), a.Optional || len(words) > 0
	case a.Optional && len(words) <= others && a.Words == nil:
		return 0, true
	}
	return min(1, len(words)), len(words) > 0
}

// set sets a parameter from words, and reports whether they are a valid value.
func (c *Call) set(p Param, a Arg, words []string) bool {
	first := strings.Join(words, " ")
	switch {
	case a.Param == "":
		c.Names = words
		return !slices.Contains(words, "")
	case p.Type == Texts:
		c.Request.Params[p.Name] = append([]string{}, words...)
		return true
	case len(words) == 0, a.Rest && a.Optional && first == "":
		return true
	case first == "" && !a.Empty, p.Values != nil && !slices.Contains(p.Values, first):
		return false
	case p.Type == Flag:
		c.Request.Params[p.Name] = true
	case p.Type == Number:
		n, err := strconv.Atoi(first)
		c.Request.Params[p.Name] = n
		return err == nil && n >= 0
	default:
		c.Request.Params[p.Name] = first
	}
	return true
}

// Requests returns the requests of the call. Targets are ids of objects of each kind, "server"
// among them: the call "fields" asks every one.
func (c Call) Requests(targets []string) []Request {
	if c.Word != "fields" {
		return []Request{c.Request}
	}
	if len(targets) == 0 {
		targets = []string{"server"}
	}
	var all []Request
	for _, id := range targets {
		all = append(all, Request{c.Request.Method, map[string]any{"target": id}})
	}
	return all
}

// VerbOf returns the verb that a line of a script calls: its words begin with api, perhaps behind
// try or wait-until. It returns "" if the line calls none.
func VerbOf(words []string) string {
	at := slices.Index(words[:min(len(words), 4)], "api")
	if at < 0 || at+1 >= len(words) {
		return ""
	}
	for _, v := range Verbs {
		for _, f := range v.Forms {
			if f.Word == words[at+1] {
				return v.Name
			}
		}
	}
	return ""
}
