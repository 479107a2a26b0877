package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// binary is what is shipped.
const binary = "./cmd/reckon"

// platforms that the binary is built for; with cgo and without, it links different modules.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64"}

const standardLibrary = "Go standard library and runtime"

// part is a module, the Go standard library, or what a package of ours takes from others, in the binary.
type part struct {
	path, version string // the version is empty for the standard library, which is the builder's, and for excerpts
	excerpt       bool   // the path is that of our package's folder
	registry      string // of a package of others that lies whole in a folder of ours, as its manifest says; empty: it is none
	texts         []text // of licences and notices, by file name
	licences      []string
}

type text struct{ name, content string }

func moduleRoot(ctx context.Context) (string, error) {
	output, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(output)), err
}

// listed is what go list says of a package.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linked returns the parts of the binary in the order of their paths.
func linked(ctx context.Context, root string) ([]part, error) {
	lists := make([][]listed, 2*len(platforms))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n := range lists {
		group.Go(func() (err error) {
			lists[n], err = packages(ctx, root, platforms[n/2], n%2)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found, folders := map[string]*part{}, map[string]map[string]bool{}
	for _, p := range slices.Concat(lists...) {
		if p.Module == nil {
			continue
		}
		if p.Module.Main {
			if place, err := filepath.Rel(root, p.Dir); err != nil {
				return nil, err
			} else if own, err := excerpt(place, p.Dir); err != nil {
				return nil, err
			} else if own != nil {
				found[place], folders[place] = own, nil
			}
			continue
		}
		if found[p.Module.Path] == nil {
			found[p.Module.Path] = &part{path: p.Module.Path, version: p.Module.Version}
			folders[p.Module.Path] = map[string]bool{}
		}
		// a package may be under a licence of its own, which lies in its folder or above
		for folder := p.Dir; ; folder = filepath.Dir(folder) {
			folders[p.Module.Path][folder] = true
			if folder == p.Module.Dir || len(folder) <= len(p.Module.Dir) {
				break
			}
		}
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	found[standardLibrary] = &part{path: standardLibrary}
	folders[standardLibrary] = map[string]bool{strings.TrimSpace(string(goroot)): true}
	var parts []part
	for _, path := range slices.Sorted(maps.Keys(found)) {
		p := found[path]
		for _, folder := range slices.Sorted(maps.Keys(folders[path])) {
			if err := p.readTexts(folder); err != nil {
				return nil, err
			}
		}
		if err := p.recognise(); err != nil {
			return nil, err
		}
		parts = append(parts, *p)
	}
	return parts, nil
}

// excerpt is the part that a package of ours takes from others, if there is a licence in its folder.
func excerpt(place, folder string) (*part, error) {
	if place == "." {
		return nil, nil
	}
	p := &part{path: place, excerpt: true}
	if err := p.readTexts(folder); err != nil || len(p.texts) == 0 {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	var manifest struct{ Name, Version, Registry string }
	if err := json.Unmarshal(content, &manifest); err != nil {
		return nil, fmt.Errorf("%s/manifest.json: %w", place, err)
	}
	if manifest.Name == "" || manifest.Version == "" || manifest.Registry == "" {
		return nil, fmt.Errorf("%s/manifest.json has to name a package, its version and its registry", place)
	}
	p.path, p.version, p.registry, p.excerpt = manifest.Name, manifest.Version, manifest.Registry, false
	return p, nil
}

func packages(ctx context.Context, root, platform string, cgo int) ([]listed, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Standard,Module", binary)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, fmt.Sprint("CGO_ENABLED=", cgo), "GOFLAGS=")
	var says bytes.Buffer
	command.Stderr = &says
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w\n%s", platform, err, &says)
	}
	var list []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, p)
	}
}

var textNames = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|notice|patents|copyright)([-._].*)?$`)

func (p *part) readTexts(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !textNames.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		clean := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
		if !slices.ContainsFunc(p.texts, func(t text) bool { return t.content == clean }) {
			p.texts = append(p.texts, text{entry.Name(), clean})
		}
	}
	slices.SortStableFunc(p.texts, func(a, b text) int { return cmp.Compare(a.name, b.name) })
	return nil
}
