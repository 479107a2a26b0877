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

// Lint finds what is wrong between entries: a name that two have, and a name of a symbol that is neither an entry's nor the engine's.
func Lint(entries []Entry, inEngine func(name string) bool) []error {
	var wrong []error
	first := map[string]Place{}
	for _, e := range entries {
		key := strings.ToLower(e.Name)
		if e.Kind == Function {
			key = e.Name
		}
		if at, twice := first[key]; twice {
			wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("%s stands in %s too", e.Name, at)})
			continue
		}
		first[key] = e.Place
	}
	for _, e := range entries {
		if e.Kind == Function && !inEngine(e.Name) && !strings.HasPrefix(e.Name, "$") { // the engine lists none of those
			wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("the engine has no symbol %s", e.Name)})
		}
		for _, name := range append(slices.Clone(e.See), e.Symbols...) {
			if _, has := first[name]; !has && !inEngine(name) && !strings.HasPrefix(name, "$") {
				wrong = append(wrong, &SourceError{e.Place, fmt.Sprintf("%s names %s, which is neither an entry nor a symbol of the engine", e.Name, name)})
			}
		}
	}
	return wrong
}
