package reference

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed data
var data embed.FS

// Load reads the source that this binary has, in the order of its files' names, together with all mistakes in it.
func Load() ([]Entry, []error) { return LoadFrom(data, "data") }

// LoadFrom reads every *.txt of a folder, as Load does.
func LoadFrom(files fs.FS, folder string) ([]Entry, []error) {
	names, err := fs.Glob(files, path.Join(folder, "*.txt"))
	if err != nil {
		return nil, []error{err}
	}
	if len(names) == 0 {
		return nil, []error{fmt.Errorf("%s holds no *.txt: it is not a source of the reference", folder)}
	}
	slices.Sort(names)
	var entries []Entry
	var wrong []error
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, []error{err}
		}
		read, errs := Parse(path.Base(name), string(text))
		entries, wrong = append(entries, read...), append(wrong, errs...)
	}
	return entries, wrong
}

// LintNames finds entries that have the name of another.
func LintNames(entries []Entry) []error {
	var wrong []error
	first := map[string]Place{}
	for _, e := range entries {
		key := e.Name
		if e.Kind == Task {
			key = strings.ToLower(key)
		}
		if at, twice := first[key]; twice {
			wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("%s stands in %s too", e.Name, at)})
			continue
		}
		first[key] = e.Place
	}
	return wrong
}

// Lint finds names of symbols that the engine does not have.
func Lint(entries []Entry, inEngine func(name string) bool) []error {
	var wrong []error
	has := func(name string) bool {
		return inEngine(name) || strings.HasPrefix(name, "$") // the engine lists none of those
	}
	for _, e := range entries {
		if e.Kind == Function && !has(e.Name) {
			wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("the engine has no symbol %s", e.Name)})
		}
		for _, name := range append(slices.Clone(e.See), e.Symbols...) {
			if !has(name) {
				wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("%s names %s, which the engine does not have", e.Name, name)})
			}
		}
	}
	return wrong
}
