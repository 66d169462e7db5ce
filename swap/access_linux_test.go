package swap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/atomicfile"
)

// Entries of an access control list, as setfacl would take them.
type aclEntry struct {
	tag, perm uint16
	id        uint32
}

const (
	aclOwner, aclUser, aclGroupOwner, aclGroup, aclMask, aclOther = 1, 2, 4, 8, 16, 32

	noID = 0xffffffff
)

func acl(entries ...aclEntry) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// The strangers are other users: one that lists name, one in the group that
// owns files, one in a group that lists name.
const (
	named      = 65534
	owners     = 4242
	namedGroup = 4343
)

var strangers = []syscall.Credential{{Uid: named, Gid: named}, {Uid: 65533, Gid: owners}, {Uid: 65532, Gid: namedGroup}}

// dress gives the configs of a fault home modes, lists, groups and attributes,
// each others, and directories lists that new files inherit.
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
	inherit := acl(aclEntry{aclOwner, 7, noID}, aclEntry{aclUser, 7, named}, aclEntry{aclGroupOwner, 7, noID}, aclEntry{aclGroup, 7, namedGroup}, aclEntry{aclMask, 7, noID}, aclEntry{aclOther, 5, noID})
	for _, dir := range []string{"", ".codex", "dot", ".config/opencode"} {
		set(dir, "system.posix_acl_default", inherit)
	}
	mode("", 0o755)
	mode(".codex/config.toml", 0o600)
	mode("dot/cursor.json", 0o644)
	mode(".config/opencode/opencode.jsonc", 0o640)
	mode(".claude.json", 0o600)
	// Its mode is 0660, and the group that owns it may do nothing.
	set(".claude.json", "system.posix_acl_access", acl(aclEntry{aclOwner, 6, noID}, aclEntry{aclUser, 4, named}, aclEntry{aclGroupOwner, 0, noID}, aclEntry{aclGroup, 6, namedGroup}, aclEntry{aclMask, 6, noID}, aclEntry{aclOther, 0, noID}))
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

// A stranger is a process of another user that tries to open files.
type stranger struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

const strangerEnv = "SWAP_TEST_STRANGER"

func init() {
	if os.Getenv(strangerEnv) != "" {
		beStranger()
	}
	dressUp = func(t *testing.T, home string) {
		o := outfit{err: dress(home)}
		if o.err == nil {
			o.metas = metas(t, home)
			o.access, o.err = access(home)
		}
		if o.err != nil {
			t.Logf("not tested with lists and attributes: %v", o.err)
		}
		outfits.Store(home, o)
	}
	checkAccess = func(t *testing.T, home string) {
		if o, ok := outfitOf(home); ok {
			now, err := access(home)
			if err != nil {
				t.Error(err)
			}
			for _, w := range wider(now, o.access) {
				t.Error(w)
			}
		}
	}
	checkMeta = func(t *testing.T, home string) {
		if o, ok := outfitOf(home); ok {
			checkMetas(t, home, o.metas)
		}
	}
}

// An outfit is what a home was given.
type outfit struct {
	metas  map[string]atomicfile.Meta
	access map[string][]string
	err    error // why it has none
}

var outfits sync.Map

func outfitOf(home string) (outfit, bool) {
	o, ok := outfits.Load(home)
	if !ok || o.(outfit).err != nil {
		return outfit{}, false
	}
	return o.(outfit), true
}

// beStranger answers each line, a path, with what it may do: r, w or nothing.
func beStranger() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		can := ""
		for flag, how := range map[string]int{"r": syscall.O_RDONLY, "w": syscall.O_WRONLY} {
			if fd, err := syscall.Open(lines.Text(), how|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0); err == nil {
				can += flag
				syscall.Close(fd)
			}
		}
		fmt.Println(can)
	}
	os.Exit(0)
}

// meetStrangers starts one process for each; none if this is not root.
var meetStrangers = sync.OnceValues(func() ([]*stranger, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	// The test's own binary is in a directory that is closed to others.
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("/tmp", "stranger")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(exe); err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o755), f.Close()); err != nil {
		return nil, err
	}
	var out []*stranger
	for i := range strangers {
		cmd := exec.Command(f.Name())
		cmd.Env = []string{strangerEnv + "=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &strangers[i], Pdeathsig: syscall.SIGKILL}
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		r, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		out = append(out, &stranger{in: in, out: bufio.NewReader(r)})
	}
	return out, nil
})

// access says what each stranger may do to each file of a home.
func access(home string) (map[string][]string, error) {
	out := map[string][]string{}
	all, err := meetStrangers()
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went between the listing and the look
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(home, path)
		for _, s := range all {
			s.mu.Lock()
			fmt.Fprintln(s.in, path)
			line, err := s.out.ReadString('\n')
			s.mu.Unlock()
			if err != nil {
				return err
			}
			out[rel] = append(out[rel], strings.TrimSpace(line))
		}
		return nil
	})
	return out, err
}

