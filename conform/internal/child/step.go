package child

import (
	"fmt"
	"slices"
	"strings"
)

// Comment is [Step.Do] of a step that a shell cannot run, and that is only shown.
const Comment = "#"

// Step is a command of a script as it ran, in the words of a shell.
type Step struct {
	// Line is its line in the script's file.
	Line int `json:"line"`
	// Do is the function of reproducer.sh, or a comment, and Words are quoted for it.
	Do    string   `json:"do"`
	Words []string `json:"words"`
	// Until is the output that the script waited for, quoted too.
	Until *string `json:"until,omitempty"`
	// Shows compares its output, if that showed the failure of line Fails.
	Shows string `json:"shows,omitempty"`
	Fails int    `json:"fails,omitempty"`
}

// Decisive returns the steps, of whose failures only one is compared: the one that the reason
// names, or the first.
func Decisive(steps []Step, reason string) []Step {
	line := 0
	for _, st := range steps {
		if st.Shows != "" && (line == 0 || strings.Contains(reason, fmt.Sprintf(".txtar:%d: ", st.Fails))) {
			line = st.Fails
		}
	}
	steps = slices.Clone(steps)
	for i := range steps {
		if steps[i].Fails != line {
			steps[i].Shows = ""
		}
	}
	return steps
}
