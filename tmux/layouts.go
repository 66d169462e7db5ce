package tmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/internal/lazy"
)

// Layout is an arrangement of the panes of a window: one of the named layouts, or a custom
// one such as the value of the token window_layout.
type Layout string

// The named layouts. The mirrored ones need tmux 3.5.
const (
	EvenHorizontal         Layout = "even-horizontal"
	EvenVertical           Layout = "even-vertical"
	MainHorizontal         Layout = "main-horizontal"
	MainHorizontalMirrored Layout = "main-horizontal-mirrored"
	MainVertical           Layout = "main-vertical"
	MainVerticalMirrored   Layout = "main-vertical-mirrored"
	Tiled                  Layout = "tiled"
)

// namedLayouts maps the named layouts to the versions that introduced them.
var namedLayouts = map[Layout]Version{
	EvenHorizontal: {}, EvenVertical: {}, MainHorizontal: {}, MainVertical: {}, Tiled: {},
	MainHorizontalMirrored: MirroredLayouts.Since, MainVerticalMirrored: MirroredLayouts.Since,
}

// Named reports whether the layout is a named one in any version.
func (l Layout) Named() bool {
	_, named := namedLayouts[l]
	return named
}

// SelectLayout arranges the panes of a window. Layouts are validated before tmux sees them:
// 3.3 and 3.7 do not survive every malformed one.
type SelectLayout struct {
	Target   Target `flag:"t"` // a pane or window
	Spread   bool   `flag:"E"` // instead: even out the panes beside the target
	Next     bool   `flag:"n"` // as [NextLayout]
	Previous bool   `flag:"p"` // as [PreviousLayout]
	Undo     bool   `flag:"o"` // instead: undo the last layout change
	// Layout is the layout; empty means the window's last named layout.
	Layout Layout `arg:""`
}

// NextLayout arranges the panes of a window in the next named layout.
type NextLayout struct {
	Target Target `flag:"t"`
}

// PreviousLayout arranges the panes of a window in the previous named layout.
type PreviousLayout struct {
	Target Target `flag:"t"`
}

func (SelectLayout) CommandName() string   { return "select-layout" }
func (NextLayout) CommandName() string     { return "next-layout" }
func (PreviousLayout) CommandName() string { return "previous-layout" }

func (c SelectLayout) check(version func() (Version, error)) error {
	if c.Layout == "" {
		return nil
	}
	var since Version
	if v, named := namedLayouts[c.Layout]; named {
		since = v
	} else {
		if _, err := ParseLayout(c.Layout); err != nil {
			return err
		}
		if c.Layout[0] == '{' {
			since = JSONLayouts.Since
		}
	}
	return need(version, "layout "+abbreviate(string(c.Layout)), since, Version{})
}

func abbreviate(s string) string {
	if len(s) > 30 {
		return s[:30] + "…"
	}
	return s
}

// LayoutCell is a cell of a custom layout: a pane, or a row or column of cells.
type LayoutCell struct {
	// Kind is 'p' for a pane, 'h' for cells side by side, 'v' for cells one above the
	// other.
	Kind          byte
	Width, Height int
	X, Y          int // of the upper left corner, within the window
	// Pane is the number in the pane's id, or -1 if the layout has none.
	Pane  int
	Cells []LayoutCell

	floating bool
}

// maxLayoutSize is the largest width or height of a window, PANE_MAXIMUM in tmux's source.
const maxLayoutSize = 10000

// ParseLayout parses a custom layout, in tmux's old form (a checksum, then
// "80x24,0,0{40x24,0,0,0,39x24,41,0,1}") or the JSON of tmux 3.8. It fails with
// [ErrArgument] for anything else, including a named layout.
func ParseLayout(l Layout) (LayoutCell, error) {
	parse := parseOldLayout
	if strings.HasPrefix(string(l), "{") {
		parse = parseJSONLayout
	}
	root, err := parse(string(l))
	if err != nil {
		return LayoutCell{}, argumentError("layout %q: %v", abbreviate(string(l)), err)
	}
	return root, nil
}

// Panes returns the number of panes in the cell.
func (c LayoutCell) Panes() int {
	if c.Kind == 'p' {
		return 1
	}
	n := 0
	for _, child := range c.Cells {
		n += child.Panes()
	}
	return n
}

// Layout returns the cell in the old form, which every tmux reads.
func (c LayoutCell) Layout() Layout {
	var b strings.Builder
	c.write(&b)
	return Layout(fmt.Sprintf("%04x,%s", layoutChecksum(b.String()), b.String()))
}

// Classic returns the layout in the old form, which every tmux reads. A layout that is
// invalid or has floating panes, which only JSON can express, is returned unchanged.
func (l Layout) Classic() Layout {
	if !strings.HasPrefix(string(l), "{") {
		return l
	}
	root, err := ParseLayout(l)
	if err != nil || root.Panes() != root.tiled().Panes() {
		return l
	}
	return root.Layout()
}

