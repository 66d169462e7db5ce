package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	conform "tmuxmcp/conform/cli"
	server "tmuxmcp/server/cli"
	swap "tmuxmcp/swap/cli"
)

// templates of the manifests, which fill completes.
//
//go:embed all:files
var templates embed.FS

var commands = map[string]func() *cobra.Command{
	"mcp-conform": conform.Command,
	"mcp-swap":    swap.Command,
	"tmux-mcp":    func() *cobra.Command { return server.Command(swap.Setup) },
}

// make builds all that a platform has.
func (r *release) make(ctx context.Context, p platform) ([]file, error) {
	built, err := r.binaries(ctx, p)
	if err != nil {
		return nil, err
	}
	docs, err := r.documents(ctx, p)
	if err != nil {
		return nil, err
	}
	kinds := []func(platform, []file, []file) (file, error){r.archive, r.npmPrograms}
	switch p.OS {
	case "windows":
		kinds[0] = r.windows
	case "linux":
		kinds = append(kinds, r.deb, r.bundle, r.plugin)
	default:
		kinds = append(kinds, r.bundle, r.plugin)
	}
	var made []file
	for _, kind := range kinds {
		f, err := kind(p, built, docs)
		if err != nil {
			return nil, err
		}
		made = append(made, f)
	}
	bill, err := r.sbom(made[0], built)
	return append(made, bill), err
}

// documents returns what goes with the programs: the licences first.
func (r *release) documents(ctx context.Context, p platform) ([]file, error) {
	terms, err := r.licences(ctx, p)
	if err != nil {
		return nil, err
	}
	docs := []file{{"LICENSES.txt", 0o644, terms}}
	for _, pattern := range []string{"LICENSE", "*.md", "docs/*.md", "docs/*.svg", "docs/*.json"} {
		found, err := filepath.Glob(filepath.Join(r.root, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			docs = append(docs, file{path.Join(path.Dir(pattern), filepath.Base(name)), 0o644, text})
		}
	}
	return docs, nil
}

// tree returns the files to install below a prefix such as /usr. zsh is where the prefix
// has completions.
func (r *release) tree(zsh string, built, docs []file) ([]file, error) {
	files := append(under("bin", built...), under("share/doc/tmuxmcp", docs...)...)
	for _, program := range built {
		root := commands[program.name]()
		page, err := r.manPage(root)
		if err != nil {
			return nil, err
		}
		manual, err := gzipped(page)
		if err != nil {
			return nil, err
		}
		var bash, z, fish bytes.Buffer
		if err := errors.Join(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&z), root.GenFishCompletion(&fish, true)); err != nil {
			return nil, err
		}
		files = append(files,
			file{"share/man/man1/" + program.name + ".1.gz", 0o644, manual},
			file{"share/bash-completion/completions/" + program.name, 0o644, bash.Bytes()},
			file{"share/zsh/" + zsh + "/_" + program.name, 0o644, z.Bytes()},
			file{"share/fish/vendor_completions.d/" + program.name + ".fish", 0o644, fish.Bytes()})
	}
	return files, nil
}

func (r *release) archiveName(p platform) string {
	return fmt.Sprintf("tmuxmcp_%s_%s_%s", r.number, p.OS, p.Arch)
}

// archive returns an archive to unpack into a prefix. It has no entries for directories, which
// would change the modes and owners of those that are there.
func (r *release) archive(p platform, built, docs []file) (file, error) {
	name := r.archiveName(p)
	files, err := r.tree("site-functions", built, docs)
	if err != nil {
		return file{}, err
	}
	data, err := tarball(r.time, under(name, files...), false)
	return file{name: name + ".tar.gz", data: data}, err
}

// windows returns the archive for Windows, which has neither prefixes nor a manual.
func (r *release) windows(p platform, built, docs []file) (file, error) {
	name := fmt.Sprintf("mcp-swap_%s_%s_%s", r.number, p.OS, p.Arch)
	data, err := zipped(r.time, under(name, slices.Concat(built, docs)...))
	return file{name: name + ".zip", data: data}, err
}

