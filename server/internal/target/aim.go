package target

import (
	"tmuxmcp/tmux"
)

// Kind is a kind of object that a tool acts on.
type Kind int

// The kinds of objects.
const (
	noObject Kind = iota
	Pane
	Window
	Session
	Server
)

// Aim declares what a tool acts on.
type Aim struct {
	Rule   Rule
	Object Kind
}

// Rule is how a tool gets its object.
type Rule int

const (
	// Undeclared is the rule of a tool that says nothing, which is an error.
	Undeclared Rule = iota
	// AimNone: the tool acts on no object, or looks it up itself without changing it.
	AimNone
	// AimFilter: the selection filters a list that tmux is asked for.
	AimFilter
	// AimDefault: the tool reads or changes one object. Without a selection, it is the
	// caller's or else the one that tmux picks, the most recently used.
	AimDefault
	// AimNeed: the call must name the object.
	AimNeed
	// AimEach: each of several items of the call must name an object; the handler resolves
	// and guards each.
	AimEach
)

var (
	// Nowhere is the aim of tools that act on no object.
	Nowhere = Aim{Rule: AimNone}
	// WholeServer is the aim of a tool that acts on all of a tmux server.
	WholeServer = Aim{AimNeed, Server}
)

// Filter returns the aim of tools that list objects, all or those in one.
func Filter(o Kind) Aim { return Aim{AimFilter, o} }

// Default returns the aim of tools that act on one object, and choose it if the call does not.
func Default(o Kind) Aim { return Aim{AimDefault, o} }

// Need returns the aim of tools that act on one object, which the call must name.
func Need(o Kind) Aim { return Aim{AimNeed, o} }

// NeedEach returns the aim of tools that act on several objects, each of which the call must
// name.
func NeedEach(o Kind) Aim { return Aim{AimEach, o} }

// FilterFor returns the filter for the panes of the object that a selection names.
func (a Aim) FilterFor(s Selection) tmux.Format {
	switch a.Object {
	case Pane:
		return s.PaneFilter()
	case Window:
		return s.WindowFilter()
	}
	return s.Within()
}
