package swap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/checkout"
)

// The same server may have an entry under another name: one that runs the checkout, or the
// package that it publishes. A client with both offers every tool twice, old and new.

// publishes returns the package that a checkout publishes, without a version, or "".
func publishes(co *checkout.Checkout) string {
	argv, _, err := co.Command(checkout.ModeReleased, "", "")
	if err != nil {
		return ""
	}
	return bare(starter{}.command(argv).pkg)
}

var (
	versioned = regexp.MustCompile(`(.)(@|\[|[=<>~!]=|[<>]).*$`)
	separator = regexp.MustCompile(`[-_.]+`)
)

// bare returns the name of a package without version and extras, in the form that Python's
// index compares.
func bare(pkg string) string {
	return separator.ReplaceAllString(strings.ToLower(versioned.ReplaceAllString(pkg, "$1")), "-")
}

// runs returns what an entry runs of a checkout's server, by its tag: the checkout, or the
// package that it publishes; "" if neither.
func (t Tag) runs(published string) string {
	switch {
	case t.ThisRepo:
		return "this repository"
	case t.Package != "" && bare(t.Package) == published:
		return t.Package
	}
	return ""
}

// noTwin returns an error if an entry would be added beside another for the same server.
func (s *Swapper) noTwin(c source, u *use) error {
	if _, e, err := c.doc.find(c.scope, u.project, u.server); err != nil || e.Found {
		return nil // the edit reports it
	}
	docs := []*document{c.doc}
	if c.user != nil && c.user != c.doc {
		docs = append(docs, c.user)
	}
	for _, doc := range docs {
		if name, runs := s.twin(doc, u); runs != "" {
			return fmt.Errorf("its entry %q runs %s: with %q beside it every tool would be there twice; %s",
				name, runs, u.server, passServer(name))
		}
	}
	return nil
}

// passServer advises to use a server's name.
func passServer(name string) string {
	return "pass --server " + ask.CommandLine([]string{name}) + " to use that name"
}

// twin finds an entry for the same server under another name, and returns what it runs; ""
// if there is none.
func (s *Swapper) twin(doc *document, u *use) (name, runs string) {
	dialect := doc.client.Dialect
	for _, scope := range doc.client.ScopesInOrder() {
		for _, container := range doc.client.ContainersIn(doc.doc, scope, u.project) {
			names, _ := doc.doc.Names(container) // a container of another form has none
			for _, name := range names {
				e, err := doc.doc.Lookup(container, name)
				if err != nil || !e.Found || name == u.server {
					continue
				}
				if u.given || u.url != "" {
					if slices.Equal(dialect.Runs(e.Value), u.runs()) {
						return name, "the same server"
					}
				} else if runs := s.classify(dialect.ReadArgv(e.Value), dialect.Flat(e.Value), u.repo).runs(u.published); runs != "" {
					return name, runs
				}
			}
		}
	}
	return "", ""
}
