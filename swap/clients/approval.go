package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/internal/machine"
)

// An approval says where a client keeps whether the user allows a server of a project's
// file: in lists of names in its settings, or in a file that binds it to the entry. With
// neither, it is not known where.
type approval struct {
	Yes, No string // settings with the names that are approved, and rejected
	All     string // a setting that approves all, if true
	// File has an object for each directory, in that one for each server, with the status
	// and the hash of the entry.
	File *location
	How  string // what the user does; [ask.ServerName] stands for the server's name
	// Keeps is set if another entry of that name counts until then.
	Keeps bool
}

// Forms in which the entry of a project's file is hashed for its approval.
const (
	HashAsIs    = "as is"
	HashUntyped = "untyped" // without type; the url of type http is httpUrl
)

// Approval says whether the user allows a server of a project's file.
type Approval int

// Approvals.
const (
	Unasked Approval = iota // its client never asks
	Approved
	Rejected
	Waiting
	MayWait // it cannot be known
)

// Approves returns the approval of an entry in a layer for a directory; files are the
// client's with settings, strongest first.
func (c *Client) Approves(l Layer, sys machine.System, files []File, record func(file string, path ...string) (any, bool), value map[string]any, dir, server string) Approval {
	a := c.Approval
	switch {
	case a == nil || !l.Asks:
		return Unasked
	case a.File != nil:
		v, _ := record(a.File.File(sys), dir, server)
		known, _ := v.(map[string]any)
		hash, sure := entryHash(value, l.Hash)
		switch {
		case known == nil:
			return Waiting
		case !sure:
			return MayWait
		case known["hash"] != hash:
			return Waiting
		case known["status"] == "approved":
			return Approved
		}
		return Rejected
	case a.Yes == "":
		return MayWait
	}
	listed := func(f File, name string) bool {
		v, _ := f.Get(name)
		list, _ := v.([]any)
		return slices.Contains(list, any(server))
	}
	if slices.ContainsFunc(files, func(f File) bool { return listed(f, a.No) }) {
		return Rejected
	}
	for _, f := range files {
		if all, _ := f.Get(a.All); !f.Distrusted && (all == true || listed(f, a.Yes)) {
			return Approved
		}
	}
	return Waiting
}

// entryHash returns the hash of an entry as qwen computes it: of its JSON with sorted names.
// sure is false for an entry in which qwen expands variables first.
func entryHash(value map[string]any, form string) (hash string, sure bool) {
	value = maps.Clone(value)
	for _, name := range []string{"scope", "extensionName", "description"} {
		delete(value, name)
	}
	if form == HashUntyped && value["type"] != "sdk" {
		if url, ok := value["url"].(string); ok && value["command"] == nil && value["httpUrl"] == nil && value["type"] == "http" {
			delete(value, "url")
			value["httpUrl"] = url
		}
		delete(value, "type")
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(asNumbers(value)); err != nil || strings.Contains(text.String(), "$") {
		return "", false
	}
	// JavaScript, unlike Go, does not escape these two.
	out := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(text.String(), "\n"))
	sum := sha256.Sum256([]byte(out))
	return hex.EncodeToString(sum[:]), true
}

// asNumbers returns a value whose numbers are encoded as JavaScript does.
func asNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			out[name] = asNumbers(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = asNumbers(x)
		}
		return out
	}
	return v
}
