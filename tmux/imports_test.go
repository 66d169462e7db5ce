package tmux_test

import (
	"testing"

	"tmuxmcp/internal/test/rooms"
)

// TestRooms: package tmux has not become a place where everything is, nor has a package below
// it. What these may import, the table of floors in package docs says.
func TestRooms(t *testing.T) {
	t.Parallel()
	rooms.Check(t, rooms.Plan{"wire": ""}, rooms.Bounds{Files: 45, Lines: 9500, Methods: 60})
}

// TestNames: a name of the package is there for its users. What one program of this module needs
// belongs to that program.
func TestNames(t *testing.T) {
	t.Parallel()
	pkg := packageDoc(t, ".")
	n := len(pkg.Funcs)
	for _, values := range pkg.Consts {
		n += len(values.Names)
	}
	for _, values := range pkg.Vars {
		n += len(values.Names)
	}
	for _, typ := range pkg.Types {
		n += 1 + len(typ.Funcs) + len(typ.Methods)
		for _, values := range append(typ.Consts, typ.Vars...) {
			n += len(values.Names)
		}
	}
	if n > 430 {
		t.Errorf("%d exported names", n)
	}
	t.Logf("%d exported names", n)
}
