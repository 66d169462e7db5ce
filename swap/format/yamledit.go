package format

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tmuxmcp/internal/lazy"
)

// check refuses what cannot be edited safely. n is on the path to an entry, unless deep is
// set: then everything in it is checked. flow allows braces and brackets around it.
func (d *yamlDoc) check(n *yaml.Node, deep, flow bool) error {
	if n == nil {
		return nil
	}
	what := ""
	inFlow, item := n.Style&yaml.FlowStyle != 0, n.Kind == yaml.SequenceNode
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		what = "an anchor or an alias"
	case n.Style&yaml.TaggedStyle != 0:
		what = "a tag"
	case n.Tag == "!!merge":
		what = "a merge key"
	case inFlow && !flow:
		what = "braces or brackets"
	}
	for k, c := range n.Content {
		before := strings.ReplaceAll(string(d.src[d.lineStart(c):d.at[c].start]), " ", "")
		if !inFlow && (item && before != "-" || !item && k%2 == 0 && before != "" && (k > 0 || before != "-")) {
			what = "a form other than a line for each name"
		}
		if deep || !item && k%2 == 0 {
			if err := d.check(c, deep, true); err != nil {
				return err
			}
		}
	}
	if what == "" {
		return nil
	}
	return syntaxError(d.src, d.at[n].start, what+": an entry there cannot be edited safely; write it without")
}

// checkWay checks everything that an edit of an entry touches.
func (d *yamlDoc) checkWay(path []string) (p yamlPath, err error) {
	if p, err = d.find(path); err != nil || d.root == nil {
		return p, err
	}
	if i := yamlKeep().FindIndex(d.src); i != nil {
		return p, syntaxError(d.src, i[0], "a text that keeps the blank lines behind it: "+
			"an entry beside it cannot be edited safely; write it without")
	}
	box := p.box
	if p.key >= 0 {
		box = d.root.Content[p.key]
	}
	replaced := box != p.box // it is null, empty or an alias
	return p, cmp.Or(
		d.check(d.root, false, len(d.root.Content) == 0),
		d.check(box, replaced, replaced),
		d.check(p.entry, true, false),
	)
}

// yamlKeep matches the head of a text block that keeps the blank lines after it.
var yamlKeep = lazy.Regexp(`(?m)[:-][ \t]+[|>][0-9]?\+[0-9]?[ \t]*(#.*)?\r?$`)

func isBlock(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 ||
		n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0
}

func (d *yamlDoc) lineStart(n *yaml.Node) int {
	return max(bytes.LastIndexByte(d.src[:d.at[n].start], '\n')+1, d.body)
}

// key returns the node that the member or item k of n begins with.
func key(n *yaml.Node, k int) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		return n.Content[k-1]
	}
	return n.Content[k]
}

// end returns the end of the last line of the member or item k of n, including the
// following comments that are indented deeper.
func (d *yamlDoc) end(n *yaml.Node, k int) int {
	end := lineEnd(d.src, max(d.at[n.Content[k]].end, d.at[key(n, k)].end))
	for i := end; i < len(d.src); {
		i = nextLine(d.src, i)
		next := lineEnd(d.src, i)
		text := bytes.TrimLeft(d.src[i:next], " \t")
		if len(text) > 0 && (text[0] != '#' || next-len(text)-i < n.Column) {
			break
		}
		if i = next; len(text) > 0 {
			end = next
		}
	}
	return end
}

// colon returns the offset after the colon of member k.
func (d *yamlDoc) colon(n *yaml.Node, k int) int {
	i := d.at[key(n, k)].end
	return i + bytes.IndexByte(d.src[i:], ':') + 1
}

func spaces(n int) string { return strings.Repeat(" ", n) }

