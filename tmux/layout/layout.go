// Package layout reads and writes tmux's layouts: how the panes of a window are arranged.
//
// A layout is a name, such as [Tiled], or a text such as the value of the token window_layout,
// which [Parse] turns into cells and [Cell.Layout] back into text:
//
//	cell, err := layout.Parse(window.Layout)
//
// Only what tmux survives is accepted: 3.3 and 3.7 do not survive every malformed layout.
// Package tmux checks every layout with it before it is sent.
package layout

import (
	"encoding/json"
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

// Named reports whether the layout is a named one in any version.
func (l Layout) Named() bool {
	return slices.Contains([]Layout{EvenHorizontal, EvenVertical, MainHorizontal, MainHorizontalMirrored, MainVertical, MainVerticalMirrored, Tiled}, l)
}

// Cell is a cell of a custom layout: a pane, or a row or column of cells.
type Cell struct {
	// Kind is 'p' for a pane, 'h' for cells side by side, 'v' for cells one above the
	// other.
	Kind          byte
	Width, Height int
	X, Y          int // of the upper left corner, within the window
	// Pane is the number in the pane's id, or -1 if the layout has none.
	Pane  int
	Cells []Cell

	floating bool
}

// maxSize is the largest width or height of a window, PANE_MAXIMUM in tmux's source.
const maxSize = 10000

// Parse parses a custom layout, in tmux's old form (a checksum, then
// "80x24,0,0{40x24,0,0,0,39x24,41,0,1}") or the JSON of tmux 3.8. Anything else is
// an error, including a named layout.
func Parse(l Layout) (Cell, error) {
	if l.Named() {
		return Cell{}, fmt.Errorf("layout %q: a named layout, whose cells tmux makes for the panes that a window has", l)
	}
	parse := parseOld
	if strings.HasPrefix(string(l), "{") {
		parse = parseJSON
	}
	root, err := parse(string(l))
	if err != nil {
		return Cell{}, fmt.Errorf("layout %q: %w", abbreviate(string(l)), err)
	}
	return root, nil
}

// Panes returns the number of panes in the cell.
func (c Cell) Panes() int {
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
func (c Cell) Layout() Layout {
	var b strings.Builder
	c.write(&b)
	return Layout(fmt.Sprintf("%04x,%s", checksum(b.String()), b.String()))
}

// Classic returns the layout in the old form, which every tmux reads. A layout that is
// invalid or has floating panes, which only JSON can express, is returned unchanged.
func (l Layout) Classic() Layout {
	if !strings.HasPrefix(string(l), "{") {
		return l
	}
	root, err := Parse(l)
	if err != nil || root.Panes() != root.tiled().Panes() {
		return l
	}
	return root.Layout()
}

func (c Cell) write(b *strings.Builder) {
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
func (c Cell) tiled() Cell {
	cells := make([]Cell, 0, len(c.Cells))
	for _, child := range c.Cells {
		if !child.floating {
			cells = append(cells, child.tiled())
		}
	}
	c.Cells = cells
	return c
}

func checksum(s string) uint16 {
	var sum uint16
	for _, c := range []byte(s) {
		sum = sum>>1 + sum&1<<15 + uint16(c)
	}
	return sum
}

// fits checks what tmux checks once it has made the cells: the children of a cell fill it,
// with a line between two. The outermost cell may be wrong, as older versions wrote it;
// tmux corrects that.
func (c Cell) fits(outermost bool) error {
	if c.Width < 1 || c.Height < 1 || c.Width > maxSize || c.Height > maxSize {
		return fmt.Errorf("a cell of %dx%d; sizes are from 1 to %d", c.Width, c.Height, maxSize)
	}
	if c.Kind == 'p' {
		return nil
	}
	// The cells are in a row along one side of c and as long as the other.
	sides := func(cell Cell) (along, across int) {
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
	if sum > maxSize || !outermost && sum != want {
		return fmt.Errorf("cells that add up to %d in one of %dx%d", sum, c.Width, c.Height)
	}
	return nil
}

func parseOld(s string) (Cell, error) {
	sum, body, ok := strings.Cut(s, ",")
	want, err := strconv.ParseUint(sum, 16, 16)
	if !ok || len(sum) != 4 || err != nil {
		return Cell{}, fmt.Errorf("neither a named layout nor four hexadecimal digits and a comma before a custom one")
	}
	if have := checksum(body); have != uint16(want) {
		return Cell{}, fmt.Errorf("checksum %s, which is not the text's own %04x", sum, have)
	}
	root, rest, err := cutOldCell(body, 0)
	if err == nil && strings.HasPrefix(rest, "<") {
		err = fmt.Errorf("floating panes, %s: tmux 3.7 prints them so, and does not read them", abbreviate(rest))
	} else if err == nil && rest != "" {
		err = fmt.Errorf("%q after its end", abbreviate(rest))
	}
	if err == nil {
		err = root.fits(true)
	}
	return root, err
}

// maxDepth bounds the parsers' recursion, and tmux's.
const maxDepth = 100

var (
	// oldCell matches the size and position of a cell, of as many digits as an int has room
	// for.
	oldCell = lazy.Regexp(`^(\d{1,9})x(\d{1,9}),(\d{1,9}),(\d{1,9})`)
	// oldPane matches a pane's id, unlike the size of the next cell.
	oldPane = lazy.Regexp(`^,(\d{1,9})(?:[^x\d]|$)`)
)

// cutOldCell parses the cell that s begins with, and returns what follows it.
func cutOldCell(s string, depth int) (c Cell, rest string, err error) {
	c = Cell{Kind: 'p', Pane: -1}
	if depth > maxDepth {
		return c, s, fmt.Errorf("cells more than %d deep", maxDepth)
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
		var child Cell
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
	ID     *string     `json:"I"` // of a pane
}

func parseJSON(s string) (Cell, error) {
	var top struct {
		Version int       `json:"V"`
		Root    *jsonCell `json:"L"`
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(&top); err != nil {
		return Cell{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Cell{}, fmt.Errorf("text after its end")
	}
	if top.Version != 2 || top.Root == nil {
		return Cell{}, fmt.Errorf("neither version 2 nor a cell in it")
	}
	root, err := top.Root.cell(0)
	if err != nil {
		return root, err
	}
	// Floating panes are listed among the others but take no room from them.
	return root, root.tiled().fits(true)
}

func (j *jsonCell) cell(depth int) (Cell, error) {
	c := Cell{Pane: -1}
	if depth > maxDepth {
		return c, fmt.Errorf("cells more than %d deep", maxDepth)
	}
	if j == nil || j.Width == nil || j.Height == nil || j.X == nil || j.Y == nil {
		return c, fmt.Errorf("a cell without one of w, h, x and y")
	}
	if !slices.Contains([]string{"h", "v", "p"}, j.Type) || (j.Type == "p") != (len(j.Cells) == 0) {
		return c, fmt.Errorf("a cell of type %q with %d cells in it", j.Type, len(j.Cells))
	}
	c.Kind, c.Width, c.Height, c.X, c.Y = j.Type[0], *j.Width, *j.Height, *j.X, *j.Y
	if j.ID != nil {
		n, err := strconv.ParseUint(strings.TrimPrefix(*j.ID, "%"), 10, 31)
		if err != nil || *j.ID != fmt.Sprint("%", n) {
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

func abbreviate(s string) string {
	if len(s) > 30 {
		return s[:30] + "…"
	}
	return s
}
