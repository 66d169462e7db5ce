package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// Check collects what an adapter answers to each verb, for the adapter's author. The zero value is
// ready to use.
type Check struct {
	// Findings so far.
	Findings []child.Finding

	messages []string
	failed   *Failure        // the most recent
	named    map[string]bool // fields that no tmux has
}

// Trace keeps a message for the next finding; see [Config].
func (c *Check) Trace(line string) { c.messages = append(c.messages, child.Clip(line)) }

// add adds a finding about a verb, with the messages since the last one.
func (c *Check) add(f child.Finding) {
	f.Messages, c.messages = c.messages, nil
	c.Findings = append(c.Findings, f)
}

// Opened adds the outcome of open. By then, the adapter has described itself.
func (c *Check) Opened(err error) {
	f := child.Finding{Verb: "open", Text: "done", Fault: err != nil}
	if err != nil {
		f.Text = err.Error()
	}
	c.add(f)
}

// Closed adds the error of [Client.Close], if any.
func (c *Check) Closed(err error) {
	if err != nil {
		c.add(child.Finding{Verb: "end", Text: err.Error(), Fault: true})
	}
}

// moreProbes are calls with the parameters that [Probes] leave out, and without those that they
// set.
var moreProbes = [][]string{
	{"list", "panes", "1"}, {"list", "windows", "1"}, {"list", "sessions", "1"}, {"list", "clients", "1"}, {"list", "buffers", "1"},
	{"list", "panes", "-in", "$0"}, {"list", "panes", "-F", "#{pane_id}", "1"}, {"list", "buffers", "-F", "#{buffer_name}", "1"},
	{"search", "mcp-conform", "glob", "ignore-case"},
	{"send-keys", "%0", "-N", "2", "-l", "x"},
	{"run-shell", "-c", "/", "true"}, {"run-shell", "-E", "true"},
	{"run-shell", "-b", "true"}, {"run-shell", "-d", "0.1", "true"}, {"run-shell", "-C", "set-option -g @mcp-conform 1"}, {"run-shell", "-t", "%0", "true"},
}

// Verbs calls every verb of an adapter, with all of its parameters, on a server that is set up for
// [Probes]. Then it calls a verb, and passes a parameter, that do not exist.
func (c *Check) Verbs(ctx context.Context, a Asker) {
	for i := range Verbs {
		var calls []probe
		for _, words := range slices.Concat(Probes, moreProbes) {
			call, err := Parse(words)
			if err != nil {
				panic(err)
			}
			if call.Request.Method == Verbs[i].Name {
				calls = append(calls, probe{call, words})
			}
		}
		if len(calls) > 0 {
			c.add(c.verb(ctx, a, &Verbs[i], calls))
		}
	}
	const new = "mcp_conform_new"
	_, err := a.Ask(ctx, Request{new, map[string]any{}})
	c.refuses("unknown verb", err, codeNoMethod)
	_, err = a.Ask(ctx, Request{"display", map[string]any{"format": "x", new: true}})
	c.refuses("unknown parameter", err, codeNoParam, codeNoMethod)
}

// refuses adds a finding: whether an error has one of these codes.
func (c *Check) refuses(what string, err error, codes ...int) {
	f := child.Finding{Verb: what, Text: "refused"}
	var answered *Error
	switch _, known := c.failure(err); {
	case known:
		f.Text = "not asked"
	case errors.As(err, &answered) && slices.Contains(codes, answered.Code):
	case errors.As(err, &answered):
		f.Text, f.Fault = fmt.Sprintf("error %d, and not %d: %s", answered.Code, codes[0], answered.Message), true
	case err != nil:
		f.Text, f.Fault = err.Error(), true
	default:
		f.Text, f.Fault = fmt.Sprintf("an answer, and not error %d", codes[0]), true
	}
	c.add(f)
}

// failure returns err as a failure, or nil, and whether it has been reported before: the adapter
// was not asked again.
func (c *Check) failure(err error) (f *Failure, known bool) {
	if !errors.As(err, &f) {
		return nil, false
	}
	known, c.failed = f == c.failed, f
	return f, known
}

type probe struct {
	Call
	words []string
}

