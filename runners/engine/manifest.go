package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// manifestName is the file that declares an environment whole. Its first line is the revision and the version of the Python
// it was made with; every other is one file of the environment: the SHA-256 of its content, or "link " and what it points
// to, a tab, and its path.
const manifestName = "reckon-environment"

// errNotInstalled: nothing was ever completed in the folder, or another revision was.
var errNotInstalled = errors.New("not installed")

// damageError: the folder is not what was installed.
type damageError struct{ path, difference string }

func (e *damageError) Error() string { return e.path + " " + e.difference }

// writeManifest is the last step of making an environment, before it gets its name.
func (p Packages) writeManifest(folder string) error {
	version, err := pythonVersion(folder)
	if err != nil {
		return err
	}
	files, err := listFiles(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", p.Revision(), version)
	for _, f := range files {
		if f.content, err = f.read(folder); err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s\t%s\n", f.content, f.path)
	}
	return os.WriteFile(filepath.Join(folder, manifestName), []byte(text.String()), 0o600)
}

// verify compares an environment with what was installed: every file is there, nothing else is, all have the content they
// had, nobody but the owner may change one, and the machine's Python is still the one it was made for.
func (p Packages) verify(folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return errNotInstalled
	}
	text, err := os.ReadFile(filepath.Join(folder, manifestName))
	if err != nil {
		return errNotInstalled
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	revision, version, _ := strings.Cut(first, " ")
	if revision != p.Revision() {
		return errNotInstalled
	}
	wanted := map[string]string{}
	for line := range strings.Lines(rest) {
		content, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !strings.HasSuffix(line, "\n") {
			return &damageError{manifestName, "is cut short"}
		}
		wanted[path] = content
	}
	files, err := listFiles(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, known := wanted[f.path]; !known {
			return &damageError{f.path, "was added"}
		}
		f.content = wanted[f.path]
		delete(wanted, f.path)
	}
	if len(wanted) > 0 {
		return &damageError{slices.Min(slices.Collect(maps.Keys(wanted))), "is missing"}
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		group.Go(func() error {
			if content, err := f.read(folder); err != nil || content != f.content {
				return &damageError{f.path, "was changed"}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if now, err := pythonVersion(folder); err != nil || now != version {
		return &damageError{"bin/python", "is no longer Python " + version}
	}
	return nil
}

// entry is a file of an environment.
type entry struct {
	path    string // below the folder, with slashes
	link    bool
	content string // as the manifest has it
}

// listFiles lists the files of an environment, in the order of their paths.
func listFiles(folder string) ([]*entry, error) {
	var list []*entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if err != nil || below == manifestName {
			return err
		}
		below = filepath.ToSlash(below)
		link := d.Type()&fs.ModeSymlink != 0
		if !link {
			info, err := d.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o022 != 0 {
				return &damageError{below, "may be written by other users"}
			}
			if d.IsDir() {
				return nil
			}
			if !info.Mode().IsRegular() {
				return &damageError{below, "is no file"}
			}
		}
		list = append(list, &entry{path: below, link: link})
		return nil
	})
	return list, err
}

func (e *entry) read(folder string) (string, error) {
	path := filepath.Join(folder, filepath.FromSlash(e.path))
	if e.link {
		target, err := os.Readlink(path)
		return "link " + target, err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// pythonVersion asks the interpreter that an environment's links lead to: packages are found below its minor version.
func pythonVersion(folder string) (string, error) {
	output, err := exec.Command(Python(folder), "-I", "-S", "-B", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	return strings.TrimSpace(string(output)), err
}
