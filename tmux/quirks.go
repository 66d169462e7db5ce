package tmux

// This file is the one place for what versions do differently without a command or a flag of their
// own to show for it. What has one is declared by the tag of its field.
var (
	// strayTokens: a token expanded where there is no object of its scope is empty. Before, some
	// crash the server: see [Token.Scoped].
	strayTokens = Feature{Name: "tokens out of scope", Since: Version{Major: 3, Minor: 3}}
	// quietUserOptions: show-options -q works for a user option that is not set. Before, it ends
	// the list of commands without a word, but then such an option is never an error anyway.
	quietUserOptions = Feature{Name: "show-options -q of user options", Since: Version{Major: 3, Minor: 3}}
	// exactBuffers: commands on a paste buffer that does not exist fail. Before, they take the
	// newest.
	exactBuffers = Feature{Name: "exact buffer names", Since: Version{Major: 3, Minor: 4}}
	// rawPastes: paste-buffer has a flag to write control bytes as they are, and else writes text.
	rawPastes = fieldFeature(PasteBuffer{}, "Raw")
	// keySequences: literal control characters that no keyboard has reach a program that asked for
	// extended keys as escape sequences.
	keySequences = Feature{Name: "extended keys in literal text", Since: Version{Major: 3, Minor: 5}}
	// shellDirFormats: run-shell expands formats in its -c. The development versions before do not.
	shellDirFormats = Feature{Name: "formats in run-shell -c", Since: Version{Major: 3, Minor: 8}}
	// forgetsWaiters: a wait-for whose client has gone leaves the channel's queue.
	forgetsWaiters = Feature{Name: "forgotten waiters", Since: Version{Major: 3, Minor: 8}}
)

// released reports whether v is a release with the feature: a development version, which
// [Feature.In] counts as the release it leads to, is not.
func (f Feature) released(v Version) bool { return v.Compare(f.Since) >= 0 }

// isExactly34 reports a quirk of 3.4 alone: it prints a backslash before every "$" that begins a
// name.
func (v Version) isExactly34() bool { return v.Major == 3 && v.Minor == 4 }

// printsVis reports whether this tmux writes control bytes in the output of list commands as vis(3)
// does ("\037", "\r").
func (v Version) printsVis() bool { return v.Major == 3 && (v.Minor == 4 || v.Minor == 5) }

// showsShellOutput reports whether run-shell shows its output to the user instead of printing it.
func (v Version) showsShellOutput() bool { return v.Major == 3 && (v.Minor == 3 || v.Minor == 4) }

// killsZoomed reports a defect of 3.4 and of the development version before 3.8: the server exits,
// with all sessions, when kill-session or unlink-window destroys a zoomed window. kill-window,
// kill-pane and kill-server are safe.
func (v Version) killsZoomed() bool { return v.isExactly34() || v.Next }
