package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A token is one row of the table.
type token struct {
	Name  string `json:"name"`
	Scope string `json:"scope"` // one of scopes
	Type  string `json:"type"`  // a key of goTypes
	// Since is the release series that brought the token, "3.2" for every token older than that;
	// Until is the last one that has it, empty for a token that is still there.
	Since string `json:"since"`
	Until string `json:"until,omitempty"`
	// Nullable marks a token that a tmux which has it may expand to nothing because there is no
	// value: no exit status yet, no mode, no group. Text and lists that are merely empty do not
	// count.
	Nullable bool `json:"nullable,omitempty"`
	// Scoped marks a token that kills tmux 3.2a when it is expanded where there is no object of its
	// scope.
	Scoped bool `json:"scoped,omitempty"`
	// Field is the Go name where the rule of generate gives an unfortunate one.
	Field string `json:"field,omitempty"`
	// Row is false for a token that is left out of its scope's row type.
	Row  *bool  `json:"row,omitempty"`
	Doc  string `json:"doc"`
	Note string `json:"note,omitempty"` // for the table's readers; not in the Go source
}

// scopes are the kinds of object that a token can describe. A token of the scope "mouse" has a
// value only while a mouse key binding runs.
var scopes = []string{"server", "session", "window", "pane", "client", "buffer", "mouse"}

// goTypes maps the table's types to Go's.
var goTypes = map[string]string{
	"bool":      "bool",
	"int":       "int",
	"int64":     "int64",
	"string":    "string",
	"colour":    "string",
	"time":      "time.Time",
	"PaneID":    "PaneID",
	"WindowID":  "WindowID",
	"SessionID": "SessionID",
	"[]string":  "[]string",
	"[]int":     "[]int",
	"[]int64":   "[]int64",
}

// oldest is the first release the table knows.
const oldest = "3.2"

var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	releaseForm = regexp.MustCompile(`^[0-9]\.[0-9]$`)
	fieldForm   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// parse reads the table. Its rows must be complete, in ascending order of their names, and free of
// fields that mean nothing. All that is wrong is reported at once.
func parse(data []byte) ([]token, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var table []token
	if err := dec.Decode(&table); err != nil {
		return nil, fmt.Errorf("read token table: %w", err)
	}
	if len(table) == 0 {
		return nil, errors.New("token table is empty")
	}
	var errs []error
	for i, t := range table {
		if err := t.check(); err != nil {
			errs = append(errs, fmt.Errorf("token %q: %w", t.Name, err))
		}
		if i > 0 && table[i-1].Name >= t.Name {
			errs = append(errs, fmt.Errorf("token %q is out of order after %q", t.Name, table[i-1].Name))
		}
	}
	return table, errors.Join(errs...)
}

func (t token) check() error {
	switch {
	case !nameForm.MatchString(t.Name):
		return errors.New("not a token's name")
	case !slices.Contains(scopes, t.Scope):
		return fmt.Errorf("unknown scope %q", t.Scope)
	case goTypes[t.Type] == "":
		return fmt.Errorf("unknown type %q", t.Type)
	case !releaseForm.MatchString(t.Since) || t.Since < oldest:
		return fmt.Errorf("since %q is not a release from %s", t.Since, oldest)
	case t.Until != "" && (!releaseForm.MatchString(t.Until) || t.Until < t.Since):
		return fmt.Errorf("until %q is not a release from %s", t.Until, t.Since)
	case t.Field != "" && !fieldForm.MatchString(t.Field):
		return fmt.Errorf("%q is no exported Go name", t.Field)
	case !strings.HasSuffix(t.Doc, ".") || strings.ContainsAny(t.Doc, "\r\n\t"):
		return fmt.Errorf("doc %q is not a sentence on one line", t.Doc)
	}
	return nil
}
