package layout

import "fmt"

// WithChecksum returns a custom layout with the right checksum.
func WithChecksum(body string) Layout {
	return Layout(fmt.Sprintf("%04x,%s", checksum(body), body))
}
