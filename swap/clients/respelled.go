package clients

import (
	"encoding/json"
	"slices"

	"tmuxmcp/swap/format"
)

// A respelling is another name that a client takes for one of its settings.
type respelling struct {
	Name string
	Of   []string // the path of the setting
	// Before is set if it is an old name, which the client replaces when it starts: it counts
	// in files whose $version is lower, and then more than the setting.
	Before float64
}

type respellings []respelling

// In returns the path of a setting, or of what is in it, as a file spells it. Of two
// spellings, the last counts.
func (all respellings) In(doc *format.Doc, path []string) []string {
	names, _ := doc.Names(nil)
	for _, r := range all {
		n := len(r.Of)
		if len(path) < n || !slices.Equal(path[:n], r.Of) || !slices.Contains(names, r.Name) {
			continue
		}
		later := slices.Index(names, r.Name) > slices.Index(names, path[0])
		if r.Before == 0 && later || r.Before > version(doc) {
			return append([]string{r.Name}, path[n:]...)
		}
	}
	return path
}

// version returns the $version of a file; 0 if it has none.
func version(doc *format.Doc) float64 {
	v, _ := doc.Get("$version")
	number, _ := v.(json.Number)
	f, _ := number.Float64()
	return f
}
