package debian

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A source is one entry of an apt sources file, as far as it is of use here.
type source struct {
	uri        string // the first, if the entry has several
	suites     []string
	components []string
	signedBy   string // a keyring's path, a fingerprint or a key; "" when the entry does not say
}

// isDebian reports whether the entry is of Debian's own archive and carries its
// suites: by its keyring, or, where the entry names none, by a path that ends in
// "debian". Other vendors publish under such paths too, with a key or a component
// of their own.
func (s source) isDebian() bool {
	main := false
	for _, c := range s.components {
		main = main || c == "main"
	}
	security := true
	for _, suite := range s.suites {
		security = security && (strings.HasSuffix(suite, "-security") || strings.HasSuffix(suite, "/updates"))
	}
	if !main || security || strings.HasPrefix(s.uri, "cdrom:") {
		return false
	}
	if s.signedBy != "" {
		return strings.HasPrefix(path.Base(s.signedBy), "debian-archive-")
	}
	return debianPath.MatchString(s.uri)
}

// debianPath matches a mirror, one day's snapshot of one, and the list of mirrors
// that cloud images use (mirror+file:/etc/apt/mirrors/debian.list).
var debianPath = regexp.MustCompile(`/debian(/[0-9]{8}T[0-9]{6}Z|\.list)?/*$`)

// machineSource finds the first of Debian's entries in this machine's apt
// configuration, in the order in which apt reads it.
func machineSource(ctx context.Context) (source, bool, error) {
	out, err := run(ctx, "apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
	if err != nil {
		return source{}, false, err
	}
	var files []string
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.Trim(value, "'")
		if name == "LIST" {
			files = append(files, value)
			continue
		}
		parts, _ := os.ReadDir(value) // in apt's order, by name; a missing directory holds none
		for _, part := range parts {
			if ext := filepath.Ext(part.Name()); ext == ".list" || ext == ".sources" {
				files = append(files, filepath.Join(value, part.Name()))
			}
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // absent, or kept from this user: apt would not get past it either
		}
		parse := parseLines
		if filepath.Ext(file) == ".sources" {
			parse = parseStanzas
		}
		for _, s := range parse(string(text)) {
			if s.isDebian() {
				return s, true, nil
			}
		}
	}
	return source{}, false, nil
}

// parseLines reads apt's one-line format, sources.list(5): deb [options] URI suite components.
// Source-code entries and lines that are none of it are left out, as apt has its own words for
// those.
func parseLines(text string) []source {
	var found []source
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		rest, spaced := cutSpace(rest)
		if !ok || !spaced {
			continue
		}
		var s source
		if strings.HasPrefix(rest, "[") {
			options, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				continue
			}
			rest = after
			for _, option := range strings.Fields(options) {
				if name, value, _ := strings.Cut(option, "="); strings.EqualFold(name, "signed-by") {
					s.signedBy = firstOf(value)
				}
			}
		}
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			continue
		}
		s.uri, s.suites, s.components = fields[0], fields[1:2], fields[2:]
		found = append(found, s)
	}
	return found
}

// cutSpace removes leading white space and reports whether there was any.
func cutSpace(s string) (string, bool) {
	rest := strings.TrimLeft(s, " \t")
	return rest, rest != s
}

// parseStanzas reads apt's deb822 format: stanzas of fields, an empty line between two.
// Disabled and source-code entries are left out.
func parseStanzas(text string) []source {
	var found []source
	fields := map[string]string{}
	last := ""
	flush := func() {
		uris, types := strings.Fields(fields["uris"]), strings.Fields(fields["types"])
		switch strings.ToLower(strings.TrimSpace(fields["enabled"])) {
		case "no", "false", "without", "off", "disable", "0":
			uris = nil
		}
		if len(uris) > 0 && slices.Contains(types, "deb") {
			found = append(found, source{
				uri:        uris[0],
				suites:     strings.Fields(fields["suites"]),
				components: strings.Fields(fields["components"]),
				signedBy:   firstOf(fields["signed-by"]),
			})
		}
		clear(fields)
		last = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
			flush()
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			fields[last] += "\n" + line
		default:
			name, value, _ := strings.Cut(line, ":")
			last = strings.ToLower(name)
			fields[last] = value
		}
	}
	flush()
	return found
}

// firstOf returns the first of the names in a Signed-By value.
func firstOf(list string) string {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
