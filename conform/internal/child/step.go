package child

import (
	"fmt"
	"slices"
	"strings"
)

// Comment is what a step does that a shell cannot do: it is only shown.
const Comment = "#"

// Step is a command of a script as it ran, in the words of a shell.
type Step struct {
	// Line is where it stands in the script's file.
	Line int `json:"line"`
	// Do is the function of reproducer.sh, or a comment, and Words are quoted for it.
	Do    string   `json:"do"`
	Words []string `json:"words"`
	// Until is what the command printed when the script went on, which had waited for
	// it; quoted too.
	Until *string `json:"until,omitempty"`
	// Shows compares what it printed, if that showed the failure of the line Fails.
	Shows string `json:"shows,omitempty"`
	Fails int    `json:"fails,omitempty"`
}

// Decisive returns the steps with the comparison of only one failure: the one that a reason is
// about, or else the first.
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