// deb returns the Debian package of a Linux platform.
func (r *release) deb(p platform, built, docs []file) (file, error) {
	values := map[string]any{
		"DebianVersion": strings.Replace(r.number, "-", "~", 1), // 1.0.0-rc.1 is before 1.0.0
		"Date":          r.time.Format(time.RFC1123Z), "Arch": p.Arch,
	}
	news, err := r.fill("changelog", values)
	if err == nil {
		news, err = gzipped(news)
	}
	if err != nil {
		return file{}, err
	}
	copyright := docs[slices.IndexFunc(docs, func(f file) bool { return f.name == "LICENSE" })]
	copyright.name = "copyright"
	files, err := r.tree("vendor-completions", built, append(slices.Clone(docs), copyright, file{"changelog.gz", 0o644, news}))
	if err != nil {
		return file{}, err
	}
	size, sums := 0, ""
	for _, f := range under("usr", files...) {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
	}
	values["InstalledSize"] = size
	control, err := r.fill("control", values)
	if err != nil {
		return file{}, err
	}
	meta, err := tarball(r.time, []file{{"./control", 0o644, control}, {"./md5sums", 0o644, []byte(sums)}}, true)
	if err != nil {
		return file{}, err
	}
	data, err := tarball(r.time, under("./usr", files...), true)
	if err != nil {
		return file{}, err
	}
	return file{name: fmt.Sprintf("tmuxmcp_%s_%s.deb", r.number, p.Arch), data: arPacked(r.time, []file{
		{name: "debian-binary", data: []byte("2.0\n")},
		{name: "control.tar.gz", data: meta},
		{name: "data.tar.gz", data: data},
	})}, nil
}

// bundle returns tmux-mcp as an MCP bundle, which desktop clients install.
func (r *release) bundle(p platform, built, docs []file) (file, error) {
	manifest, err := r.fill("manifest.json", map[string]any{"OS": p.OS})
	if err != nil {
		return file{}, err
	}
	data, err := zipped(r.time, append([]file{{"manifest.json", 0o644, manifest}, icon()}, serverOnly(built, docs)...))
	return file{name: fmt.Sprintf("tmux-mcp_%s_%s_%s.mcpb", r.number, p.OS, p.Arch), data: data}, err
}

// plugin returns a marketplace with one plugin, in the formats of Claude Code, Codex and
// Agent Plugins.
func (r *release) plugin(p platform, built, docs []file) (file, error) {
	name := fmt.Sprintf("tmux-mcp-plugin_%s_%s_%s", r.number, p.OS, p.Arch)
	files := under("plugins/tmux", append(serverOnly(built, docs), file{"skills/tmux/SKILL.md", 0o644, []byte(server.Skill)})...)
	const templateDir = "files/plugin/"
	err := fs.WalkDir(templates, path.Clean(templateDir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name = strings.TrimPrefix(name, templateDir)
		text, err := r.fill("plugin/"+name, nil)
		files = append(files, file{name, 0o644, text})
		return err
	})
	if err != nil {
		return file{}, err
	}
	data, err := tarball(r.time, under(name, files...), false)
	return file{name: name + ".tar.gz", data: data}, err
}

// serverOnly returns tmux-mcp and the licences.
func serverOnly(built, docs []file) (files []file) {
	for _, f := range under("bin", built...) {
		if f.name == "bin/tmux-mcp" {
			files = append(files, f)
		}
	}
	return append(files, licencesOf(docs)...)
}

// licencesOf returns what must go with the programs.
func licencesOf(docs []file) []file {
	return slices.DeleteFunc(slices.Clone(docs), func(f file) bool { return !strings.HasPrefix(f.name, "LICENSE") })
}

// serverJSON returns the document for the MCP registry, which says where the bundles are.
func (r *release) serverJSON() (file, error) {
	bundles := slices.DeleteFunc(slices.Clone(r.written), func(s sum) bool { return path.Ext(s.Name) != ".mcpb" })
	text, err := r.fill("server.json", map[string]any{"Bundles": bundles, "Npm": r.npm})
	return file{name: "server.json", data: text}, err
}

// A sum is the checksum of a published file.
type sum struct{ Name, SHA256 string }

func sumOf(f file) sum {
	h := sha256.Sum256(f.data)
	return sum{f.name, hex.EncodeToString(h[:])}
}

// sums returns a file of checksums in the form that sha256sum -c reads.
func (r *release) sums() file {
	slices.SortFunc(r.written, func(a, b sum) int { return cmp.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	for _, s := range r.written {
		fmt.Fprintf(&b, "%s  %s\n", s.SHA256, s.Name)
	}
	return file{name: "SHA256SUMS", data: b.Bytes()}
}

// fill makes a file from its template, what all of them have, and more.
func (r *release) fill(name string, more map[string]any) ([]byte, error) {
	t, err := template.New(path.Base(name)).Funcs(manFuncs).Option("missingkey=error").ParseFS(templates, "files/"+name)
	if err != nil {
		return nil, err
	}
	values := map[string]any{
		"Number": r.number, "Homepage": homepage, "AllDownloads": downloads, "Downloads": downloads + "/v" + r.number,
		"Package": npmPackage, "Namespace": namespace, "Author": author, "Maintainer": maintainer, "Description": description, "Summary": summary,
	}
	for k, v := range more {
		values[k] = v
	}
	var b bytes.Buffer
	err = t.Execute(&b, values)
	return b.Bytes(), err
}