func (d *yamlDoc) set(path []string, c Change) (Edit, error) {
	p, err := d.checkWay(path)
	if err != nil {
		return Edit{}, err
	}
	if tooLong(slices.Concat(Object{{path[0], nil}, {path[len(path)-1], nil}}, c.New, c.Set)) {
		return Edit{}, fmt.Errorf("a name is too long for YAML")
	}
	if p.entry != nil {
		s, err := d.rewrite(p.entry, c.Set, c.Remove, path)
		if err != nil {
			return Edit{}, err
		}
		old := d.without(p.box, p.k)
		e, err := d.finish(applied(d.src, s), path, changed(d.value(p.entry).(map[string]any), yamlData(c.Set), c.Remove))
		e.Undo = Undo{Existed: true, Before: strings.TrimLeft(string(d.src[old.start:old.end]), "\r\n")}
		return e, err
	}
	entry, unit := c.New, "  "
	if p.list {
		entry = slices.DeleteFunc(slices.Clone(entry), func(f Field) bool { return f.Name == "name" })
		entry = append(Object{{"name", path[len(path)-1]}}, entry...)
	}
	if p.box != nil && !p.list { // as the last one is written
		if last := p.box.Content[len(p.box.Content)-1]; isBlock(last) {
			unit = spaces(max(last.Column-p.box.Column, 1))
		}
	}
	return d.add(p, path, yamlData(entry), func(nl, indent string) string {
		if !p.list {
			return yamlMember(nl, indent, unit, path[len(path)-1], entry)
		}
		text := ""
		for _, f := range entry {
			text += yamlMember(nl, indent+"  ", "  ", f.Name, f.Value)
		}
		return nl + indent + "- " + text[len(nl)+len(indent)+2:]
	})
}

// tooLong reports whether a name in an object, written with escapes, might have more than
// the 1024 characters after which YAML expects no colon.
func tooLong(o Object) bool {
	return slices.ContainsFunc(o, func(f Field) bool {
		sub, _ := f.Value.(Object)
		return len(f.Name) > 160 || tooLong(sub)
	})
}

// rewrite rewrites the mapping at path, keeping the text and comments of unchanged parts.
func (d *yamlDoc) rewrite(n *yaml.Node, set Object, remove, path []string) (splice, error) {
	nl, start := newlineOf(d.src), d.at[n.Content[0]].start
	text, end := "", start
	for k := 1; k < len(n.Content); k += 2 {
		name, old, from := n.Content[k-1], n.Content[k], end
		end = d.end(n, k)
		i := slices.IndexFunc(set, func(f Field) bool { return f.Name == name.Value })
		switch {
		case slices.Contains(remove, name.Value):
			text += strings.TrimRight(string(d.src[from:d.at[name].start]), " \r\n")
		case i < 0:
			text += string(d.src[from:end])
		default:
			colon := d.colon(n, k)
			v, rest, err := d.revalue(old, set[i].Value, colon, nl, append(slices.Clone(path), name.Value))
			if err != nil {
				return splice{}, err
			}
			text += string(d.src[from:colon]) + v + string(d.src[max(colon, rest):end])
		}
	}
	for _, f := range set {
		if valueOf(n, f.Name) < 0 {
			text += yamlMember(nl, spaces(n.Column-1), "  ", f.Name, f.Value)
		}
	}
	if len(text) > 0 && text[0] != '#' { // the first member is gone
		text = strings.TrimLeft(text, " \r\n")
	}
	return splice{start, end, text}, nil
}

// revalue writes a new value in the style of the old one at path, beginning after its
// colon. rest is where the old one ends.
func (d *yamlDoc) revalue(old *yaml.Node, v any, colon int, nl string, path []string) (text string, rest int, err error) {
	at := d.at[old]
	gap := string(d.src[colon:max(colon, at.start)])
	if sub, ok := v.(Object); ok && d.value(old) != nil {
		if old.Kind != yaml.MappingNode {
			return "", 0, d.typeError(path, "a mapping", old)
		}
		if isBlock(old) {
			s, err := d.rewrite(old, sub, nil, path)
			return gap + s.text, s.end, err
		}
		v = changed(d.value(old).(map[string]any), yamlData(sub), nil)
	}
	items, _ := data(v).([]any)
	switch {
	case same(d.value(old), yamlData(v)):
		return gap + string(d.src[max(colon, at.start):max(colon, at.end)]), at.end, nil
	case isBlock(old) && old.Kind == yaml.SequenceNode && len(items) > 0:
		gap = string(d.src[colon:lineEnd(d.src, d.lineStart(old)-1)])
		return gap + yamlItems(nl, spaces(old.Column-1), items), lineEnd(d.src, at.end), nil
	case isBlock(old):
		return " " + yamlFlow(v), lineEnd(d.src, at.end), nil
	case at.end <= colon: // nothing
		return " " + yamlFlow(v), colon, nil
	}
	if s, ok := v.(string); ok && old.Style&yaml.DoubleQuotedStyle != 0 {
		return gap + tomlString(s), at.end, nil
	}
	return gap + yamlFlow(v), at.end, nil
}

