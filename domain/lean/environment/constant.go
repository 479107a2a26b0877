package environment

import "reckon/domain/lean/term"

// Kind says what a constant is.
type Kind uint8

// The kinds of constant.
const (
	Axiom Kind = iota
	Definition
	Theorem
	Opaque
	Quotient
	Inductive
	Constructor
	Recursor
)

// Constant is a declared constant. One of Inductive, Constructor, Recursor and Quotient is set, or none, as Kind says.
type Constant struct {
	Name   term.Name
	Kind   Kind
	Unit   int // index of the declaration that introduces it
	Unsafe bool
	Params []term.Name // universe parameters
	Type   term.Expr
	Value  term.Expr // of definitions and theorems what delta unfolds to; an opaque constant has one and is never unfolded
	Height int32     // of a definition: larger is unfolded first

	Inductive   *InductiveInfo
	Constructor *ConstructorInfo
	Recursor    *RecursorInfo
	Quotient    term.QuotKind
}

// Unfolds reports whether delta reduction replaces the constant by its value. Opaque constants never unfold.
func (c *Constant) Unfolds() bool { return c.Kind == Definition || c.Kind == Theorem }

// InductiveInfo describes an inductive type.
type InductiveInfo struct {
	NumParams, NumIndices int
	Constructors          []term.Name
	All                   []term.Name // the types of its block, in order
	IsRec                 bool
}

// StructureLike reports whether structure eta applies: one constructor, no indices, not recursive.
func (i *InductiveInfo) StructureLike() bool {
	return len(i.Constructors) == 1 && i.NumIndices == 0 && !i.IsRec
}

// ConstructorInfo describes a constructor.
type ConstructorInfo struct {
	Inductive            term.Name
	NumParams, NumFields int
}

// RecursorInfo describes a recursor.
type RecursorInfo struct {
	NumParams, NumIndices, NumMotives, NumMinors int
	Rules                                        []term.Rule
	K                                            bool
	MajorInductive                               term.Name // the type eliminated
}

// FirstIndex is the position of the first index among the arguments.
func (r *RecursorInfo) FirstIndex() int { return r.NumParams + r.NumMotives + r.NumMinors }

// MajorIndex is the position of the value eliminated among the arguments.
func (r *RecursorInfo) MajorIndex() int { return r.FirstIndex() + r.NumIndices }

// Delta heights of constants that have none of their own.
const (
	OpaqueHeight = -1
	AbbrevHeight = 1<<31 - 1
)
