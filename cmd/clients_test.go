package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// clientConfig is how a client writes down its MCP servers: clients.json beside the templates.
type clientConfig struct {
	CLI  string
	Path string // below HOME
	// Container is the object with the servers. It is empty for clients whose
	// config is TOML.
	Container     string
	Comments      bool
	TrailingComma bool
	List          bool   // the command and its arguments are one list
	Type          string // of a local server
	TypeIs        string // the name of that property, if not type
	Typed         bool   // it does not take an entry without the type
	// More are the fields of a new entry besides the command and the type;
	// MoreLines are the same fields, formatted as in a new file.
	More, MoreLines string
	// NotEmpty is set where an empty file has a script of its own.
	NotEmpty bool
}

// TestClientScripts runs one script for each of three states of the configs of all clients:
// no entry yet, an entry of its own, an empty file. Each time use-local must write what that
// client reads, and revert must restore the exact bytes.
func TestClientScripts(t *testing.T) {
	var configs []clientConfig
	text, err := os.ReadFile("../testdata/swap/clients/clients.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &configs); err != nil {
		t.Fatalf("clients.json: %v", err)
	}
	for _, c := range clients.All() {
		listed := slices.ContainsFunc(configs, func(l clientConfig) bool { return l.CLI == c.Name })
		// claude has two scopes in its config, and scripts of its own.
		if !listed && c.Kind != format.YAML && c.Name != "claude" {
			t.Errorf("%s is not in testdata/swap/clients/clients.json: add a line like that of a client of its kind", c.Name)
		}
	}
	dir := t.TempDir()
	for state, about := range map[string]string{
		"new":      "A new entry in each client's own dialect, beside another; numbers and escapes that a parser would respell stay, and comments.",
		"existing": "An entry that a client has keeps its other fields, their order, and comments.",
		"empty":    "An empty config becomes a whole one; revert empties it.",
	} {
		if err := os.WriteFile(filepath.Join(dir, state+".txtar"), []byte(clientScript(t, configs, state, about)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runScripts(t, dir)
}

// clientScript is the script for one state of the clients' configs.
func clientScript(t *testing.T, configs []clientConfig, state, about string) string {
	const templates = "../testdata/swap/clients/"
	type client struct {
		clientConfig
		Before, After string
	}
	var all []client
	var names []string
	for _, c := range configs {
		if state == "empty" && c.NotEmpty {
			continue
		}
		file := "json.tmpl"
		if c.Container == "" {
			file = "toml.tmpl"
		}
		tmpl := template.Must(template.ParseFiles(templates + file))
		render := func(name string) string {
			if tmpl.Lookup(name) == nil {
				return "" // an empty file
			}
			return execute(t, tmpl, name, c)
		}
		all = append(all, client{c, render(state + ".before"), render(state + ".after")})
		names = append(names, c.CLI)
	}
	return execute(t, template.Must(template.ParseFiles(templates+"script.tmpl")), "script.tmpl", map[string]any{"About": about, "CLI": strings.Join(names, ","), "Clients": all})
}

func execute(t *testing.T, tmpl *template.Template, name string, data any) string {
	t.Helper()
	var b strings.Builder
	if err := tmpl.ExecuteTemplate(&b, name, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
