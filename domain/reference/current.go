package reference

import (
	"errors"
	"sync"
)

// Reference is the reference as this binary has it.
type Reference struct {
	Built
	*Index
	Entries []Entry
}

// current reads the build that this binary has, once, and only in a process that asks.
var current = sync.OnceValues(func() (Built, error) {
	text, err := data.ReadFile("data/" + BuiltFile)
	if err != nil {
		return Built{}, err
	}
	return Decode(text)
})

// Current answers the reference of this binary: what was built, and what finds it.
var Current = sync.OnceValues(func() (*Reference, error) {
	built, err := current()
	if err != nil {
		return nil, err
	}
	entries, wrong := Load()
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return &Reference{built, NewIndex(built.Rows, entries), entries}, nil
})

// Implemented are the names of the functions that the engine has: those that it lists without those of which it says that it does not
// implement them. There are none in a binary whose build cannot be read, which TestCurrent does not let pass.
func Implemented() []string {
	built, err := current()
	if err != nil {
		return nil
	}
	var names []string
	for _, row := range built.Rows {
		if row.Kind == Function && !row.NotImplemented {
			names = append(names, row.Name)
		}
	}
	return names
}
