package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

// Size is a number of lines or columns, or a percentage of what is split.
type Size tmux.Size

// JSONSchema returns the schema of a size.
func (Size) JSONSchema() string { return `"anyOf":[{"type":"integer"},{"type":"string"}]` }

// BindJSON sets the size from a number, or a string.
func (z *Size) BindJSON(raw json.RawMessage) error {
	s, _ := params.ScalarText(raw)
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n < 1 || percent && n > 100 {
		return errors.New("must be a number of cells from 1 on, or a percentage such as 30%")
	}
	*z = Size(s)
	return nil
}

// mainSizeOptions are the window options for the size of the main pane, by the layouts that
// have one: columns if it is at a side, rows if it is at the top or bottom.
var mainSizeOptions = map[string]string{
	"main-horizontal": "main-pane-height", "main-horizontal-mirrored": "main-pane-height",
	"main-vertical": "main-pane-width", "main-vertical-mirrored": "main-pane-width",
}

// CheckMainSize refuses a size for a layout without a main pane.
func CheckMainSize(argument, layout string, size Size) error {
	if size == "" || mainSizeOptions[layout] != "" {
		return nil
	}
	return reply.Argument(argument, "is for the layouts main-horizontal, main-vertical and their mirrored ones")
}

// SetMainSize returns the command that sets the size of the main pane in a layout.
func SetMainSize(window tmux.Target, layout string, size Size) tmux.Command {
	value := string(size)
	return tmux.SetOption{Target: window, Window: true, Name: mainSizeOptions[layout], Value: &value}
}

// PanesOfLayout returns the number of panes in a custom layout; 0 for a named one.
func PanesOfLayout(text string) (int, error) {
	wanted := layout.Layout(text)
	if wanted.Named() {
		return 0, nil
	}
	cell, err := layout.Parse(wanted)
	if err != nil {
		err = fmt.Errorf("%w: %w", tmux.ErrArgument, err)
		return 0, &reply.Fault{Kind: reply.KindValidation, Message: err.Error(), Cause: err,
			Suggestion: "a layout is a name, such as tiled, or a window_layout that a tool has returned"}
	}
	return cell.Panes(), nil
}
