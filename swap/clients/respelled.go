package clients

import (
	"slices"

	"tmuxmcp/swap/format"
)

// A respelling is another name that a client takes for one of its settings.
type respelling struct {
	Name string
	Of   []string // the path of the setting
}

type respellings []respelling

// In returns the path of a setting, or of what is in it, as a file spells it. Of two
// spellings, the last counts.
func (all respellings) In(doc *format.Doc, path []string) []string {
	names, _ := doc.Names(nil)
	for _, r := range all {
		n := len(r.Of)
		if len(path) < n || !slices.Equal(path[:n], r.Of) {
			continue
		}
		if slices.Index(names, r.Name) > slices.Index(names, path[0]) {
			return append([]string{r.Name}, path[n:]...)
		}
	}
	return path
}
