package main

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// catalogues returns what package managers and registries read about the files that were built,
// and only about these.
func (r *release) catalogues() ([]file, error) {
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	kinds := []func() (file, error){
		r.serverJSON,
		func() (file, error) { return r.npmMain(file{"LICENSE", 0o644, licence}) },
	}
	archives := r.archives()
	if len(archives) > 0 {
		bySystem := map[string][]archive{}
		for _, a := range archives {
			bySystem[a.OS] = append(bySystem[a.OS], a)
		}
		values := map[string]any{"Archives": archives, "BySystem": bySystem, "Programs": slices.Sorted(maps.Keys(commands))}
		for _, name := range []string{"tmuxmcp.rb", "package.nix", "mise.toml", "registry.yaml"} {
			kinds = append(kinds, func() (file, error) {
				text, err := r.fill("catalogues/"+name, values)
				return file{name: name, data: text}, err
			})
		}
	}
	var made []file
	for _, kind := range kinds {
		f, err := kind()
		if err != nil {
			return nil, err
		}
		made = append(made, f)
	}
	return made, nil
}

// An archive is one that was written, with the programs of a platform.
type archive struct {
	platform
	sum
}

func (r *release) archives() (found []archive) {
	for _, p := range platforms {
		for _, s := range r.written {
			if s.Name == r.archiveName(p)+".tar.gz" {
				found = append(found, archive{p, s})
			}
		}
	}
	return found
}

// Nix returns what Nix calls the platform.
func (a archive) Nix() string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[a.Arch] + "-" + a.OS
}

// Mise returns what mise calls the platform.
func (a archive) Mise() string {
	os, cpu := a.node()
	return strings.Replace(os, "darwin", "macos", 1) + "-" + cpu
}

// SRI returns the checksum as Subresource Integrity has it.
func (a archive) SRI() string {
	raw, err := hex.DecodeString(a.SHA256)
	if err != nil {
		panic(err) // sumOf wrote it
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(raw)
}
