package clients

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/swap/format"
)

// SameEntry reports whether two entries are the same to a client, whose own save may spell one
// differently: it leaves out what is empty or null, writes another word for the type, moves the
// command in or out of an inner object, or turns codex's startup_timeout_ms into seconds.
func (d dialect) SameEntry(a, b map[string]any) bool {
	return format.Equal(d.Settled(a), d.Settled(b))
}

// SameField does the same for two values of a field of an entry; nil means that there is none.
func (d dialect) SameField(name string, a, b any) bool {
	if name != d.name("type") {
		return blank(a) && blank(b) || format.Equal(a, b)
	}
	of := func(v any) map[string]any {
		if v == nil {
			return nil
		}
		return map[string]any{name: v}
	}
	return d.SameEntry(of(a), of(b))
}

// blank reports whether a value is missing, null, or an empty list or object.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Settled returns the entry, flat, in one normal spelling for all entries that are the same.
func (d dialect) Settled(value map[string]any) map[string]any {
	flat := maps.Clone(d.Flat(value))
	maps.DeleteFunc(flat, func(_ string, v any) bool { return blank(v) })
	for name, v := range flat {
		number, ok := v.(json.Number)
		seconds := strings.TrimSuffix(name, "_ms") + "_sec"
		if _, there := flat[seconds]; !ok || there || seconds == name+"_sec" {
			continue
		}
		if ms, err := number.Float64(); err == nil {
			delete(flat, name)
			flat[seconds] = json.Number(strconv.FormatFloat(ms/1000, 'g', -1, 64))
		}
	}
	if flat == nil {
		flat = map[string]any{}
	}
	switch {
	case strings.HasPrefix(word(flat["type"]), "streamable"):
		flat["type"] = "http"
	case d.takesType(flat):
		flat["type"] = "command"
	}
	return flat
}

// OfCommand reports whether a field of an entry says what the client runs, or where the server
// is.
func (d dialect) OfCommand(field string) bool {
	return slices.Contains([]string{"command", "args", d.name("command"), d.Inner}, field) || slices.Contains(urlKeys, field)
}

// AddressFields are the fields that may have the address of a server.
func AddressFields() []string { return slices.Clone(urlKeys) }