func (c LayoutCell) write(b *strings.Builder) {
	fmt.Fprintf(b, "%dx%d,%d,%d", c.Width, c.Height, c.X, c.Y)
	if c.Kind == 'p' {
		fmt.Fprintf(b, ",%d", max(c.Pane, 0))
		return
	}
	brackets := "{}"
	if c.Kind == 'v' {
		brackets = "[]"
	}
	b.WriteByte(brackets[0])
	for i, child := range c.Cells {
		if i > 0 {
			b.WriteByte(',')
		}
		child.write(b)
	}
	b.WriteByte(brackets[1])
}

// tiled returns the cell without floating panes.
func (c LayoutCell) tiled() LayoutCell {
	cells := make([]LayoutCell, 0, len(c.Cells))
	for _, child := range c.Cells {
		if !child.floating {
			cells = append(cells, child.tiled())
		}
	}
	c.Cells = cells
	return c
}

func layoutChecksum(s string) uint16 {
	var sum uint16
	for _, c := range []byte(s) {
		sum = sum>>1 + sum&1<<15 + uint16(c)
	}
	return sum
}

// fits checks what tmux checks once it has made the cells: the children of a cell fill it,
// with a line between two. The outermost cell may be wrong, as older versions wrote it;
// tmux corrects that.
func (c LayoutCell) fits(outermost bool) error {
	if c.Width < 1 || c.Height < 1 || c.Width > maxLayoutSize || c.Height > maxLayoutSize {
		return fmt.Errorf("a cell of %dx%d; sizes are from 1 to %d", c.Width, c.Height, maxLayoutSize)
	}
	if c.Kind == 'p' {
		return nil
	}
	// The cells are in a row along one side of c and as long as the other.
	sides := func(cell LayoutCell) (along, across int) {
		if c.Kind == 'v' {
			return cell.Height, cell.Width
		}
		return cell.Width, cell.Height
	}
	want, length := sides(c)
	if outermost && len(c.Cells) > 0 {
		_, length = sides(c.Cells[0])
	}
	sum := -1
	for _, child := range c.Cells {
		if err := child.fits(false); err != nil {
			return err
		}
		along, across := sides(child)
		if across != length {
			return fmt.Errorf("a cell of %dx%d among cells of another size", child.Width, child.Height)
		}
		sum += along + 1
	}
	if sum > maxLayoutSize || !outermost && sum != want {
		return fmt.Errorf("cells that add up to %d in one of %dx%d", sum, c.Width, c.Height)
	}
	return nil
}

func parseOldLayout(s string) (LayoutCell, error) {
	sum, body, ok := strings.Cut(s, ",")
	want, err := strconv.ParseUint(sum, 16, 16)
	if !ok || len(sum) != 4 || err != nil {
		return LayoutCell{}, fmt.Errorf("neither a named layout nor four hexadecimal digits and a comma before a custom one")
	}
	if have := layoutChecksum(body); have != uint16(want) {
		return LayoutCell{}, fmt.Errorf("checksum %s, which is not the text's own %04x", sum, have)
	}
	root, rest, err := cutOldCell(body, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q after its end", abbreviate(rest))
	}
	if err == nil {
		err = root.fits(true)
	}
	return root, err
}

// maxLayoutDepth bounds the parsers' recursion, and tmux's.
const maxLayoutDepth = 100

var (
	// oldCell matches the size and position of a cell, of as many digits as an int has room
	// for.
	oldCell = lazy.Regexp(`^(\d{1,9})x(\d{1,9}),(\d{1,9}),(\d{1,9})`)
	// oldPane matches a pane's id, unlike the size of the next cell.
	oldPane = lazy.Regexp(`^,(\d{1,9})(?:[^x\d]|$)`)
)

// cutOldCell parses the cell that s begins with, and returns what follows it.
func cutOldCell(s string, depth int) (c LayoutCell, rest string, err error) {
	c = LayoutCell{Kind: 'p', Pane: -1}
	if depth > maxLayoutDepth {
		return c, s, fmt.Errorf("cells more than %d deep", maxLayoutDepth)
	}
	m := oldCell().FindStringSubmatch(s)
	if m == nil {
		return c, s, fmt.Errorf("no cell such as 80x24,0,0 before %q", abbreviate(s))
	}
	for i, field := range []*int{&c.Width, &c.Height, &c.X, &c.Y} {
		*field, _ = strconv.Atoi(m[i+1])
	}
	rest = s[len(m[0]):]
	if m := oldPane().FindStringSubmatch(rest); m != nil {
		c.Pane, _ = strconv.Atoi(m[1])
		return c, rest[len(",")+len(m[1]):], nil
	}
	end := "}"
	switch {
	case strings.HasPrefix(rest, "{"):
		c.Kind = 'h'
	case strings.HasPrefix(rest, "["):
		c.Kind, end = 'v', "]"
	default:
		return c, rest, nil
	}
	for {
		var child LayoutCell
		// After the bracket or the comma.
		if child, rest, err = cutOldCell(rest[1:], depth+1); err != nil {
			return c, rest, err
		}
		c.Cells = append(c.Cells, child)
		switch {
		case strings.HasPrefix(rest, end):
			return c, rest[1:], nil
		case !strings.HasPrefix(rest, ","):
			return c, rest, fmt.Errorf("no %q before %q", end, abbreviate(rest))
		}
	}
}

