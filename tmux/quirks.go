package tmux

// This file is the one place for differences between versions that do not show as a command
// or flag. Those that do are declared by the tags of fields.
var (
	// strayTokens: a token expanded without an object of its scope is empty. Before, some are
	// not safe: see [Token.Scoped].
	strayTokens = Feature{Name: "tokens out of scope", Since: Version{Major: 3, Minor: 3}}
	// quietUserOptions: show-options -q works for a user option that is not set. Before, it
	// silently ends the list of commands, but then such an option is never an error anyway.
	quietUserOptions = Feature{Name: "show-options -q of user options", Since: Version{Major: 3, Minor: 3}}
	// exactBuffers: commands on a missing paste buffer fail. Before, they take the newest.
	exactBuffers = Feature{Name: "exact buffer names", Since: Version{Major: 3, Minor: 4}}
	// exactSessions: names of sessions may have colons and dots.
	exactSessions = Feature{Name: "colons in the names of sessions", Since: Version{Major: 3, Minor: 7}}
	// rawPastes: paste-buffer needs a flag to write control bytes unchanged; without it, it
	// writes them as text.
	rawPastes = Feature{Name: "paste-buffer -S", Since: Version{Major: 3, Minor: 7}}
	// keyModes: tmux says whether the program in a pane has enabled extended keys.
	keyModes = Feature{Name: "key modes of panes", Since: Version{Major: 3, Minor: 5}}
	// shellDirFormats: run-shell expands formats in its -c. Development versions of that
	// release do not.
	shellDirFormats = Feature{Name: "formats in run-shell -c", Since: Version{Major: 3, Minor: 8}}
	// forgetsWaiters: a wait-for whose client is gone leaves the channel's queue.
	forgetsWaiters = Feature{Name: "forgotten waiters", Since: Version{Major: 3, Minor: 8}}
)

// released reports whether v is a release with the feature. Unlike [Feature.In], it does
// not count a development version as the release it leads to.
func (f Feature) released(v Version) bool { return v.Compare(f.Since) >= 0 }

// isExactly34 reports a quirk of 3.4 alone: it prints a backslash before every "$" that
// begins a name.
func (v Version) isExactly34() bool { return v.Major == 3 && v.Minor == 4 }

// printsVis reports whether this tmux writes control bytes in the output of list commands
// as vis(3) does ("\037", "\r").
func (v Version) printsVis() bool { return v.Major == 3 && (v.Minor == 4 || v.Minor == 5) }

// showsShellOutput reports whether run-shell shows its output instead of printing it.
func (v Version) showsShellOutput() bool { return v.Major == 3 && (v.Minor == 3 || v.Minor == 4) }

// unzoomsFirst reports a defect of 3.4 and of the development version before 3.8: the server
// does not survive one way of closing a window. See [Server.encode].
func (v Version) unzoomsFirst() bool { return v.isExactly34() || v.Next }
