// Package scope is the list of OAuth scopes: the parts of an account that a credential may be confined to. They are
// stored in the log by name, with tokens and with grants.
//
// It promises that a name which this binary does not know allows nothing.
package scope

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Scope is one thing that a credential may be allowed to do.
type Scope string

// The scopes (interface §5).
const (
	Evaluate      Scope = "evaluate"
	Verify        Scope = "verify"
	HistoryRead   Scope = "history:read"
	ReceiptsRead  Scope = "receipts:read"
	JobsRead      Scope = "jobs:read"
	JobsWrite     Scope = "jobs:write"
	ProofsWrite   Scope = "proofs:write"
	SessionsWrite Scope = "sessions:write"
	MCP           Scope = "mcp"
)

// described are all scopes in the order in which people are shown them, each with what it allows.
var described = []struct {
	scope Scope
	means string
}{
	{Evaluate, "evaluate expressions, which are logged and count against the plan"},
	{Verify, "have answers checked, which counts against the plan"},
	{HistoryRead, "read the log of evaluations, with their expressions, results and plots"},
	{ReceiptsRead, "read signed receipts"},
	{JobsRead, "read jobs with their results, and certificates"},
	{JobsWrite, "submit and cancel jobs, which count against the plan"},
	{ProofsWrite, "upload, validate and elaborate proofs"},
	{SessionsWrite, "list and clear evaluation sessions"},
	{MCP, "use every tool of the MCP endpoint: evaluate, check, simulate, prove, read jobs and recent runs"},
}

// All lists every scope.
func All() []Scope {
	all := make([]Scope, len(described))
	for i, d := range described {
		all[i] = d.scope
	}
	return all
}

// Means says what the scope allows, to complete "It may …".
func (s Scope) Means() string {
	if i := s.index(); i >= 0 {
		return described[i].means
	}
	return ""
}

func (s Scope) index() int {
	for i, d := range described {
		if d.scope == s {
			return i
		}
	}
	return -1
}

// ErrUnknown means that a name is no scope's, or that a list of scopes has none.
var ErrUnknown = errors.New("scopes are: " + strings.Join(Of(All()...).Names(), ", "))

// Set is a set of scopes. The zero Set is empty.
type Set struct{ members uint32 } // bit i: described[i]

// Of returns the set of some scopes.
func Of(scopes ...Scope) (s Set) {
	for _, one := range scopes {
		if i := one.index(); i >= 0 {
			s.members |= 1 << i
		}
	}
	return s
}

// Known returns the set of those names that are scopes' and leaves out the others.
func Known(names []string) (s Set) {
	for _, name := range names {
		s = s.With(Of(Scope(name)))
	}
	return s
}

// Parse returns the set of these names, of which there must be at least one: ErrUnknown for none, and for a name
// that is no scope's.
func Parse(names []string) (Set, error) {
	for _, name := range names {
		if Scope(name).index() < 0 {
			return Set{}, fmt.Errorf("%w", ErrUnknown)
		}
	}
	if len(names) == 0 {
		return Set{}, ErrUnknown
	}
	return Known(names), nil
}

// Has tells whether a scope is in the set.
func (s Set) Has(one Scope) bool {
	i := one.index()
	return i >= 0 && s.members&(1<<i) != 0
}

// IsEmpty tells whether the set has no scope.
func (s Set) IsEmpty() bool { return s.members == 0 }

// Len counts the scopes of the set.
func (s Set) Len() int { return bits.OnesCount32(s.members) }

// With returns the scopes of both sets.
func (s Set) With(other Set) Set { return Set{s.members | other.members} }

// And returns the scopes that are in both sets.
func (s Set) And(other Set) Set { return Set{s.members & other.members} }

// Without returns the scopes that are not in the other set.
func (s Set) Without(other Set) Set { return Set{s.members &^ other.members} }

// Scopes lists the scopes of the set in the order of All.
func (s Set) Scopes() []Scope {
	return slices.DeleteFunc(All(), func(one Scope) bool { return !s.Has(one) })
}

// Names lists the names of the set's scopes in the order of All.
func (s Set) Names() []string {
	names := make([]string, 0, s.Len())
	for _, one := range s.Scopes() {
		names = append(names, string(one))
	}
	return names
}

// String is the set as OAuth writes it: names with spaces between them (RFC 6749 §3.3).
func (s Set) String() string { return strings.Join(s.Names(), " ") }