// verb makes the calls of one verb and returns what it found.
func (c *Check) verb(ctx context.Context, a Asker, v *Verb, calls []probe) child.Finding {
	var s summary
	f := child.Finding{Verb: v.Name}
	for _, call := range calls {
		raw, err := a.Ask(ctx, call.Request)
		var answered *Error
		if errors.As(err, &answered) {
			err = answered.class()
		}
		var got received
		if err == nil {
			got, err = receive(call.Request, raw)
		}
		var none gap.NotOffered
		switch failure, known := c.failure(err); {
		case known:
			s.say(&s.said, "not asked")
		case failure != nil:
			f.Fault = true
			s.say(&s.faults, fmt.Sprintf("%v (%s)", failure, strings.Join(call.words, " ")))
		case errors.As(err, &none):
			s.say(&s.missing, none.Error())
		case err != nil:
			f.Offered = true
			s.say(&s.said, "error: "+err.Error())
		default:
			f.Offered = true
			s.answer(call.Call, got)
		}
	}
	f.Text = s.text(c)
	return f
}

// summary collects the answers to the calls of one verb.
type summary struct {
	first   *string // text
	done    bool    // there was an answer
	counts  []string
	fields  []string
	odd     []string // fields whose value does not have the token's type
	missing []string // what is not offered
	faults  []string
	said    []string
}

// say adds a text to a list unless it is there already.
func (s *summary) say(list *[]string, text string) {
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}

func (s *summary) answer(call Call, got received) {
	s.done = true
	if s.first == nil && call.Request.Params["kind"] == nil {
		s.first = got.text
	}
	rows := got.Rows
	if got.Row != nil {
		rows = append(rows, got.Row)
	}
	for _, r := range rows {
		for name, value := range r {
			if s.say(&s.fields, name); !isCanonical(name, value) {
				s.say(&s.odd, name)
			}
		}
	}
	if params := call.Request.Params; got.Rows != nil && params["filter"] == nil && params["within"] == nil && params["syntax"] == nil {
		kind, _ := params["kind"].(string)
		s.counts = append(s.counts, count(len(rows), cmp.Or(kind, "panes")))
	}
	for _, w := range got.Warnings {
		s.say(&s.said, "warning: "+w)
	}
}

// text returns the summary in words, without what c has named before.
func (s *summary) text(c *Check) string {
	parts := s.counts
	if len(s.fields) > 0 {
		parts = append(parts, count(len(s.fields), "fields"))
	}
	strange, fresh := 0, false
	names := ""
	slices.Sort(s.fields)
	for _, name := range s.fields {
		if tokenTypes()[name] != "" {
			continue
		}
		fresh = fresh || !c.named[name]
		strange, names = strange+1, names+" "+name
		c.name(name)
	}
	if slices.Sort(s.odd); len(s.odd) > 0 {
		parts = append(parts, fmt.Sprintf("%d with a value of another type than tmux's: %s", len(s.odd), strings.Join(s.odd, " ")))
	}
	switch {
	case fresh:
		parts = append(parts, fmt.Sprintf("%d that no tmux has:%s", strange, names))
	case strange > 0:
		parts = append(parts, fmt.Sprintf("%d that no tmux has", strange))
	}
	switch {
	case s.first != nil:
		line, rest, more := strings.Cut(*s.first, "\n")
		parts = append(parts, strconv.Quote(report.Clip(line, 60)))
		if more {
			parts = append(parts, count(1+strings.Count(rest, "\n"), "more lines"))
		}
	case s.done && len(parts) == 0:
		parts = append(parts, "done")
	}
	all := s.faults
	if len(parts) > 0 {
		all = append(all, strings.Join(parts, ", "))
	}
	all = append(all, s.said...)
	if len(s.missing) > 0 {
		all = append(all, "not offered: "+strings.Join(s.missing, ", "))
	}
	return strings.Join(all, "; ")
}

// name remembers a field that no tmux has.
func (c *Check) name(field string) {
	if c.named == nil {
		c.named = map[string]bool{}
	}
	c.named[field] = true
}

// count returns a number with what it counts, "2 panes".
func count(n int, what string) string {
	if n == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	return fmt.Sprintf("%d %s", n, what)
}
