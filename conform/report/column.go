package report

import (
	"fmt"
	"strings"
)

// BuiltIn is the name of package tmux among the wrappers of layer api.
const BuiltIn = "go"

// API is a wrapper that layer api asked.
type API struct {
	// Name is the one that was given, or what the wrapper says of itself.
	Name string `json:"name"`
	// Command is the shell command of its adapter; empty for package tmux.
	Command   string     `json:"command,omitempty"`
	Described *Described `json:"described,omitempty"`
}

// Described is what an adapter says of itself.
type Described struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Language string `json:"language,omitempty"`
	URL      string `json:"url,omitempty"`
	Issues   string `json:"issues,omitempty"`
}

// String returns the wrapper's name and version.
func (d Described) String() string { return strings.TrimSpace(d.Name + " " + d.Version) }

// Column is what reports show of each tmux beside the others: a layer, or one wrapper of layer
// api.
type Column struct {
	Layer Layer
	// API is the wrapper's name; empty for the layer as a whole.
	API string
	// Letter stands above its glyphs.
	Letter string
	label  string
}

// letters stand for the wrappers of layer api; t and m stand for the other layers.
const letters = "abcdefghijklnopqrsuvwxyz"

// Columns returns the columns of the report, in their order.
func (r *Report) Columns() (all []Column) {
	for _, l := range r.Layers {
		if l != APILayer || goOnly(r) {
			all = append(all, Column{Layer: l, Letter: layers[l].letter, label: string(l)})
			continue
		}
		for i, a := range r.APIs {
			i %= len(letters)
			all = append(all, Column{Layer: l, API: a.Name, Letter: letters[i : i+1], label: a.label()})
		}
	}
	return all
}

// goOnly reports whether layer api asked no wrapper but package tmux.
func goOnly(r *Report) bool {
	return len(r.APIs) == 0 || len(r.APIs) == 1 && r.APIs[0].Name == BuiltIn
}

func (in Column) has(c *Cell) bool { return c.Layer == in.Layer && (in.API == "" || in.API == c.API) }

// String returns the name of the column.
func (in Column) String() string { return in.label }

// label returns the name that reports show.
func (a API) label() string {
	if a.Name == BuiltIn {
		return "package tmux"
	}
	return a.Name
}

// Question returns what the column asks.
func (in Column) Question() string {
	if in.API == "" || in.API == BuiltIn {
		return layers[in.Layer].question
	}
	return fmt.Sprintf("is the gap closed in %s?", in.label)
}

// foreign returns the columns of wrappers and servers that are not this module's.
func foreign(r *Report) (all []Column) {
	for _, in := range r.Columns() {
		if in.API != "" && in.API != BuiltIn || in.Layer == MCPLayer && r.Server != "" {
			all = append(all, in)
		}
	}
	return all
}

// apiOf returns the wrapper of a name; nil if there is none.
func apiOf(r *Report, name string) *API {
	return first(r.APIs, func(a *API) bool { return a.Name == name })
}

// heading returns the wrapper's name and how it was asked: "libtmux 0.62.0 (python; python3
// adapter.py)".
func (a API) heading() string {
	var parts []string
	if a.Described != nil && a.Described.Language != "" {
		parts = append(parts, a.Described.Language)
	}
	if a.Command != "" {
		parts = append(parts, a.Command)
	}
	if len(parts) == 0 {
		return a.label()
	}
	return fmt.Sprintf("%s (%s)", a.label(), strings.Join(parts, "; "))
}

// Place returns the layer of a cell, with the wrapper's name behind it if that is not this
// module's: "api, libtmux 0.62.0".
func (c *Cell) Place() string {
	return strings.TrimSuffix(string(c.Layer)+", "+c.wrapper(), ", ")
}

// anchor returns the name of the cell's place in a page.
func (c *Cell) anchor() string {
	return strings.ReplaceAll(fmt.Sprintf("gap-%d-%s-%s", c.Gap, c.Tmux, strings.ReplaceAll(c.Place(), ", ", "-")), " ", "-")
}
