package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"tmuxmcp/swap/format"
)

// Actions of a [Record].
const (
	Added    = "added"
	Replaced = "replaced"
)

// A Record is one swapped entry: one server in one container of one file.
type Record struct {
	Seq    int       `json:"seq"` // increases from swap to swap, kept by a re-swap
	Time   time.Time `json:"time"`
	Client string    `json:"client"`
	Scope  string    `json:"scope"`
	Server string    `json:"server"`
	Repo   string    `json:"repo"`            // the checkout, or where the command was given
	Given  bool      `json:"given,omitempty"` // the command does not come from the checkout
	By     string    `json:"by,omitempty"`    // the server's program, if it set itself up
	Action string    `json:"action"`

	Config    string   `json:"config"` // the file as the client names it
	Target    string   `json:"target"` // the regular file behind all links
	Container []string `json:"container"`
	// Others are further clients that read the same file, and what they call it.
	Others []Reader `json:"others,omitempty"`
	// Already are other entries that were the same before the swap, or that the user keeps.
	Already []Entry `json:"already,omitempty"`
	// Refused are files for which the client refused its whole config before the swap.
	Refused []string `json:"refused,omitempty"`

	Backup string `json:"backup"` // "" if the swap created the file or was reverted
	Saved  string `json:"backup_sha256,omitempty"`

	Before string         `json:"before_sha256"` // the file before the first swap
	Old    map[string]any `json:"old,omitempty"` // the entry before the first swap
	Undo   format.Undo    `json:"undo"`          // of the first swap

	// Writes are the states of the file that this swap may have left, newest last. There
	// are two if the entry was swapped again: the second may have been recorded and, after
	// a crash, never written.
	Writes []Write `json:"writes"`

	// Undone is set if the files are as before, and its client still reads the swap elsewhere.
	Undone   bool      `json:"undone,omitempty"`
	Reverted time.Time `json:"reverted,omitzero"` // when it was reverted, if it was
}

// An Entry is where a server's entry is: in a resolved file, or in a variable as $NAME.
type Entry struct {
	Target    string   `json:"target"`
	Container []string `json:"container"`
}

// Same reports whether two are the same.
func (e Entry) Same(o Entry) bool {
	return e.Target == o.Target && slices.Equal(e.Container, o.Container)
}

// Had reports whether an entry is one of Already.
func (r *Record) Had(e Entry) bool { return slices.ContainsFunc(r.Already, e.Same) }

// A Reader is a client that reads a config.
type Reader struct {
	Client string `json:"client"`
	Scope  string `json:"scope"`
	Config string `json:"config"` // the file as the client names it
}

// Readers returns the clients that are recorded to read the file.
func (r *Record) Readers() []Reader {
	return append([]Reader{{r.Client, r.Scope, r.Config}}, r.Others...)
}

// ReadBy adds a client to the readers.
func (r *Record) ReadBy(o Reader) (added bool) {
	if slices.Contains(r.Readers(), o) {
		return false
	}
	r.Others = append(slices.Clip(r.Others), o)
	return true
}

// A Write is one state of a file: Base with Was replaced by Is at Start.
type Write struct {
	Base  string         `json:"base_sha256"`
	After string         `json:"after_sha256"`
	Start int            `json:"start"`
	Was   []byte         `json:"was"`
	Is    []byte         `json:"is"`
	Value map[string]any `json:"value"` // the entry's value
}

// NewWrite records that base became after, whose entry has the value.
func NewWrite(base, after []byte, value map[string]any) Write {
	n := min(len(base), len(after))
	start := 0
	for start < n && base[start] == after[start] {
		start++
	}
	tail := 0
	for tail < n-start && base[len(base)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return Write{
		Base: Hash(base), After: Hash(after), Start: start, Value: value,
		Was: slices.Clone(base[start : len(base)-tail]),
		Is:  slices.Clone(after[start : len(after)-tail]),
	}
}

// Undo returns the exact bytes before the write; false if text is not what was written.
func (w Write) Undo(text []byte) ([]byte, bool) {
	if !w.fits(text) {
		return nil, false
	}
	base := slices.Concat(w.pieces(text)...)
	return base, Hash(base) == w.Base
}

// Undoes reports whether Undo returns the exact bytes. It copies nothing.
func (w Write) Undoes(text []byte) bool { return w.fits(text) && Hash(w.pieces(text)...) == w.Base }

// Undone returns what Undo does of a text that Undoes has accepted.
func (w Write) Undone(text []byte) []byte { return slices.Concat(w.pieces(text)...) }

// pieces returns the bytes before the write, if it fits.
func (w Write) pieces(text []byte) [][]byte {
	return [][]byte{text[:w.Start], w.Was, text[w.Start+len(w.Is):]}
}

func (w Write) fits(text []byte) bool {
	return w.Start >= 0 && w.Start <= len(text) && bytes.HasPrefix(text[w.Start:], w.Is)
}

// Redo returns the bytes after the write; false if base is not what it was made from.
func (w Write) Redo(base []byte) ([]byte, bool) {
	if Hash(base) != w.Base || w.Start < 0 || w.Start > len(base) || !bytes.HasPrefix(base[w.Start:], w.Was) {
		return nil, false
	}
	after := slices.Concat(base[:w.Start], w.Is, base[w.Start+len(w.Was):])
	return after, Hash(after) == w.After
}

// IsBackup reports whether a text is the one that the record's backup was made of.
func (r *Record) IsBackup(text []byte) bool {
	hash := Hash(text)
	if r.Saved != "" {
		return hash == r.Saved
	}
	return hash == r.Before || slices.ContainsFunc(r.Writes, func(w Write) bool { return w.Base == hash })
}

// Same reports whether two records are about the same entry of the same file.
func (r *Record) Same(target string, container []string, server string) bool {
	return r.Target == target && r.Server == server && slices.Equal(r.Container, container)
}

// Hash returns the digest by which records compare texts; a text may be in pieces.
func Hash(text ...[]byte) string {
	h := sha256.New()
	for _, piece := range text {
		h.Write(piece)
	}
	return hex.EncodeToString(h.Sum(nil))
}
