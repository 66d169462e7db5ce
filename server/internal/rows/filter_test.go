package rows

import (
	"os"
	"strings"
	"testing"
)

func TestOperatorsOfFiltersAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/using.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range filterOps {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/using.md does not document %s", name)
		}
	}
}
