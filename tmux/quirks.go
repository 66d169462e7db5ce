package tmux

import (
	"context"
	"fmt"
	"strings"
)

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
	// exactSessions: names of sessions may have colons and dots. 3.7 itself refuses them.
	exactSessions = Feature{Name: "colons in the names of sessions", Since: Version{Major: 3, Minor: 7, Letter: 'a'}}
	// plainNames: names with control characters are refused. Before, they are stored as vis(3)
	// writes them.
	plainNames = Feature{Name: "names without control characters", Since: Version{Major: 3, Minor: 7}}
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

// storedSession returns the name of a session as this tmux stores it. What it does to characters
// of no width beyond ASCII depends on the C library, so they are left as they are.
func (v Version) storedSession(name string) string {
	if !exactSessions.In(v) {
		name = strings.NewReplacer(":", "_", ".", "_").Replace(name)
	}
	var b strings.Builder
	for i, r := range name {
		switch c := strings.IndexRune("\a\b\t\n\v\f\r\\", r); {
		case c >= 0:
			b.WriteString(`\` + `abtnvfr\`[c:c+1])
		case isControl(r):
			fmt.Fprintf(&b, `\%03o`, r)
		case r == '$' && v.Compare(Version{Major: 3, Minor: 5}) < 0 && i+1 < len(name) && beginsName(name[i+1]):
			b.WriteString(`\$`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// printsVis reports whether this tmux writes control bytes in the output of list commands
// as vis(3) does ("\037", "\r").
func (v Version) printsVis() bool { return v.Major == 3 && (v.Minor == 4 || v.Minor == 5) }

// showsShellOutput reports whether run-shell shows its output instead of printing it.
func (v Version) showsShellOutput() bool { return v.Major == 3 && (v.Minor == 3 || v.Minor == 4) }

// ignoresBrokenName reports a defect of 3.7, which 3.7a does not have: break-pane ignores the name
// of the window, and the server does not survive one form of the command (tmux#5295).
func (v Version) ignoresBrokenName() bool { return v == Version{Major: 3, Minor: 7} }

// unzoomsFirst reports a defect of 3.4 and of the development version before 3.8: the server
// does not survive one way of closing a window. See [Server.encode].
func (v Version) unzoomsFirst() bool { return v.isExactly34() || v.Next }

// encode returns the words of a command, and the commands that must run before it in the
// same list on this tmux. They print nothing, and fail as the command itself would if the
// target does not exist. Other versions do without: run-shell leaks 400 bytes of the
// server's memory.
func (s *Server) encode(ctx context.Context, cmd Command) (words encoded, before []encoded, err error) {
	version := func() (Version, error) { return s.Version(ctx) }
	if c, ok := cmd.(BreakPane); ok {
		if cmd, err = c.withName(version); err != nil {
			return nil, nil, err
		}
	}
	if words, err = encode(cmd, s, version); err != nil {
		return nil, nil, err
	}
	c, ok := cmd.(interface{ unzoom() []Command })
	if !ok {
		return words, nil, nil
	}
	v, err := s.Version(ctx)
	if err != nil || !v.unzoomsFirst() {
		return words, nil, err
	}
	for _, c := range c.unzoom() {
		unzoom, err := encode(c, s, version)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, unzoom)
	}
	return words, before, nil
}

// unzoomed expands to commands that unzoom a window, if it is zoomed, and leave its panes
// where they were. Unlike resize-pane -Z, they can run twice, for a session that has a
// window twice.
const unzoomed = "#{?window_zoomed_flag,rotate-window -t #{window_id} ; rotate-window -D -t #{window_id} ; ,}"

func (c KillSession) unzoom() []Command {
	each := Format("#{W:" + unzoomed + "}")
	switch {
	case c.ClearAlerts:
		return nil
	case c.Others || c.Group:
		each = "#{S:" + each + "}"
	}
	return []Command{HasSession{Target: c.Target}, RunShell{Target: c.Target, Commands: true, Template: each}}
}

func (c UnlinkWindow) unzoom() []Command {
	if !c.Kill {
		return nil
	}
	return []Command{ListPanes{Target: c.Target, Filter: "0"}, RunShell{Target: c.Target, Commands: true, Template: unzoomed}}
}
