package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// TestWhatGoesAlong: NOTICE and the licences that the binary prints are those of what is linked today, and the list of
// parts names all of them, and the packages of the engine, with what identifies each.
func TestWhatGoesAlong(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := linked(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{noticeFile: notice(parts), licencesFile: licenceTexts(parts)} {
		if got, err := os.ReadFile(filepath.Join(root, file)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run `make generate` (%v)", file, err)
		}
	}
	unicode, err := os.ReadFile(filepath.Join(root, "domain/lean/statement/LICENSE-unicode.txt"))
	if err != nil || !bytes.Contains(licenceTexts(parts), bytes.TrimSpace(unicode)) || !bytes.Contains(notice(parts), []byte("Unicode-DFS-2016")) {
		t.Errorf("the licence of Unicode's table does not go along (%v)", err)
	}
	modules, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.path != standardLibrary && !p.excerpt && p.registry == "" && !strings.Contains(string(modules), p.path+" "+p.version) {
			t.Errorf("%s %s is not in go.mod", p.path, p.version)
		}
		if strings.HasPrefix(p.path, "gocloud.dev") || strings.Contains(p.path, "dockertest") {
			t.Errorf("%s is linked", p.path)
		}
	}
	document, err := sbom(root, "0123456789ab", parts)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sbom(root, "0123456789ab", parts); err != nil || !bytes.Equal(document, again) {
		t.Errorf("the same parts give another list: %v", err)
	}
	var read cyclonedx.BOM
	if err := json.Unmarshal(document, &read); err != nil || read.BOMFormat != "CycloneDX" || read.SpecVersion != cyclonedx.SpecVersion1_6 {
		t.Fatalf("%v: %.200s", err, document)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f-]{36}$`).MatchString(read.SerialNumber) {
		t.Errorf("serial number %q", read.SerialNumber)
	}
	var names []string
	for _, c := range *read.Components {
		names = append(names, c.PackageURL)
		if c.Licenses == nil || len(*c.Licenses) == 0 || c.PackageURL == "" || c.BOMRef == "" {
			t.Errorf("%+v", c)
		}
		if python := strings.HasPrefix(c.PackageURL, "pkg:pypi/"); python && (c.Hashes == nil || len(*c.Hashes) == 0) {
			t.Errorf("%s has no hash", c.PackageURL)
		}
	}
	for _, want := range []string{"pkg:pypi/woxi@", "pkg:pypi/python-flint@", "pkg:pypi/passagemath-giac@", "pkg:pypi/mpmath@", "pkg:golang/google.golang.org/grpc@v", "pkg:golang/std", "pkg:generic/domain/lean/statement"} {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, want) }) {
			t.Errorf("no %s", want)
		}
	}
	if len(names) != len(parts)+len(pythonLicences) {
		t.Errorf("%d components of %d parts", len(names), len(parts))
	}
}

// TestUnfitLicencesAreErrors: a part without a licence, or under one that may not be linked, ends the generation.
func TestUnfitLicencesAreErrors(t *testing.T) {
	t.Parallel()
	mit := readLicence(t, "github.com/alecthomas/kong")
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"none": {"All rights reserved.", "no licence that is recognised"},
		"GPL": {"This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License " +
			"as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.\n\n" +
			"This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of " +
			"MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.", "look whether it may be linked"},
		"MIT": {mit, ""},
	} {
		p := part{path: "example.com/x", version: "v1.0.0", texts: []text{{"LICENSE", c.text}}}
		err := p.recognise()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v (%v)", name, err, p.licences)
		}
	}
}

// readLicence is the text of a part, as it is shipped.
func readLicence(t *testing.T, path string) string {
	t.Helper()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := os.ReadFile(filepath.Join(root, licencesFile))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(shipped), "\n"+path+" v")
	_, after, cut := strings.Cut(after, "\n"+path+" v") // the first is in the list of parts
	_, after, headed := strings.Cut(after, strings.Repeat("=", 80)+"\n")
	content, _, _ := strings.Cut(after, "\n"+strings.Repeat("=", 80))
	if !found || !cut || !headed {
		t.Fatalf("the licence of %s is not shipped", path)
	}
	return content
}

// TestDependenciesAreAccountedFor: the table names exactly the modules that go.mod requires directly, with the modules each
// brings as they are today, a size for what is linked, and a reason. Sizes and times are measured by `make generate`.
func TestDependenciesAreAccountedFor(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, dependenciesFile))
	if err != nil {
		t.Fatal(err)
	}
	list, err := dependencies(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	before := written(string(document))
	for n := range list {
		was, is := before[list[n].module], &list[n]
		is.megabytes, is.compileSecs = was.megabytes, was.compileSecs
		if len(strings.TrimSpace(was.why)) < 20 {
			t.Errorf("%s: %s does not say why it stays", dependenciesFile, is.module)
		}
	}
	want, err := replaceTable(string(document), table(list, before))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(document) {
		t.Errorf("%s is out of date: run `go generate ./internal/supplychain`; the table is now\n%s", dependenciesFile, table(list, before))
	}
}

func TestPackageOfASymbol(t *testing.T) {
	t.Parallel()
	for symbol, want := range map[string]string{
		"github.com/cockroachdb/pebble/v2.(*DB).Get": "github.com/cockroachdb/pebble/v2",
		"gopkg.in/yaml%2ev2.Marshal":                 "gopkg.in/yaml.v2",
		"runtime.main":                               "runtime",
		"go:itab.*github.com/uptrace/bun.DB,github.com/uptrace/bun.IConn":   "github.com/uptrace/bun",
		"reckon/projections.first[go.shape.struct { a.b/c.T }]":             "reckon/projections",
		"slices.SortFunc[go.shape.[]github.com/uptrace/bun/schema.T,go.sh]": "slices",
		"type:.eq.struct {}": "type:",
		"memcpy":             "",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}
