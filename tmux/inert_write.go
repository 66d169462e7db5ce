package tmux

import (
	"fmt"
	"slices"
	"strings"
)

// inertWriter writes a parsed format as tmux reads it.
type inertWriter struct {
	strings.Builder
	v     Version
	limit int // of the bytes that the values of a scope have
}

// scope writes the whole format or what a loop expands. It comes with the
// condition that values and screens are no larger than the cost was estimated
// for.
func (w *inertWriter) scope(seq []inertNode) {
	var reads inertReads
	reads.of(seq)
	var small []Format
	if len(reads.names) > 0 {
		inner := inertWriter{v: w.v}
		for _, name := range reads.names {
			inertValue{name: name}.write(&inner)
		}
		small = append(small, Format(fmt.Sprintf("#{e|<=|:#{n:%s},%d}", inner.String(), w.limit)))
	}
	if reads.screen {
		small = append(small, Format(fmt.Sprintf("#{e|<=|:#{e|*|:#{pane_width},#{pane_height}},%d}", inertCells)))
	}
	if len(small) > 0 {
		w.WriteString("#{?" + string(And(small...)) + ",")
		defer func() { fmt.Fprintf(w, ",%s%d;}", inertMark, w.limit) }()
	}
	w.sequence(seq)
}

// inertReads is what a scope reads, without the loops in it, which are scopes
// themselves.
type inertReads struct {
	names  []string // of values that may be long
	screen bool
}

func (r *inertReads) of(seq []inertNode) {
	for _, n := range seq {
		var inner [][]inertNode
		switch n := n.(type) {
		case inertValue:
			if n.name != "" && !isSmall(n.name) && !slices.Contains(r.names, n.name) {
				r.names = append(r.names, n.name)
			}
			inner = [][]inertNode{n.body}
		case inertChoice:
			inner = n.operands
		case inertOperator:
			r.screen = r.screen || n.op.name == "C"
			if !inertRules[n.op.name].loop {
				inner = n.operands
			}
		}
		for _, seq := range inner {
			r.of(seq)
		}
	}
}

func (w *inertWriter) sequence(seq []inertNode) {
	for _, n := range seq {
		n.write(w)
	}
}

// argument writes text with no character that the parser of modifiers knows.
func (w *inertWriter) argument(text string) {
	for _, c := range []byte(text) {
		if c >= 0x80 || c == ' ' || isNameByte(c) {
			w.WriteByte(c)
		} else {
			fmt.Fprintf(w, "#{a:%d}", c)
		}
	}
}

// open writes #{ and modifiers with their colon.
func (w *inertWriter) open(modifiers ...inertModifier) {
	w.WriteString("#{")
	for i, m := range modifiers {
		if i > 0 {
			w.WriteByte(';')
		}
		w.WriteString(m.name)
		for _, a := range m.args {
			w.WriteByte('/')
			w.argument(a)
		}
	}
	if len(modifiers) > 0 {
		w.WriteByte(':')
	}
}

func (n inertText) write(w *inertWriter) { w.WriteString(string(Literal(string(n)))) }

func (n inertValue) write(w *inertWriter) {
	if n.name == "" {
		w.open(n.modifiers...)
		w.sequence(n.body)
		w.WriteByte('}')
		return
	}
	guard := w.guard(n.name)
	if guard != "" {
		w.WriteString("#{?" + guard + ",")
	}
	w.open(n.modifiers...)
	w.WriteString(n.name + "}")
	if guard != "" {
		w.WriteString(",}")
	}
}

// guard is the token without which this one must not be expanded, if there is
// one: see [Token.Scoped].
func (w *inertWriter) guard(name string) string {
	if t := tokensByName()[name]; t != nil && t.Scoped && !w.v.Has(Version{Major: 3, Minor: 3}) {
		return identity[t.Scope]
	}
	return ""
}

func (n inertChoice) write(w *inertWriter) {
	if len(n.modifiers) > 0 {
		w.open(n.modifiers...)
		defer w.WriteByte('}')
	}
	// Pairs inside each other: tmux before 3.6 takes one.
	last := len(n.operands) - 1
	for i := 0; i < last; i += 2 {
		w.WriteString("#{?")
		w.sequence(n.operands[i])
		w.WriteByte(',')
		w.sequence(n.operands[i+1])
		w.WriteByte(',')
	}
	w.sequence(n.operands[last])
	w.WriteString(strings.Repeat("}", last/2))
}

func (n inertOperator) write(w *inertWriter) {
	if len(n.modifiers) > 0 {
		w.open(n.modifiers...)
		defer w.WriteByte('}')
	}
	operands := n.operands
	if n.op.name == "S" {
		// The other one is for the session of the client, and tmux 3.6 dies when that
		// has none.
		operands = operands[:1]
	}
	texts := make([]Format, len(operands))
	for i, o := range operands {
		inner := inertWriter{v: w.v, limit: w.limit}
		if n.op.name == "L" {
			// The loop goes over clients that have only begun to describe
			// themselves, too, and tmux 3.6 dies of their empty tokens.
			inner.WriteString("#{?client_session,")
			inner.scope(o)
			inner.WriteString(",}")
		} else if inertRules[n.op.name].loop {
			inner.scope(o)
		} else {
			inner.sequence(o)
		}
		texts[i] = Format(inner.String())
	}
	switch n.op.name {
	// As tmux before 3.6 knows them too.
	case "||", "!!":
		w.WriteString(string(Or(append(texts, "0")...)))
	case "&&":
		w.WriteString(string(And(append(texts, "1")...)))
	case "!":
		w.WriteString(string(Not(texts[0])))
	default:
		w.open(n.op)
		for i, t := range texts {
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteString(string(t))
		}
		w.WriteByte('}')
	}
}