// add creates an entry, with its container if there is none. write returns its lines, each
// after a newline.
func (d *yamlDoc) add(p yamlPath, path []string, want any, write func(nl, indent string) string) (Edit, error) {
	var s splice
	nl, u := newlineOf(d.src), Undo{From: 1}
	for range len(path) - 1 {
		u.Made = append(u.Made, map[string]any{})
	}
	box := yamlString(path[0]) + ":" + write(nl, "  ")
	switch {
	case p.box != nil:
		u = Undo{From: len(path)}
		at := d.end(p.box, len(p.box.Content)-1)
		s = splice{at, at, write(nl, spaces(p.box.Column-1))}
	case p.key >= 0: // replacing null or an empty value
		colon := d.colon(d.root, p.key)
		end := max(colon, d.at[d.root.Content[p.key]].end)
		line := lineEnd(d.src, end)
		u.Holder = ":" + string(d.src[colon:end])
		s = splice{colon, line, string(d.src[end:line]) + write(nl, spaces(d.root.Column+1))}
	case d.root == nil:
		at := len(d.src)
		if u.Seeded = isBlank(d.src[d.body:]); u.Seeded {
			at, u.Text = d.body, string(d.src[d.body:])
		}
		if at == d.body || d.src[at-1] == '\n' {
			box += nl
		} else {
			box = nl + box
		}
		s = splice{at, len(d.src), box}
	case len(d.root.Content) == 0: // replacing braces
		at := d.at[d.root]
		u.Holder = string(d.src[at.start:at.end])
		s = splice{at.start, at.end, box}
	default:
		at, indent := d.end(d.root, len(d.root.Content)-1), spaces(d.root.Column-1)
		s = splice{at, at, nl + indent + yamlString(path[0]) + ":" + write(nl, indent+"  ")}
	}
	e, err := d.finish(applied(d.src, s), path, want)
	e.Undo = u
	return e, err
}

// finish parses the edited text and proves it.
func (d *yamlDoc) finish(out []byte, path []string, want any) (Edit, error) {
	after, err := parseYAML(out, d.body)
	if err != nil {
		return Edit{}, fmt.Errorf("%w: %w", errProof, err)
	}
	if err := proof(d.data, after.data, after, path, want); err != nil {
		return Edit{}, err
	}
	return newEdit(d.src, out, want, &Doc{out, d.body, after}), nil
}

func (d *yamlDoc) revert(path []string, u Undo) (Edit, error) {
	p, err := d.checkWay(path)
	if err != nil {
		return Edit{}, err
	}
	if u.Existed {
		return d.restore(p, path, u.Before)
	}
	if p.entry == nil {
		return Edit{Out: d.src, Undo: u}, nil
	}
	out := d.src
	alone := len(p.box.Content) == 1 || !p.list && len(p.box.Content) == 2
	var left Undo
	made := len(u.Made) > 0
	if end := d.end(d.root, p.key); alone && made && u.Holder == "" { // comments written by others stay
		start, behind := d.lineStart(key(p.box, p.k)), d.end(p.box, p.k)
		made = bytes.IndexByte(d.src[d.colon(d.root, p.key):start], '#') < 0 && bytes.IndexByte(d.src[behind:end], '#') < 0
	}
	empty := u.Holder // the container without the entry, from its colon on
	if !made && p.list {
		empty = ": []"
	} else if !made {
		empty = ": {}"
	}
	switch {
	case !alone:
		if out = applied(out, d.without(p.box, p.k)); made {
			left = u
		}
	case strings.HasPrefix(empty, ":"):
		out = applied(out, d.without(p.box, p.k))
		colon := d.colon(d.root, p.key)
		out = applied(out, splice{colon, colon, empty[1:]})
	case empty != "" && len(d.root.Content) == 2:
		out = applied(out, splice{d.at[d.root].start, d.end(d.root, 1), empty})
	default:
		out = applied(out, d.without(d.root, p.key))
	}
	if u.Seeded && isBlank(out[d.body:]) {
		out = applied(out, splice{d.body, len(out), u.Text})
	}
	e, err := d.finish(out, path, nil)
	e.Undo = left
	return e, err
}

