package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve publishes the files of a release on this machine: as downloads, and the npm packages
// of it below /npm/. It returns the address.
func serve(t *testing.T, out string) string {
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	mux.Handle("/v"+number+"/", http.StripPrefix("/v"+number, http.FileServer(http.Dir(out))))
	packages, err := filepath.Glob(filepath.Join(out, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]any{}
	for _, path := range packages {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		manifest := map[string]any{}
		if err := json.Unmarshal(unpacked(t, data, "package/package.json"), &manifest); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		sum := sha512.Sum512(data)
		version := maps.Clone(manifest)
		version["dist"] = map[string]string{
			"tarball":   srv.URL + "/v" + number + "/" + filepath.Base(path),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		entries[manifest["name"].(string)] = map[string]any{
			"name": manifest["name"], "dist-tags": map[string]string{"latest": number}, "versions": map[string]any{number: version},
		}
	}
	mux.HandleFunc("/npm/", func(w http.ResponseWriter, q *http.Request) {
		entry, ok := entries[strings.TrimPrefix(q.URL.Path, "/npm/")]
		if !ok {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(entry)
	})
	return srv.URL
}

// unpacked returns a file of an archive.
func unpacked(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.Name == name {
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}
