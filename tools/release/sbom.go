package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A component is a program or module, as CycloneDX has it.
type component struct {
	Type     string       `json:"type"`
	Ref      string       `json:"bom-ref"`
	Name     string       `json:"name"`
	Version  string       `json:"version"`
	Hashes   []hash       `json:"hashes,omitempty"`
	Licences []expression `json:"licenses,omitempty"`
	PURL     string       `json:"purl,omitempty"`
	Links    []link       `json:"externalReferences,omitempty"`
}

type (
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	expression struct {
		Expression string `json:"expression"`
	}
	link struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// sbom returns the CycloneDX bill of materials of an archive: its programs, and the modules that
// the linker recorded in each.
func (r *release) sbom(packed file, built []file) (file, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(packed.name, ".tar.gz"), ".zip")
	whole := r.application(packed)
	whole.Links = []link{{"website", homepage}, {"distribution", downloads + "/v" + r.number + "/" + packed.name}}
	modules := map[string]component{}
	var all []component
	depends := []dependency{{whole.Ref, nil}}
	for _, f := range built {
		info, err := buildinfo.Read(bytes.NewReader(f.data))
		if err != nil {
			return file{}, fmt.Errorf("%s: %w", f.name, err)
		}
		linked := []component{library("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			linked = append(linked, library(m.Path, m.Version, r.terms[m.Path+"@"+m.Version]))
		}
		program := r.application(f)
		on := []string{}
		for _, c := range linked {
			modules[c.Ref] = c
			on = append(on, c.Ref)
		}
		all = append(all, program)
		depends[0].On = append(depends[0].On, program.Ref)
		depends = append(depends, dependency{program.Ref, on})
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		all = append(all, modules[ref])
	}
	// The same archive has the same number.
	id := sha256.Sum256(packed.data)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	text, err := json.MarshalIndent(map[string]any{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		"metadata": map[string]any{
			"timestamp": r.time.Format(time.RFC3339), "lifecycles": []any{map[string]any{"phase": "build"}}, "component": whole,
		},
		"components": all, "dependencies": depends,
	}, "", "  ")
	return file{name: name + ".cdx.json", data: append(text, '\n')}, err
}

func (r *release) application(f file) component {
	return component{
		Type: "application", Ref: f.name, Name: f.name, Version: r.number,
		Hashes: []hash{{"SHA-256", sumOf(f).SHA256}}, Licences: []expression{{"MIT"}},
	}
}

func library(path, version, terms string) component {
	ref := "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := component{Type: "library", Ref: ref, Name: path, Version: version, PURL: ref}
	if terms != "" {
		c.Licences = []expression{{terms}}
	}
	return c
}

// known are sentences by which a licence is recognized.
var known = []struct{ id, sentence string }{
	{"Apache-2.0", "Apache License, Version 2.0"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"MIT", "Permission is hereby granted, free of charge, to any person"},
}

// spdx returns the terms of licences as an SPDX expression, or "" if it knows none of them.
func spdx(text []byte) string {
	words := strings.Join(strings.Fields(string(text)), " ")
	var ids []string
	for _, k := range known {
		if strings.Contains(words, k.sentence) {
			ids = append(ids, k.id)
		}
	}
	return strings.Join(slices.Compact(ids), " AND ")
}
