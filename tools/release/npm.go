package main

import (
	"maps"
	"slices"
	"strings"
)

// node returns how Node names a platform.
func (p platform) node() (os, cpu string) {
	os, cpu = p.OS, p.Arch
	if os == "windows" {
		os = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return os, cpu
}

// npmPrograms returns the npm package with a platform's programs, which npm installs only there.
func (r *release) npmPrograms(p platform, built, docs []file) (file, error) {
	os, cpu := p.node()
	base := npmPackage + "-" + os + "-" + cpu
	name := npmScope + "/" + base
	r.npm = append(r.npm, name)
	files := append(under("bin", built...), licencesOf(docs)...)
	return r.npmPacked(strings.TrimPrefix(npmScope, "@")+"-"+base, "program", files, map[string]any{"Name": name, "OS": os, "CPU": cpu})
}

// npmMain returns the npm package that users name: it starts what is in the others.
func (r *release) npmMain(licence file) (file, error) {
	programs := slices.Sorted(maps.Keys(commands))
	values := map[string]any{"Programs": programs, "Packages": r.npm}
	files := []file{licence}
	for _, program := range programs {
		page, err := r.manPage(commands[program]())
		if err != nil {
			return file{}, err
		}
		values["Program"] = program
		start, err := r.fill("npm/start.js", values)
		if err != nil {
			return file{}, err
		}
		files = append(files, file{"bin/" + program + ".js", 0o755, start}, file{"man/" + program + ".1", 0o644, page})
	}
	return r.npmPacked(npmPackage, "package", files, values)
}

// npmPacked returns a package as npm pack does: template is the name of its manifest and README.
func (r *release) npmPacked(name, template string, files []file, values map[string]any) (file, error) {
	manifest, err := r.fill("npm/"+template+".json", values)
	if err != nil {
		return file{}, err
	}
	readme, err := r.fill("npm/"+template+".md", values)
	if err != nil {
		return file{}, err
	}
	files = append(files, file{"package.json", 0o644, manifest}, file{"README.md", 0o644, readme})
	data, err := tarball(r.time, under("package", files...), false)
	return file{name: name + "-" + r.number + ".tgz", data: data}, err
}