// wider says what strangers may do now that they could not: to a config or to a
// file that is to become one, more than before; to anything else of mcp-swap,
// anything.
func wider(now, before map[string][]string) (out []string) {
	for name, can := range now {
		allowed := make([]string, len(can))
		if strings.HasPrefix(name, "repo/") {
			continue
		}
		config, _, _ := strings.Cut(name, ".mcp-swap-tmp-")
		if was, ok := before[config]; ok {
			allowed = was
		}
		for i, c := range can {
			for _, right := range c {
				if !strings.ContainsRune(allowed[i], right) {
					out = append(out, fmt.Sprintf("user %d may %c %s", strangers[i].Uid, right, name))
				}
			}
		}
	}
	return out
}

// dressedHome is a fault home with all that [dress] gives.
func dressedHome(t *testing.T) (string, outfit) {
	t.Helper()
	home := faultHome(t)
	o, ok := outfitOf(home)
	if !ok {
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

// At every step of swaps and reverts, others may read and write what they could
// before, and nothing more; in the end every config has all that it had.
func TestNobodyGetsMore(t *testing.T) {
	needStrangers(t)
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			home, had := dressedHome(t)
			if got := had.access[".claude.json"]; got[0] != "r" || got[1] != "" || len(got[2]) != 2 {
				t.Fatalf("the list does not do what it says: %q", got)
			}
			seen, temps := 0, false
			look := func(st atomicfile.Step) error {
				now, err := access(home)
				if err != nil {
					return err
				}
				for name := range now {
					temps = temps || strings.Contains(name, "mcp-swap-tmp")
				}
				for _, w := range wider(now, had.access) {
					t.Errorf("before %s %s: %s", st.Op, st.Path, w)
				}
				seen++
				return nil
			}
			if sc.before != nil {
				sc.before(t, swapperAt(home, look), home)
			}
			results, err := sc.run(t.Context(), swapperAt(home, look), home)
			if err != nil || AnyFailed(results) {
				t.Fatalf("%v %+v", err, results)
			}
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

// A program that saves by making a new file loses what the old one had; a
// revert brings it back. What the user has changed stays.
func TestRevertBringsMetaBack(t *testing.T) {
	recreate := func(mode fs.FileMode) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".new", text, mode)
			}
			if err == nil {
				err = unix.Removexattr(path+".new", "system.posix_acl_access")
			}
			if err = errors.Join(err, os.Chmod(path+".new", mode), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod := func(t *testing.T, path string) {
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{".claude.json", "dot/cursor.json", ".codex/config.toml"}
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
		again  bool // swapped again after it
		stays  bool
	}{
		{"recreated", recreate(0o666), false, false},
		{"recreated, stricter", recreate(0o600), false, false},
		{"recreated, then swapped again", recreate(0o666), true, false},
		{"made stricter", chmod, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, had := dressedHome(t)
			steps(swapAll(""))(t, swapperAt(home, nil), home)
			for _, name := range names {
				test.change(t, filepath.Join(home, name))
				// Only root can give this one more than a new file of its mode has.
				plain := name == ".codex/config.toml" && os.Geteuid() != 0
				if m := metas(t, home)[name]; m.Equal(had.metas[name]) && !plain {
					t.Fatalf("%s was not changed: %v", name, m)
				}
			}
			changed := metas(t, home)
			if test.again {
				steps(swapAll("A"))(t, swapperAt(home, nil), home)
				checkMetas(t, home, changed)
			}
			results, err := swapperAt(home, nil).Revert(t.Context(), RevertOptions{Force: test.stays})
			if err != nil || AnyFailed(results) {
				t.Fatalf("%v %+v", err, results)
			}
			want := maps.Clone(had.metas)
			if test.stays {
				want = changed
			}
			checkMetas(t, home, want)
		})
	}
}

// A mode that is made stricter between two steps of a swap is not undone by
// it, nor are bytes that are saved with it lost.
func TestStricterMeanwhile(t *testing.T) {
	for _, op := range []atomicfile.Op{atomicfile.OpWrite, atomicfile.OpSync, atomicfile.OpExchange} {
		home, _ := dressedHome(t)
		path := filepath.Join(home, "dot/cursor.json")
		done := false
		s := swapperAt(home, func(st atomicfile.Step) error {
			if done || st.Op != op || !strings.HasPrefix(st.Path, path) || strings.Contains(st.Path, backupMark) {
				return nil
			}
			done = true
			return os.Chmod(path, 0o600)
		})
		results, err := s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true})
		if err != nil || AnyFailed(results) || !done {
			t.Fatalf("%s: %v %+v", op, err, results)
		}
		if m := metas(t, home)["dot/cursor.json"]; m.Mode != 0o600 || string(m.Attrs["user.note"]) != "kept" {
			t.Errorf("%s: %v", op, m)
		}
	}
}
