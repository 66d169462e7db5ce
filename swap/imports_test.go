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
	"commands": "checkout machine",
	"patch":    "format",
	"trial":    "ask checkout clients configs format",
	"plan":     "ask checkout clients commands configs format hint journal machine patch",
	"commit":   "ask checkout clients configs format journal machine patch plan",
	"configs":  "ask checkout clients commands format hint journal machine",
}

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	rooms.Check(t, mayImport, rooms.Bounds{Files: 14, Lines: 1900, Methods: 8})
}
