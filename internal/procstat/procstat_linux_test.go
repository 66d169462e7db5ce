package procstat

import (
	"os"
	"strings"
	"testing"
)

// TestDying: a process is dying once the kernel says that it exits or that SIGKILL is
// pending.
func TestDying(t *testing.T) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	name, rest, _ := strings.Cut(string(stat), ") ")
	for _, c := range []struct {
		field int // after the name, from 0
		value string
		want  bool
	}{{6, "4194304", false}, {6, "4194308", true}, {28, "0", false}, {28, "256", true}, {28, "2", false}} {
		f := strings.Fields(rest)
		f[c.field] = c.value
		if p, err := Parse([]byte(name + ") " + strings.Join(f, " "))); err != nil || p.Dying != c.want {
			t.Errorf("field %d is %s: dying is %t %v", c.field, c.value, p.Dying, err)
		}
	}
}
