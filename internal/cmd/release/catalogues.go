package main

import (
	"os"
	"path/filepath"
)

// catalogues returns what package managers and registries read about the files that were built,
// and only about these.
func (r *release) catalogues() ([]file, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	var made []file
	for _, kind := range []func() (file, error){
		r.serverJSON,
		func() (file, error) { return r.npmMain(file{"LICENSE", 0o644, text}) },
	} {
		f, err := kind()
		if err != nil {
			return nil, err
		}
		made = append(made, f)
	}
	return made, nil
}
