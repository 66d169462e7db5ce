package tool

import (
	"slices"

	"tmuxmcp/server/internal/guard"
)

// Kind is the tier of a tool and its four annotations.
type Kind struct {
	Tier                                         guard.Tier
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Kinds of tools. Clients decide by the annotations whether to ask their user, so these say
// what a tool can do with any arguments; a test verifies it. A tool that runs a program of
// the caller's choice can do anything, and may destroy.
var (
	Reads    = Kind{Tier: guard.Readonly, ReadOnly: true, Idempotent: true}
	Changes  = Kind{Tier: guard.Mutating, Idempotent: true} // repeating has no further effect: rename, resize, set
	Creates  = Kind{Tier: guard.Mutating}                   // repeating has another effect: creates another, moves on, wakes the next
	Starts   = Kind{Tier: guard.Mutating, OpenWorld: true}  // runs the user's shell, with the caller's variables
	Presets  = Kind{Tier: guard.Mutating, Idempotent: true, OpenWorld: true}
	Shell    = Kind{Tier: guard.Mutating, Destructive: true, OpenWorld: true} // what the caller sends reaches a shell
	Discards = Kind{Tier: guard.Mutating, Destructive: true, Idempotent: true}
	Empties  = Kind{Tier: guard.Mutating, Destructive: true} // repeating discards what has come since
	Destroys = Kind{Tier: guard.Destructive, Destructive: true}
	// SetsAnything is what a mutating tool does with arguments that need tier destructive.
	SetsAnything = Kind{Tier: guard.Destructive, Destructive: true, Idempotent: true, OpenWorld: true}
	// A batch is as bad as the worst that it may run.
	Batches         = Kind{Tier: guard.Mutating, Destructive: true, OpenWorld: true}
	DestroysBatches = Kind{Tier: guard.Destructive, Destructive: true, OpenWorld: true}
)

// What tools do, in the terms of the libtmux family. A server can be restricted to some of
// them, in addition to its tier and toolsets, so that asking for less never yields more.
const (
	Inspect  = "inspect" // only reads
	Manage   = "manage"  // changes tmux, and runs no program
	Execute  = guard.DoesExecute
	Teardown = "teardown" // ends or discards
)

// Effects returns what tools do.
func Effects() []string { return []string{Inspect, Manage, Execute, Teardown} }

// Effect returns what a tool of this kind does.
func (k Kind) Effect() string {
	switch {
	case k.Tier == guard.Readonly:
		return Inspect
	case k.Tier == guard.Destructive, k.Destructive && !k.OpenWorld:
		return Teardown
	case k.OpenWorld:
		return Execute
	}
	return Manage
}

// TierOf returns the lowest tier whose tools have these effects, or the default one.
func TierOf(effects []string) guard.Tier {
	switch {
	case slices.Contains(effects, Teardown):
		return guard.Destructive
	case len(effects) == 1 && effects[0] == Inspect:
		return guard.Readonly
	}
	return guard.Mutating
}

// Toolsets, in catalogue order. A tool may also be in the toolset Core.
const (
	Sessions = "sessions"
	Windows  = "windows"
	Panes    = "panes"
	Input    = "input"
	Buffers  = "buffers"
	Options  = "options"
	Hooks    = "hooks"
	Channels = "channels"
	Batch    = "batch"
	Prompts  = "prompts"
	Core     = "core"
)

// Toolsets returns the names of all toolsets, Core first.
func Toolsets() []string {
	return []string{Core, Sessions, Windows, Panes, Input, Buffers, Options, Hooks, Channels, Batch, Prompts}
}
