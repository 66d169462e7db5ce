package server

import (
	"testing"

	"tmuxmcp/internal/test/rooms"
)

// mayImport says which rooms each room of server/internal may import.
var mayImport = rooms.Plan{
	"lost":         "",
	"params":       "",
	"caller":       "",
	"stdio":        "params",
	"reply":        "lost params stdio",
	"match":        "reply stdio",
	"target":       "params reply",
	"closing":      "caller reply",
	"guard":        "caller reply stdio target",
	"conversation": "",
	"agents":       "caller conversation match reply stdio target",
	"rows":         "caller match params reply target",
	"sockets":      "caller reply rows stdio target",
	"tool":         "guard params reply rows stdio target",
	"audit":        "params reply stdio tool",
	"options":      "guard params reply target tool",
	"ledger":       "",
	"screen":       "agents caller ledger match reply rows stdio target",
	"subscribe":    "reply screen stdio",
	"typing":       "caller guard reply rows screen stdio target tool",
	"deliver":      "agents reply screen stdio target typing",
	"jobs":         "match params reply rows screen stdio target typing",
	"launch":       "params reply rows screen target typing",
	"supervise":    "agents deliver reply rows screen target tool typing",
	"watch":        "agents caller reply rows target",
	"tools":        "agents closing deliver guard jobs launch lost match options reply rows screen sockets stdio supervise target tool typing",
}

// TestRooms: imports of the rooms below this package only go down, and no room has become a
// place where everything is.
func TestRooms(t *testing.T) {
	t.Parallel()
	rooms.Check(t, mayImport, rooms.Bounds{Files: 20, Lines: 2300, Methods: 25})
}
