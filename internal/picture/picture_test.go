package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform"
	"tmuxmcp/internal/testtmux"
)

// An element of an image, as far as it is looked at.
type element struct{ name, class, x, length, text string }

// elements reads an image, which must be well-formed and ask for nothing.
func elements(t *testing.T, image string) []element {
	t.Helper()
	var all []element
	for d := xml.NewDecoder(strings.NewReader(image)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, image)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "class":
					e.class = a.Value
				case "x":
					e.x = a.Value
				case "textLength":
					e.length = a.Value
				case "href", "src", "onload":
					t.Errorf("%s has %s=%q", e.name, a.Name.Local, a.Value)
				}
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 && strings.TrimSpace(string(token)) != "" {
				all[len(all)-1].text += string(token)
			}
		}
	}
	if strings.Contains(image, "url(") || strings.Contains(image, "@import") || strings.Contains(image, "<script") {
		t.Error("the image is not all there is to it")
	}
	return all
}

// A command runs in a pane of a real tmux, and the image has its text in its colours,
// each piece at its cell, with the same bytes every time.
func TestPicture(t *testing.T) {
	binary := testtmux.Binary(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	commands := []string{
		`printf '\033[32mgreen <&>\033[0m  \033[1;97mbold\033[22m not\033[0m\n'`,
		`printf 'a\033[7mback\033[27mb \033[31;44mon blue \033[0m\033[4mline\033[0m\033[38;5;200m\303\274\033[0m\n'; shows-that-it-runs && printf '\033[2mdim\n still\033[0m\n'`,
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shows-that-it-runs"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var images []string
	for range 2 {
		screen, err := record(ctx, binary, dir, commands)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, draw(screen, "A <title> & more"))
	}
	if images[0] != images[1] {
		t.Errorf("two pictures of the same differ:\n%s\n%s", images[0], images[1])
	}
	got := elements(t, images[0])
	for _, want := range []element{
		{"title", "", "", "", "A <title> & more"},
		{"text", "c2", "14.0", "75.6", "green <&>"},
		{"text", "c15 s1", "106.4", "33.6", "bold"},
		{"text", "c15", "148.4", "25.2", "not"},
		{"rect", "ink", "22.4", "", ""},
		{"text", "paper", "22.4", "33.6", "back"},
		{"text", "", "56.0", "8.4", "b"},
		{"rect", "c4", "72.8", "", ""},
		{"text", "c1", "72.8", "67.2", "on blue "},
		{"text", "s4", "140.0", "33.6", "line"},
		{"text", "", "173.6", "8.4", "ü"},
		{"text", "s2", "14.0", "25.2", "dim"},
		{"text", "s2", "22.4", "42.0", "still"},
	} {
		found := false
		for _, e := range got {
			found = found || e == want
		}
		if !found {
			t.Errorf("no %+v in\n%s", want, images[0])
		}
	}
	if !strings.Contains(images[0], "prefers-color-scheme: dark") {
		t.Error("there are no colours for the dark")
	}
}

func TestNoPicture(t *testing.T) {
	binary := testtmux.Binary(t)
	if _, err := record(t.Context(), binary, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no commands") {
		t.Errorf("without commands: %v", err)
	}
	if _, err := record(t.Context(), "no-such-tmux", t.TempDir(), []string{"true"}); err == nil || !strings.Contains(err.Error(), "no-such-tmux") {
		t.Errorf("without tmux: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := record(ctx, binary, t.TempDir(), []string{"echo begun; sleep 100"}); err == nil || !strings.Contains(err.Error(), "begun") {
		t.Errorf("a command that does not end: %v", err)
	}
}

// The picture in README.md is small, shows the gaps as they are called now, and was
// made from the command that it shows.
func TestPictureInReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	embedded := regexp.MustCompile(`!\[[^\]]+\]\((docs/[^)]+\.svg)\)`).FindSubmatch(readme)
	if embedded == nil {
		t.Fatal("README.md has no picture")
	}
	image, err := os.ReadFile(filepath.Join(root, string(embedded[1])))
	if err != nil {
		t.Fatal(err)
	}
	if len(image) >= 40_000 {
		t.Errorf("%s has %d bytes", embedded[1], len(image))
	}
	var text strings.Builder
	for _, e := range elements(t, string(image)) {
		text.WriteString(e.text + "\n")
	}
	gaps, err := conform.LoadSuites("670")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gaps {
		if row := fmt.Sprintf("%d  %s", g.Number, g.Title); !strings.Contains(text.String(), row) {
			t.Errorf("%s has no %q; make it again, as package picture says", embedded[1], row)
		}
	}
}
