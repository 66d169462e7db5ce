package swap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/atomicfile"
)

// Entries of an access control list, in setfacl's notation.
type aclEntry struct {
	Tag, Perm uint16
	ID        uint32
}

const (
	aclOwner, aclUser, aclGroupOwner, aclGroup, aclMask, aclOther = 1, 2, 4, 8, 16, 32

	noID = 0xffffffff
)

func acl(entries []aclEntry) []byte {
	b, err := binary.Append(binary.LittleEndian.AppendUint32(nil, 2), binary.LittleEndian, entries)
	if err != nil {
		panic(err)
	}
	return b
}

// The strangers are other users: one listed by name, one in the group that owns files, and
// one in a group listed by name.
const (
	named      = 65534
	owners     = 4242
	namedGroup = 4343
)

var strangers = []struct{ uid, gid int }{{named, named}, {65533, owners}, {65532, namedGroup}}

// dress gives the configs of a fault home various modes, lists, groups and attributes, and
// directories lists that new files inherit.
func dress(home string) error {
	var errs []error
	set := func(name, attr string, value []byte) {
		if err := unix.Setxattr(filepath.Join(home, name), attr, value, 0); err != nil {
			errs = append(errs, fmt.Errorf("set %s in %s: %w", attr, home, err))
		}
	}
	mode := func(name string, mode fs.FileMode) {
		errs = append(errs, os.Chmod(filepath.Join(home, name), mode))
		if os.Geteuid() == 0 {
			errs = append(errs, os.Chown(filepath.Join(home, name), 0, owners))
		}
	}
	inherit := acl([]aclEntry{
		{aclOwner, 7, noID}, {aclUser, 7, named}, {aclGroupOwner, 7, noID},
		{aclGroup, 7, namedGroup}, {aclMask, 7, noID}, {aclOther, 5, noID},
	})
	for _, dir := range []string{"", ".codex", "dot", ".config/opencode"} {
		set(dir, "system.posix_acl_default", inherit)
	}
	mode("", 0o755)
	mode(".codex/config.toml", 0o600)
	mode("dot/cursor.json", 0o644)
	mode(".config/opencode/opencode.jsonc", 0o640)
	mode(".config/goose/config.yaml", 0o640)
	mode(".claude.json", 0o600)
	// Its mode is 0660, and the group that owns it may do nothing.
	set(".claude.json", "system.posix_acl_access", acl([]aclEntry{
		{aclOwner, 6, noID}, {aclUser, 4, named}, {aclGroupOwner, 0, noID},
		{aclGroup, 6, namedGroup}, {aclMask, 6, noID}, {aclOther, 0, noID},
	}))
	set("dot/cursor.json", "user.note", []byte("kept"))
	return errors.Join(errs...)
}

func metas(t *testing.T, home string) map[string]atomicfile.Meta {
	t.Helper()
	out := map[string]atomicfile.Meta{}
	for name := range faultConfigs {
		m, err := (atomicfile.Disk{}).Meta(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = m
	}
	return out
}

func checkMetas(t *testing.T, home string, want map[string]atomicfile.Meta) {
	t.Helper()
	for name, m := range metas(t, home) {
		if !m.Equal(want[name]) {
			t.Errorf("%s has %v, had %v", name, m, want[name])
		}
	}
}

// An outfit is what a home was given.
type outfit struct {
	metas  map[string]atomicfile.Meta
	access map[string][]string
}

var outfits sync.Map // by home; nil where the file system has no lists or attributes

func init() {
	dressUp = func(t *testing.T, home string) {
		if err := dress(home); err != nil {
			t.Logf("not tested with lists and attributes: %v", err)
			outfits.Store(home, (*outfit)(nil))
			return
		}
		outfits.Store(home, &outfit{metas(t, home), access(t, home)})
	}
	checkDress = func(t *testing.T, home string, reverted bool) {
		t.Helper()
		if o := outfitOf(home); o != nil {
			for _, w := range wider(access(t, home), o.access) {
				t.Error(w)
			}
			if reverted {
				checkMetas(t, home, o.metas)
			}
		}
	}
}

func outfitOf(home string) *outfit {
	o, _ := outfits.Load(home)
	return o.(*outfit)
}

// access returns what each stranger may do to each file of a home: r, w or nothing. A
// thread becomes that user for file access, which only root's can.
func access(t *testing.T, home string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	if os.Geteuid() != 0 {
		return out
	}
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went between the listing and the look
		}
		if err == nil && e.Type().IsRegular() {
			out[path] = nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		runtime.LockOSThread() // and not unlocked: the thread ends with this function
		// package syscall's Setgroups is for all threads.
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0)
		for _, s := range strangers {
			_, _ = syscall.Setfsgid(s.gid), syscall.Setfsuid(s.uid)
			for path := range out {
				out[path] = append(out[path], may(path))
			}
		}
	}()
	<-looked
	return out
}

// may returns what the thread that runs it may do to a file.
func may(path string) (can string) {
	for flag, how := range map[string]int{"r": syscall.O_RDONLY, "w": syscall.O_WRONLY} {
		if fd, err := syscall.Open(path, how|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0); err == nil {
			can += flag
			syscall.Close(fd)
		}
	}
	return can
}

