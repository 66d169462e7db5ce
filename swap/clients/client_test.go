package clients

import (
	"slices"
	"testing"
)

// Words in the table that no type checks.
func TestTableHasKnownWords(t *testing.T) {
	for _, c := range All() {
		for _, l := range c.Layers {
			if !slices.Contains([]Role{Own, Other, Project, Managed, Variable}, l.Role) {
				t.Errorf("%s: role %q", c.Name, l.Role)
			}
			if !slices.Contains([]string{ReachTree, ReachHere, ReachTop, ReachOpen, ReachRoot}, l.Reach) || !slices.Contains([]string{"", FirstHere, FirstOf}, l.First) {
				t.Errorf("%s: reach %q, first %q", c.Name, l.Reach, l.First)
			}
			if (l.Role == Variable) != (l.Var != "") || l.Role == Project && l.Dirs != nil {
				t.Errorf("%s: %+v", c.Name, l)
			}
		}
		for _, l := range c.locations() {
			for _, d := range slices.Concat(l.Dirs, l.Darwin, l.Windows) {
				if !slices.Contains([]string{"", "absolute", "tilde", "file", "files"}, d.How) {
					t.Errorf("%s: %q before $%s", c.Name, d.How, d.Env)
				}
			}
		}
		for name, kind := range c.Dialect.Fields {
			if kinds[kind] == nil {
				t.Errorf("%s: %s of kind %q", c.Name, name, kind)
			}
		}
		for _, x := range c.Expand {
			for _, name := range x.Forms {
				if forms[name] == nil {
					t.Errorf("%s: form %q", c.Name, name)
				}
			}
		}
		for scope := range c.Scopes {
			if scope != ScopeUser && scope != ScopeProject {
				t.Errorf("%s: scope %q", c.Name, scope)
			}
		}
	}
}
