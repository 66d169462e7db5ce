package target

import (
	"encoding/json"
	"errors"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/tmux"
)

// OnSocket is the parameter that says which tmux server a call is about. Every tool's input
// embeds it, except for tools that look at several servers.
type OnSocket struct {
	SocketName string `json:"socket_name,omitempty"`
}

// Socket returns the name of the socket.
func (s OnSocket) Socket() string { return s.SocketName }

// MaxItems bounds a list of things to do.
const MaxItems = 1000

// TextList is a text, or a list of them.
type TextList []string

// JSONSchema has alternatives, not a list of types, for which some clients drop the tool.
func (TextList) JSONSchema() string {
	return `"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]`
}

// BindJSON sets the list.
func (l *TextList) BindJSON(raw json.RawMessage) error {
	if text, ok := params.ScalarText(raw); ok {
		*l = TextList{text}
		return nil
	}
	if json.Unmarshal(raw, (*[]string)(l)) != nil {
		return errors.New("must be a string, or a list of strings")
	}
	return nil
}

// SelectPaneID is the parameter of tools that take only a pane id.
type SelectPaneID struct {
	PaneID tmux.PaneID `json:"pane_id" desc:"like %1"`
}

// Selected returns the selection.
func (p SelectPaneID) Selected() Selection { return Selection{Pane: p.PaneID} }