// wider returns what strangers may do now that they could not do before: more than before
// to a config or a file that will become one, or anything to other files of mcp-swap.
func wider(now, before map[string][]string) (out []string) {
	for name, can := range now {
		if strings.Contains(name, "/repo/") {
			continue
		}
		config, _, _ := strings.Cut(name, ".mcp-swap-tmp-")
		allowed := before[config]
		for i, c := range can {
			for _, right := range c {
				if allowed == nil || !strings.ContainsRune(allowed[i], right) {
					out = append(out, fmt.Sprintf("user %d may %c %s", strangers[i].uid, right, name))
				}
			}
		}
	}
	return out
}

// dressedHome returns a fault home with everything that [dress] gives it.
func dressedHome(t *testing.T) (string, *outfit) {
	t.Helper()
	home := faultHome(t)
	o := outfitOf(home)
	if o == nil {
		t.Skip("the file system has no access control lists or attributes of users")
	}
	return home, o
}

func needStrangers(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be other users, to see what they may open")
	}
}

// At every step of swaps and reverts, others may read and write what they could before, and
// nothing more; at the end every config has everything it had.
func TestNobodyGetsMore(t *testing.T) {
	needStrangers(t)
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			home, had := dressedHome(t)
			got := had.access[filepath.Join(home, ".claude.json")]
			if got[0] != "r" || got[1] != "" || len(got[2]) != 2 {
				t.Fatalf("the list does not do what it says: %q", got)
			}
			seen, temps := 0, false
			look := func(st atomicfile.Step) error {
				now := access(t, home)
				for name := range now {
					temps = temps || strings.Contains(name, "mcp-swap-tmp")
				}
				for _, w := range wider(now, had.access) {
					t.Errorf("before %s %s: %s", st.Op, st.Path, w)
				}
				seen++
				return nil
			}
			s := swapperAt(home, look)
			sc.prepare(t, s, home)
			done(t)(sc.run(t.Context(), s, home))
			_ = look(atomicfile.Step{Op: "end"})
			checkMetas(t, home, had.metas)
			if seen < 30 || !temps {
				t.Errorf("only %d looks, at a temporary file: %v", seen, temps)
			}
			if info, err := os.Stat(filepath.Join(home, ".local/state/mcp-swap")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("state directory: %v %v", info, err)
			}
		})
	}
}

// A program that saves by creating a new file loses the metadata of the old one; a revert
// restores it. The user's own changes stay.
func TestRevertBringsMetaBack(t *testing.T) {
	recreate := func(mode fs.FileMode) func(path string) error {
		return func(path string) error {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".new", text, mode)
			}
			if err == nil {
				err = unix.Removexattr(path+".new", "system.posix_acl_access")
			}
			return errors.Join(err, os.Chmod(path+".new", mode), os.Rename(path+".new", path))
		}
	}
	for name, c := range map[string]struct {
		change func(path string) error
		again  bool // swapped again after it
		stays  bool
	}{
		"recreated":                     {change: recreate(0o666)},
		"recreated, stricter":           {change: recreate(0o600)},
		"recreated, then swapped again": {change: recreate(0o666), again: true},
		"made stricter":                 {change: func(path string) error { return os.Chmod(path, 0o400) }, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			home, had := dressedHome(t)
			s := swapperAt(home, nil)
			done(t)(swapAll("srv", "")(t.Context(), s, home))
			for _, name := range []string{".claude.json", "dot/cursor.json", ".codex/config.toml"} {
				if err := c.change(filepath.Join(home, name)); err != nil {
					t.Fatal(err)
				}
				// Only root can give this file more than a new file of its mode has.
				plain := name == ".codex/config.toml" && os.Geteuid() != 0
				if m := metas(t, home)[name]; m.Equal(had.metas[name]) && !plain {
					t.Fatalf("%s was not changed: %v", name, m)
				}
			}
			want, changed := had.metas, metas(t, home)
			if c.again {
				done(t)(swapAll("srv", "A")(t.Context(), s, home))
				checkMetas(t, home, changed)
			}
			done(t)(s.Revert(t.Context(), RevertOptions{Force: c.stays}))
			if c.stays {
				want = changed
			}
			checkMetas(t, home, want)
		})
	}
}

// A mode that is made stricter between two steps of a swap is not undone by the swap, and
// bytes saved with it are not lost.
func TestStricterMeanwhile(t *testing.T) {
	for _, op := range []atomicfile.Op{atomicfile.OpWrite, atomicfile.OpSync, atomicfile.OpExchange} {
		home, _ := dressedHome(t)
		path := filepath.Join(home, "dot/cursor.json")
		changed := false
		s := swapperAt(home, func(st atomicfile.Step) error {
			if changed || st.Op != op || !strings.HasPrefix(st.Path, path) || strings.Contains(st.Path, ofBackup) {
				return nil
			}
			changed = true
			return os.Chmod(path, 0o600)
		})
		done(t)(s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true}))
		if m := metas(t, home)["dot/cursor.json"]; !changed || m.Mode != 0o600 || string(m.Attrs["user.note"]) != "kept" {
			t.Errorf("%s: %v", op, m)
		}
	}
}
