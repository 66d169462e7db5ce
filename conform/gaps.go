package conform

import (
	"io/fs"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

type (
	// Gap is one gap: a claim about tmux, and the scripts that look at it.
	Gap = gap.Gap
	// Tool is what the scripts of layer mcp use of a tool.
	Tool = gap.Tool
	// Dialect maps the names that scripts use for tools, parameters and results to a server's
	// own. The nil Dialect changes nothing.
	Dialect = gap.Dialect
)

// AllSuites is the name that stands for all suites.
const AllSuites = gap.AllSuites

// LoadGaps reads the gaps of a directory, in the order of their numbers.
func LoadGaps(fsys fs.FS) ([]*Gap, error) { return gap.Load(fsys) }

// LoadSuites reads the scripts of the suites with these names.
func LoadSuites(names ...string) ([]*Gap, error) { return gap.LoadSuites(names...) }

// ClaimsOf returns how many claims each of these gaps has for a layer.
func ClaimsOf(gaps []*Gap) map[int]map[report.Layer]int { return gap.ClaimsOf(gaps) }

// Tools returns the tools that the scripts of gaps call, by their names in scripts.
func Tools(gaps []*Gap) map[string]*Tool { return gap.Tools(gaps) }

// Dialects returns the built-in dialects.
func Dialects() ([]*Dialect, error) { return gap.Dialects() }

// ParseDialect reads a dialect's file.
func ParseDialect(file string, text []byte) (*Dialect, error) { return gap.ParseDialect(file, text) }

// NewerThanKnown returns the newest version that the scripts were written for, and whether the
// given one is newer than that.
func NewerThanKnown(version string) (known string, newer bool) { return gap.NewerThanKnown(version) }
