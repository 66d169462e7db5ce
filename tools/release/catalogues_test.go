package main

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Every catalogue is about the archives of all platforms that have tmux-mcp, with their checksums.
func TestCatalogues(t *testing.T) {
	sums := map[string]string{}
	for _, p := range platforms {
		if p.OS != "windows" {
			name := (&release{number: number}).archiveName(p)
			sums[name+".tar.gz"] = sumOf(file{data: []byte(name)}).SHA256
		}
	}
	check := func(what string, got map[string]string) {
		t.Helper()
		if !maps.Equal(got, sums) {
			t.Errorf("%s has %v, not %v", what, got, sums)
		}
	}
	made := map[string]string{}
	for _, f := range allCatalogues(t) {
		made[f.name] = string(f.data)
	}

	got := map[string]string{}
	for _, m := range regexp.MustCompile(`url "(.*)"\n *sha256 "(.*)"`).FindAllStringSubmatch(made["tmuxmcp.rb"], -1) {
		got[path.Base(m[1])] = m[2]
	}
	check("tmuxmcp.rb", got)

	var mise struct {
		Tools map[string]struct {
			Platforms map[string]struct{ URL, Checksum string }
		}
	}
	if err := toml.Unmarshal([]byte(made["mise.toml"]), &mise); err != nil {
		t.Fatalf("%v\n%s", err, made["mise.toml"])
	}
	got = map[string]string{}
	for _, p := range mise.Tools["http:tmuxmcp"].Platforms {
		got[path.Base(p.URL)] = strings.TrimPrefix(p.Checksum, "sha256:")
	}
	check("mise.toml", got)

	var aqua struct {
		Packages []struct {
			Environments []string `yaml:"supported_envs"`
		}
	}
	if err := yaml.Unmarshal([]byte(made["registry.yaml"]), &aqua); err != nil || len(aqua.Packages) != 1 {
		t.Fatalf("%v\n%s", err, made["registry.yaml"])
	}
	if envs := aqua.Packages[0].Environments; !slices.Equal(envs, []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}) {
		t.Errorf("registry.yaml: %v", envs)
	}
}

// The npm package starts only files that it has, and knows the package of every platform.
func TestNpmPackage(t *testing.T) {
	all := allCatalogues(t)
	data := all[slices.IndexFunc(all, func(f file) bool { return path.Ext(f.name) == ".tgz" })].data
	var manifest struct {
		MCPName      string
		Bin          map[string]string
		Man          []string
		Dependencies map[string]string `json:"optionalDependencies"`
	}
	if err := json.Unmarshal(unpacked(t, data, "package/package.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Collect(maps.Values(manifest.Bin)), manifest.Man...) {
		unpacked(t, data, "package/"+name)
	}
	start := string(unpacked(t, data, "package/"+manifest.Bin[npmPackage]))
	for _, p := range platforms {
		os, cpu := p.node()
		name := npmScope + "/" + npmPackage + "-" + os + "-" + cpu
		if manifest.Dependencies[name] != number || !strings.Contains(start, "'"+name+"'") {
			t.Errorf("%s is not known:\n%v\n%s", name, manifest.Dependencies, start)
		}
	}
	// The MCP registry takes the package only if it names its entry there.
	registry := all[slices.IndexFunc(all, func(f file) bool { return f.name == "server.json" })].data
	if !strings.Contains(string(registry), `"name": "`+manifest.MCPName+`"`) {
		t.Errorf("%s is not in\n%s", manifest.MCPName, registry)
	}
	if len(manifest.Bin) != len(commands)+1 || manifest.Bin[npmPackage] != manifest.Bin["tmux-mcp"] {
		t.Errorf("npx starts %v", manifest.Bin)
	}
}
