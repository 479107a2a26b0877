package builtin

import (
	"slices"

	"reckon/domain/lean/term"
)

// Names are the handles of the built-in constants in one store. A handle stands for the name built of these components
// and for no other that prints alike.
type Names struct {
	handles [Count]term.Name
	ids     map[term.Name]ID
}

// Intern enters the names into s.
func Intern(s *term.Store) *Names {
	n := &Names{ids: make(map[term.Name]ID, Count)}
	for id := range Count {
		n.handles[id] = s.InternDotted(Table[id].Name)
		n.ids[n.handles[id]] = id
	}
	return n
}

// Handle is the name of a built-in constant in the store.
func (n *Names) Handle(id ID) term.Name { return n.handles[id] }

// ID is the built-in constant with the given name.
func (n *Names) ID(name term.Name) (ID, bool) {
	id, ok := n.ids[name]
	return id, ok
}

// StringMaker is the function that a string literal of the file applies to its list of characters: String.mk if that is
// String's only constructor, String.ofList otherwise.
func (n *Names) StringMaker(declarations []term.Declaration) ID {
	for i := range declarations {
		if b := declarations[i].Block; b != nil && len(b.Types) == 1 && b.Types[0].Name == n.handles[String] &&
			slices.Equal(b.Types[0].Constructors, []term.Name{n.handles[StringMk]}) {
			return StringMk
		}
	}
	return StringOfList
}
