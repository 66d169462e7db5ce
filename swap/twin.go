package swap

import (
	"fmt"
	"regexp"
	"strings"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/hint"
)

// The same server may have an entry under another name: one that runs the checkout, or the package
// that it publishes. A client with both offers every tool twice, old and new.

// publishes returns the package that a checkout publishes, without a version, or "".
func publishes(co *checkout.Checkout) string {
	argv, _, err := co.Command(checkout.ModeReleased, "", "")
	if err != nil {
		return ""
	}
	return bare(fetched(argv))
}

var (
	versioned = regexp.MustCompile(`(.)(@|\[|[=<>~!]=|[<>]).*$`)
	separator = regexp.MustCompile(`[-_.]+`)
)

// bare is the name of a package without a version and extras, as Python's index compares names.
func bare(pkg string) string {
	return separator.ReplaceAllString(strings.ToLower(versioned.ReplaceAllString(pkg, "$1")), "-")
}

// twins returns the names of the entries of a container, but one, that run a checkout or the package
// that it publishes, and what they run.
func (s *Swapper) twins(doc *document, container []string, but, repo, published string) (names, runs []string) {
	all, err := doc.doc.Names(container)
	if err != nil {
		return nil, nil
	}
	dialect := doc.client.Dialect
	for _, name := range all {
		e, err := doc.doc.Lookup(container, name)
		if err != nil || !e.Found || name == but {
			continue
		}
		switch tag := s.classify(dialect.ReadArgv(e.Value), dialect.Flat(e.Value), repo); {
		case tag.ThisRepo:
			names, runs = append(names, name), append(runs, "this repository")
		case tag.Package != "" && bare(tag.Package) == published:
			names, runs = append(names, name), append(runs, tag.Package)
		}
	}
	return names, runs
}

// noTwin returns an error if an entry would be added beside one of the same server.
func (s *Swapper) noTwin(c source, u *use) error {
	if _, e, err := c.doc.find(c.scope, u.project, u.server); err != nil || e.Found {
		return nil // which its edit says
	}
	var names, runs []string
	for _, scope := range c.client.ScopesInOrder() {
		for _, container := range c.client.Containers(scope, u.project) {
			n, r := s.twins(c.doc, container, u.server, u.repo, u.published)
			names, runs = append(names, n...), append(runs, r...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &hint.Error{Hint: hint.Server, Arg: names[0], Err: fmt.Errorf(
		"its entry %q runs %s: with %q beside it every tool would be there twice", names[0], runs[0], u.server)}
}