// jsonCell is a cell as tmux 3.8 writes it.
type jsonCell struct {
	Type   string      `json:"t"`
	Width  *int        `json:"w"`
	Height *int        `json:"h"`
	X      *int        `json:"x"`
	Y      *int        `json:"y"`
	Cells  []*jsonCell `json:"c"`
	Active *bool       `json:"a"`
	Last   *int        `json:"l"` // rank among the last active panes
	Index  *int        `json:"i"`
	Z      *int        `json:"z"` // of a floating pane
	ID     *PaneID     `json:"I"`
}

func parseJSONLayout(s string) (LayoutCell, error) {
	var top struct {
		Version int       `json:"V"`
		Root    *jsonCell `json:"L"`
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(&top); err != nil {
		return LayoutCell{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return LayoutCell{}, fmt.Errorf("text after its end")
	}
	if top.Version != 2 || top.Root == nil {
		return LayoutCell{}, fmt.Errorf("neither version 2 nor a cell in it")
	}
	root, err := top.Root.cell(0)
	if err != nil {
		return root, err
	}
	// Floating panes are listed among the others but take no room from them.
	return root, root.tiled().fits(true)
}

func (j *jsonCell) cell(depth int) (LayoutCell, error) {
	c := LayoutCell{Pane: -1}
	if depth > maxLayoutDepth {
		return c, fmt.Errorf("cells more than %d deep", maxLayoutDepth)
	}
	if j == nil || j.Width == nil || j.Height == nil || j.X == nil || j.Y == nil {
		return c, fmt.Errorf("a cell without one of w, h, x and y")
	}
	if !slices.Contains([]string{"h", "v", "p"}, j.Type) || (j.Type == "p") != (len(j.Cells) == 0) {
		return c, fmt.Errorf("a cell of type %q with %d cells in it", j.Type, len(j.Cells))
	}
	c.Kind, c.Width, c.Height, c.X, c.Y = j.Type[0], *j.Width, *j.Height, *j.X, *j.Y
	if j.ID != nil {
		n, err := strconv.ParseUint(strings.TrimPrefix(string(*j.ID), "%"), 10, 31)
		if err != nil || !j.ID.Valid() {
			return c, fmt.Errorf("pane id %q", *j.ID)
		}
		c.Pane = int(n)
	}
	c.floating = j.Z != nil
	for _, child := range j.Cells {
		cell, err := child.cell(depth + 1)
		if err != nil {
			return c, err
		}
		c.Cells = append(c.Cells, cell)
	}
	return c, nil
}

// SelectLayout arranges the window's panes. It fails if a custom layout and the window have
// different numbers of panes, because tmux would drop cells.
func (r WindowRef) SelectLayout(ctx context.Context, layout Layout) (Window, error) {
	cmd := SelectLayout{Target: r, Layout: layout}
	if layout.Named() || layout == "" {
		return after[Window](ctx, r.srv, cmd, r.self())
	}
	root, err := ParseLayout(layout)
	if err != nil {
		return Window{}, err
	}
	var b Batch
	before := AddRows[Window](&b, r.self())
	Add(&b, Require{Target: r, Condition: MatchEqual("window_panes", strconv.Itoa(root.Panes()))})
	Add(&b, cmd)
	rows := AddRows[Window](&b, r.self())
	if err = b.Do(ctx, r.srv); errors.Is(err, ErrUnmet) && len(*before) > 0 {
		err = argumentError("a layout of %d panes for window %s, which has %d", root.Panes(), r.ID, (*before)[0].PaneCount)
	}
	return first(r.srv, *rows, err, r.self(), Object{"window", string(r.ID)})
}

// UndoLayout undoes the last change of the window's layout.
func (r WindowRef) UndoLayout(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, SelectLayout{Target: r, Undo: true}, r.self())
}

// SpreadPanes makes the pane and its neighbours the same size.
func (r PaneRef) SpreadPanes(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, SelectLayout{Target: r, Spread: true},
		ListWindows{Target: r, Filter: "#{window_active}"})
}
