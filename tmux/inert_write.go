package tmux

import (
	"fmt"
	"strings"
)

// inertWriter writes a parsed format as tmux reads it.
type inertWriter struct {
	strings.Builder
	v Version
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
		if name, ok := plainText(n.operands[i]); ok && w.guard(name) != "" {
			inertValue{name: name}.write(w)
		} else {
			w.sequence(n.operands[i])
		}
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
	texts := make([]Format, len(n.operands))
	for i, o := range n.operands {
		inner := inertWriter{v: w.v}
		inner.sequence(o)
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
