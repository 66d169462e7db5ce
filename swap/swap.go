// Package swap points the agent CLIs of a machine at a local checkout of an MCP server,
// shows what each of them runs, and restores everything.
//
// # Model
//
// A [clients.Client] is a row of the table clients: where its config is, in which format,
// in which container of it the servers are, and how it spells an entry. A
// [checkout.Checkout] is a directory with the sources of a server, and knows the command
// that starts it. [Swapper] brings them together in its verbs:
//
//	Detect    which clients are installed
//	Status    what each runs under a server's name, and what shadows it
//	UseLocal  write the checkout's command, or a given one, into the entry
//	Verify    start the server, and query the clients
//	Revert    undo the swap
//	Forget    remove the record of a swap
//	Doctor    check for problems
//	Servers   list the names of servers
//
// # What a swap may change
//
// Only the entry, and no byte outside it: package format edits text, not data. Before a
// config is written, its bytes are backed up and package journal records the edit with the
// bytes it replaced. So Revert restores the exact file if nothing else has written to it,
// and otherwise only the entry. A write is a rename of a synced file, done only while the
// config still has the bytes that the edit was made from. All writers of this package take
// one lock. Clients take none when they write their own configs, except Claude, whose lock
// is taken too.
//
// Below this package, configs reads, plan makes changes of what was read, and commit writes
// and undoes them under the lock. The verbs put these together, and ask the user.
//
// All processes are started by package ask: the server itself, the compiler for
// [checkout.ModeBuild], and the clients' own programs, in separate home directories.
// No package here imports anything about tmux.
package swap

import (
	"slices"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// A Swapper implements the verbs for one machine. Create one with [New].
type Swapper struct {
	// Env has the machine, its disk, the record of swaps, and the functions that reach the
	// user: Warn, Progress and Confirm.
	configs.Env
}

// New returns a Swapper for a system. warn may be nil.
func New(sys machine.System, warn func(string)) *Swapper {
	if warn == nil {
		warn = func(string) {}
	}
	disk := atomicfile.Disk{TempMark: ".mcp-swap-tmp-"}
	words := configs.Words{Write: "use-local", Undo: "mcp-swap revert", Client: "--cli", Server: "--server"}
	return &Swapper{configs.Env{Words: words, Sys: sys, Disk: disk, Journal: journal.Journal{Dir: sys.StateDir(), Disk: disk, Home: sys.Home}, Warn: warn}}
}

// ClientState is one scope of one client.
type ClientState = configs.State

// A Tag classifies what an entry runs.
type Tag = configs.Tag

// Kinds of a [Tag].
const (
	TagLocal    = configs.TagLocal
	TagPR       = configs.TagPR
	TagPinned   = configs.TagPinned
	TagUnpinned = configs.TagUnpinned
	TagRemote   = configs.TagRemote
	TagCommand  = configs.TagCommand // given to UseLocal
	TagOther    = configs.TagOther
)

// Outcomes of a [Result].
const (
	Added     = journal.Added    // the entry is new
	Replaced  = journal.Replaced // an existing entry was changed
	Unchanged = commit.Unchanged // the entry already was as wanted
	Reverted  = commit.Reverted
	Forgotten = "forgotten" // only its record was removed
	Failed    = commit.Failed
)

// A Result is the outcome for one client.
type Result struct {
	Client  string        `json:"client"`
	Scope   clients.Scope `json:"scope,omitempty"`
	Label   string        `json:"-"` // the client, with the scope if it has several
	Server  string        `json:"server,omitempty"`
	Repo    string        `json:"repo,omitempty"` // the checkout, or where the command was given
	Config  string        `json:"config"`
	Command []string      `json:"command,omitempty"` // what UseLocal wanted it to run, without secrets
	Tag     *Tag          `json:"tag,omitempty"`     // or the address that UseLocal wanted it to use
	Outcome string        `json:"outcome,omitempty"` // for a dry run: what it would be
	Detail  string        `json:"detail,omitempty"`  // how it was done, in a few words
	Backup  string        `json:"backup,omitempty"`  // "" if there is none now
	Diff    string        `json:"diff,omitempty"`    // of a dry run
	Masked  bool          `json:"masked,omitempty"`  // Diff contains masks, so it is only for reading
	// Cautions are what the user should know about what was done; Shadows, Merged and Stale are
	// as in [ClientState].
	Cautions []string `json:"cautions,omitempty"`
	Shadows  []string `json:"shadows,omitempty"`
	Merged   []string `json:"merged,omitempty"`
	Stale    string   `json:"stale,omitempty"`
	Err      error    `json:"-"` // for Failed; with another outcome, a reservation about it
}

// AnyFailed reports whether a result has an error.
func AnyFailed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Err != nil })
}
