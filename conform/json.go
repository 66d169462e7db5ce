package conform

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report as JSON. The names of its fields are those of
// [Report]'s tags.
func WriteJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