// without returns the splice that removes the lines of a member or an item.
func (d *yamlDoc) without(n *yaml.Node, k int) splice {
	start, end := d.lineStart(key(n, k)), d.end(n, k)
	if end < len(d.src) {
		end = nextLine(d.src, end)
	} else if start > d.body {
		start = lineEnd(d.src, start-1)
	}
	return splice{start, end, ""}
}

// restore gives the entry its old lines, indented like the entries now.
func (d *yamlDoc) restore(p yamlPath, path []string, before string) (Edit, error) {
	old, err := parseYAML([]byte("x:\n"+before), 0)
	if err != nil {
		return Edit{}, fmt.Errorf("the entry's old text: %w", err)
	}
	v := old.data["x"]
	if items, ok := v.([]any); ok && p.list && len(items) == 1 {
		v = map[string]any{path[2]: items[0]}
	}
	m, _ := v.(map[string]any)
	want, ok := m[path[len(path)-1]].(map[string]any)
	if !ok || len(m) > 1 || p.list && want["name"] != path[2] {
		return Edit{}, fmt.Errorf("the entry's old text does not hold the entry")
	}
	write := func(nl, indent string) string {
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(before, "\r\n", "\n"), "\n"), "\n")
		was := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
		for i, line := range lines {
			if rest, ok := strings.CutPrefix(line, was); ok && line != "" {
				lines[i] = indent + rest
			}
		}
		return nl + strings.Join(lines, nl)
	}
	if p.entry == nil {
		return d.add(p, path, want, write)
	}
	start, end := d.lineStart(key(p.box, p.k)), d.end(p.box, p.k)
	nl := newlineOf(outside(d.src, start, end))
	s := splice{start, end, write(nl, spaces(p.box.Column-1))[len(nl):]}
	return d.finish(applied(d.src, s), path, want)
}

// yamlMember returns a name with its value, each line after a newline.
func yamlMember(nl, indent, unit, name string, v any) string {
	head := nl + indent + yamlString(name) + ":"
	v = writable(v)
	o, _ := v.(Object)
	for _, f := range o {
		head += yamlMember(nl, indent+unit, unit, f.Name, f.Value)
	}
	items, _ := v.([]any)
	switch {
	case len(o) > 0:
		return head
	case len(items) > 0:
		return head + yamlItems(nl, indent+"  ", items)
	}
	return head + " " + yamlFlow(v)
}

func yamlItems(nl, indent string, items []any) (text string) {
	for _, v := range items {
		text += nl + indent + "- " + yamlFlow(v)
	}
	return text
}

// yamlFlow returns a value on one line.
func yamlFlow(v any) string {
	l := oneLine
	l.colon = ": "
	return writer{yamlString, yamlString, yamlOther, l}.value(v, "")
}

func yamlOther(v any) any {
	if l, ok := v.(Literal); ok {
		return strings.NewReplacer("nan", ".nan", "inf", ".inf").Replace(string(l))
	}
	return plainOther(v)
}

var (
	// yamlPlain matches strings that need no quotes anywhere.
	yamlPlain = lazy.Regexp(`^-{0,2}[A-Za-z/]([A-Za-z0-9_./@+=:-]*[A-Za-z0-9_./@+=-])?$`)
	yamlWords = lazy.Regexp(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// yamlString returns a string, unquoted if every version of YAML reads it as a string.
func yamlString(s string) string {
	if yamlPlain().MatchString(s) && !yamlWords().MatchString(s) {
		return s
	}
	return tomlString(s)
}

// yamlData returns a value to be written as it will be read.
func yamlData(v any) any {
	var got any
	if err := yaml.Unmarshal([]byte(yamlFlow(v)), &got); err != nil {
		return err
	}
	return data(got)
}
