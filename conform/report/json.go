package report

import "io"

// WriteJSON writes the report as JSON. The tags of [Report] name its fields.
func WriteJSON(w io.Writer, r *Report) error {
	return EncodeJSON(w, r)
}
