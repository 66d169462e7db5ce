package endtoend

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// notApplicable is testdata/not-applicable.json: for each scenario of the suite that does
// not apply, or each check in one, the reason.
type notApplicable struct {
	Scenarios map[string]string
	Checks    map[string]map[string]string // in scenarios that do apply
}

// resultsOf matches the name of the directory with the results of a scenario.
var resultsOf = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[0-9A-Za-z-]+$`)

// TestConformance runs the official suite once for each revision that it supports.
func TestConformance(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(npm(t, "mcp-conformance"), "@modelcontextprotocol", "conformance", "dist", "index.js")
	raw, err := os.ReadFile("testdata/not-applicable.json")
	if err != nil {
		t.Fatal(err)
	}
	var not notApplicable
	if err := json.Unmarshal(raw, &not); err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{} // what of it was
	type outcome struct{ revision, scenario, id, status, why string }
	outcomes := make(chan []outcome)
	var stages []*stage
	for _, revision := range revisions[1:] { // it supports no older one
		s := newStage(t)
		url := newBridge(s)
		go func() {
			var all []outcome
			defer func() { outcomes <- all }()
			dir := t.TempDir()
			// It fails because of what does not apply.
			out, _ := exec.CommandContext(t.Context(), node(t), suite, "server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", dir).CombinedOutput()
			files := 0
			fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, _ error) error {
				if filepath.Base(path) != "checks.json" {
					return nil
				}
				var checks []struct{ ID, Status, ErrorMessage string }
				raw, err := os.ReadFile(filepath.Join(dir, path))
				if err != nil || json.Unmarshal(raw, &checks) != nil {
					t.Errorf("%s: %s: %v", revision, path, err)
				}
				files++
				scenario := resultsOf.FindStringSubmatch(filepath.Base(filepath.Dir(path)))[1]
				for _, c := range checks {
					all = append(all, outcome{revision, scenario, c.ID, c.Status, c.ErrorMessage})
				}
				return nil
			})
			if files == 0 {
				t.Errorf("%s: the suite has no results:\n%s", revision, out)
			}
		}()
		stages = append(stages, s)
	}
	passed := map[string]int{}
	for range stages {
		for _, o := range <-outcomes {
			check := o.scenario + " " + o.id
			switch {
			case o.status == "SUCCESS" || o.status == "INFO" || o.status == "SKIPPED":
				passed[o.revision]++
			case not.Scenarios[o.scenario] != "":
				needed[o.scenario] = true
			case not.Checks[o.scenario][o.id] != "":
				needed[check] = true
			default:
				t.Errorf("%s, %s: %s %s: %s", o.revision, o.scenario, o.id, o.status, o.why)
			}
		}
	}
	t.Logf("checks that passed: %v", passed)
	for _, s := range stages {
		s.checkRecords()
	}
	var stale []string
	for scenario := range not.Scenarios {
		if !needed[scenario] {
			stale = append(stale, scenario)
		}
	}
	for scenario, checks := range not.Checks {
		for id := range checks {
			if !needed[scenario+" "+id] {
				stale = append(stale, scenario+" "+id)
			}
		}
	}
	if slices.Sort(stale); len(stale) > 0 {
		t.Errorf("these pass, and testdata/not-applicable.json says that they do not apply: %q", stale)
	}
}
