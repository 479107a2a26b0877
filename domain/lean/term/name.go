package term

import (
	"strings"
)

// Name is a handle of a hierarchical name. Names that print alike but are built differently ("a.b" of one component,
// or of two) have different handles.
type Name uint32

// Anonymous is the root of all names.
const Anonymous Name = 0

type nameNode struct {
	prefix  Name
	text    string // the last component; decimal digits when numeric
	numeric bool
}

type nameKey nameNode

// NameStr interns prefix.text.
func (s *Store) NameStr(prefix Name, text string) Name {
	return s.internName(nameNode{prefix, text, false})
}

// NameNum interns prefix.digits, a numeric component; digits are canonical decimal digits of any length.
func (s *Store) NameNum(prefix Name, digits string) Name {
	return s.internName(nameNode{prefix, digits, true})
}

func (s *Store) internName(n nameNode) Name {
	if id, ok := s.nameIndex[nameKey(n)]; ok {
		return id
	}
	id := Name(len(s.names))
	s.names = append(s.names, n)
	s.nameIndex[nameKey(n)] = id
	return id
}

// FreshName returns a name different from every other name of this store. It has no spelling a file could write.
func (s *Store) FreshName(hint string) Name {
	id := Name(len(s.names))
	s.names = append(s.names, nameNode{Anonymous, hint, false})
	return id
}

// LookupStr finds prefix.text without interning it.
func (s *Store) LookupStr(prefix Name, text string) (Name, bool) {
	id, ok := s.nameIndex[nameKey{prefix, text, false}]
	return id, ok
}

// LookupNum finds prefix.digits, a numeric component, without interning it.
func (s *Store) LookupNum(prefix Name, digits string) (Name, bool) {
	id, ok := s.nameIndex[nameKey{prefix, digits, true}]
	return id, ok
}

// LookupDotted finds the name whose components are the parts of a plain dotted text.
func (s *Store) LookupDotted(dotted string) (Name, bool) {
	n := Anonymous
	for part := range strings.SplitSeq(dotted, ".") {
		next, ok := s.LookupStr(n, part)
		if !ok {
			return 0, false
		}
		n = next
	}
	return n, true
}

// InternDotted interns the name whose components are the parts of a plain dotted text.
func (s *Store) InternDotted(dotted string) Name {
	n := Anonymous
	for part := range strings.SplitSeq(dotted, ".") {
		n = s.NameStr(n, part)
	}
	return n
}

// NameCount is the number of names of the store, Anonymous included.
func (s *Store) NameCount() int { return len(s.names) }

// NamePrefix is the name without its last component.
func (s *Store) NamePrefix(n Name) Name { return s.names[n].prefix }

// NameLast is the last component and whether it is numeric.
func (s *Store) NameLast(n Name) (text string, numeric bool) {
	return s.names[n].text, s.names[n].numeric
}

// NameString joins the components with dots, as exporters spell names on the command line.
func (s *Store) NameString(n Name) string {
	if n == Anonymous {
		return ""
	}
	var parts []string
	for ; n != Anonymous; n = s.names[n].prefix {
		parts = append(parts, s.names[n].text)
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".")
}

// PlainName joins the components with dots where that spells the name and no other: text components are not empty, hold
// no dot and are not all digits, so that a component of digits is a numeric one.
func (s *Store) PlainName(n Name) (string, bool) {
	for m := n; m != Anonymous; m = s.names[m].prefix {
		node := s.names[m]
		if !node.numeric && (strings.Contains(node.text, ".") || strings.Trim(node.text, "0123456789") == "") {
			return "", false
		}
	}
	return s.NameString(n), n != Anonymous
}
