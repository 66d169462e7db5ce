package swap

import (
	"testing"

	"tmuxmcp/internal/test/rooms"
)

// mayImport says which packages of swap each room of swap/internal may import.
var mayImport = rooms.Plan{
	"hint":     "",
	"machine":  "",
	"checkout": "ask format hint",
}

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	rooms.Check(t, mayImport, rooms.Bounds{Files: 26, Lines: 6000, Methods: 90})
}
