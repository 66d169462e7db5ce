package format

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

type tomlDoc struct {
	src   []byte
	body  int // where the text starts, after a byte order mark
	items []tomlItem
	data  map[string]any
}

// tomlItem is a header or a key with its value; members of inline tables are items too.
type tomlItem struct {
	path       []string // from the root
	header     bool     // [path] or [[path]]
	array      bool     // [[path]]
	start, end int      // from the bracket or the key to after the bracket or the value
	keys       []span   // the text of each part of the key: the last len(keys) names of path
	value      int      // where the value starts
	section    int      // the item of the header that it is under, or -1
	table      *object  // an inline table's members
	parent     int      // the item of the inline table that it is in, or -1
	index      int      // its position there
}

type span struct{ start, end int }

// base returns how many names of the path come from headers and inline tables around it.
func (it tomlItem) base() int { return len(it.path) - len(it.keys) }

func parseTOML(src []byte, body int) (*tomlDoc, error) {
	d := &tomlDoc{src: src, body: body}
	if err := toml.Unmarshal(src[body:], &d.data); err != nil {
		msg, offset := strings.TrimPrefix(err.Error(), "toml: "), body
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, column := de.Position()
			offset = byteOffset(src, body, line, column)
		}
		return nil, syntaxError(src, offset, msg)
	}
	d.data, _ = data(d.data).(map[string]any)
	return d, d.scan()
}

// scan finds the ranges of all items.
func (d *tomlDoc) scan() error {
	var p unstable.Parser
	p.Reset(d.src[d.body:])
	section := -1
	var prefix []string
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.KeyValue {
			d.pair(n, prefix, section, -1, 0)
			continue
		}
		it := tomlItem{header: true, array: n.Kind == unstable.ArrayTable, section: -1, parent: -1}
		it.path, it.keys = d.key(n, nil)
		// The nodes of headers have no range: it is derived from the keys.
		open, end := it.keys[0].start, it.keys[len(it.keys)-1].end
		for d.src[open] != '[' {
			open--
		}
		for d.src[end] != ']' {
			end++
		}
		it.start, it.end = open, end+1
		if it.array {
			it.start, it.end = open-1, end+2
		}
		section, prefix = len(d.items), it.path
		d.items = append(d.items, it)
	}
	return p.Error()
}

func (d *tomlDoc) key(n *unstable.Node, prefix []string) (path []string, keys []span) {
	path = slices.Clone(prefix)
	for it := n.Key(); it.Next(); {
		k := it.Node()
		path = append(path, string(k.Data))
		start := d.body + int(k.Raw.Offset)
		keys = append(keys, span{start, start + int(k.Raw.Length)})
	}
	return path, keys
}

// pair adds the item of a key with its value, and the items of an inline table's members.
func (d *tomlDoc) pair(n *unstable.Node, prefix []string, section, parent, index int) tomlItem {
	it := tomlItem{section: section, parent: parent, index: index}
	it.path, it.keys = d.key(n, prefix)
	it.start = d.body + int(n.Raw.Offset)
	it.end = it.start + int(n.Raw.Length)
	it.value = it.keys[len(it.keys)-1].end
	it.value += bytes.IndexByte(d.src[it.value:], '=') + 1
	it.value += len(d.src[it.value:]) - len(bytes.TrimLeft(d.src[it.value:], " \t"))
	self := len(d.items)
	d.items = append(d.items, it)
	if n.Value().Kind != unstable.InlineTable {
		return it
	}
	o := object{start: it.value, end: it.end, hash: true}
	for c := n.Value().Children(); c.Next(); {
		if c.Node().Kind != unstable.KeyValue {
			continue
		}
		x := d.pair(c.Node(), it.path, section, self, len(o.members))
		m := member{name: x.path[x.base()], nameStart: x.start, key: x.keys[len(x.keys)-1].end, start: x.value, end: x.end, comma: -1}
		if i := skipBlank(d.src, m.end, true); d.src[i] == ',' {
			m.comma = i
		}
		o.members = append(o.members, m)
	}
	d.items[self].table = &o
	return it
}

func under(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// find returns the item that is a key with exactly this path, or -1.
func (d *tomlDoc) find(path []string) int {
	return slices.IndexFunc(d.items, func(it tomlItem) bool { return !it.header && slices.Equal(it.path, path) })
}

// piece is a part of the text that belongs to a single path: a header with the lines of the
// keys under it, or a key with its value.
type piece struct {
	item       int
	start, end int
	value      int    // where a key's value starts, or the header
	id         string // the same for the same piece of another text
}

// pieces returns what the text contains for path and everything below it, in order.
func (d *tomlDoc) pieces(path []string) []piece {
	var all []piece
	seen := map[string]int{}
	for i, it := range d.items {
		if !under(it.path, path) || it.section >= 0 && under(d.items[it.section].path, path) {
			continue
		}
		if it.parent >= 0 && under(d.items[it.parent].path, path) {
			continue
		}
		p := piece{i, it.start, it.end, it.value, "="}
		if it.header {
			p = piece{i, it.start, lineEnd(d.src, d.sectionEnd(i)), it.start, "["}
		}
		p.id += strings.Join(it.path, "\x00")
		seen[p.id]++
		p.id += strings.Repeat("\x00", seen[p.id])
		all = append(all, p)
	}
	return all
}

// sectionEnd returns the end of the last key under a header, or of the header.
func (d *tomlDoc) sectionEnd(header int) int {
	end := d.items[header].end
	for _, it := range d.items {
		if it.section == header {
			end = max(end, it.end)
		}
	}
	return end
}

// check returns an error if a value on the path, or at its end, is not a table.
func (d *tomlDoc) check(path []string) error {
	for n := range len(path) + 1 {
		v, ok := dig(d.data, path[:n])
		if !ok {
			return nil
		}
		if _, isTable := v.(map[string]any); isTable {
			continue
		}
		i := slices.IndexFunc(d.items, func(it tomlItem) bool { return under(it.path, path[:n]) })
		return typeError(d.src, d.items[i].start, path[:n], "a table", v)
	}
	return nil
}

func (d *tomlDoc) lookup(container []string, name string) (Entry, error) {
	path := join(container, name)
	if err := d.check(path); err != nil {
		return Entry{}, err
	}
	v, ok := dig(d.data, path)
	if !ok {
		return Entry{}, nil
	}
	all := d.pieces(path)
	return Entry{Found: true, Value: v.(map[string]any), Start: all[0].start, End: all[len(all)-1].end}, nil
}

func (d *tomlDoc) get(path []string) (any, bool) { return dig(d.data, path) }

func (d *tomlDoc) names(container []string) ([]string, error) {
	if err := d.check(container); err != nil {
		return nil, err
	}
	var names []string
	for _, it := range d.items {
		if n := len(container); under(it.path, container) && len(it.path) > n && !slices.Contains(names, it.path[n]) {
			names = append(names, it.path[n])
		}
	}
	return names, nil
}
