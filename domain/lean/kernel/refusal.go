package kernel

import (
	"context"
	"errors"
	"fmt"

	"reckon/domain/lean/term"
)

// Class is the rule a refused declaration breaks.
type Class string

// The classes of refusal. docs/kernel.md explains each.
const (
	DuplicateDeclaration  Class = "duplicate_declaration"
	DuplicateUniverse     Class = "duplicate_universe_parameter"
	UndefinedUniverse     Class = "undefined_universe_parameter"
	UniverseCount         Class = "universe_count"
	UnknownConstant       Class = "unknown_constant"
	LooseVariable         Class = "loose_variable"
	TypeExpected          Class = "type_expected"
	FunctionExpected      Class = "function_expected"
	TypeMismatch          Class = "type_mismatch"
	ArgumentMismatch      Class = "argument_mismatch"
	LetMismatch           Class = "let_mismatch"
	TheoremNotProp        Class = "theorem_not_prop"
	InvalidProjection     Class = "invalid_projection"
	InvalidLiteral        Class = "invalid_literal"
	UnsafeReference       Class = "unsafe_reference"
	UnsafeDeclaration     Class = "unsafe_declaration"
	InvalidInductive      Class = "invalid_inductive"
	InvalidConstructor    Class = "invalid_constructor"
	UniverseTooBig        Class = "universe_too_big"
	NonPositiveOccurrence Class = "non_positive_occurrence"
	InvalidOccurrence     Class = "invalid_occurrence"
	InvalidNested         Class = "invalid_nested"
	InductiveMismatch     Class = "inductive_mismatch"
	ConstructorMismatch   Class = "constructor_mismatch"
	RecursorMismatch      Class = "recursor_mismatch"
	InvalidQuotient       Class = "invalid_quotient"
)

// Refusal says why a declaration is not accepted.
type Refusal struct {
	Declaration term.Name
	Class       Class
	Message     string
	Line        int

	// minor marks a record that differs from the generated one in a field that no reduction reads, and an unsafe
	// declaration, which is not checked. A refusal that is not minor takes precedence over a minor one.
	minor bool
}

func (r *Refusal) Error() string { return string(r.Class) + ": " + r.Message }

// Exhausted says that the check did not finish: a resource bound was met, or the caller cancelled. It is no verdict.
type Exhausted struct {
	Declaration term.Name
	Line        int
	Reason      string
}

func (e *Exhausted) Error() string { return "not finished: " + e.Reason }

// refusalPanic, exhaustedPanic and abandonedPanic unwind the checker; checkUnit recovers them.
type refusalPanic struct {
	name    term.Name // of the refused declaration; Anonymous: the one being checked
	class   Class
	message string
	minor   bool
}

type exhaustedPanic struct{ reason string }

var outOfTime = exhaustedPanic{"the time given ran out, or the check was cancelled"}

// contextEnded is the panic for a context that has ended. Its reason names memory when the cause of the context is
// term.OutOfMemory, as a watcher of memory sets it, and time or cancellation otherwise.
func contextEnded(ctx context.Context) exhaustedPanic {
	if out, ok := errors.AsType[term.OutOfMemory](context.Cause(ctx)); ok {
		return exhaustedPanic{out.Error()}
	}
	return outOfTime
}

// abandonedPanic ends the check of a declaration because an earlier one was refused.
type abandonedPanic struct{}

func refuse(class Class, format string, args ...any) {
	panic(refusalPanic{class: class, message: fmt.Sprintf(format, args...)})
}

func refuseAt(name term.Name, class Class, format string, args ...any) {
	panic(refusalPanic{name: name, class: class, message: fmt.Sprintf(format, args...)})
}
