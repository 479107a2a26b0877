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

	// minor marks a record that differs from the generated one in a way that no reduction depends on, and unsafe
	// declarations, which are not judged; a refusal that is not minor is reported first, because it says more.
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

// refused, stopped and passed unwind the checker; checkUnit recovers them and nothing else.
type refused struct {
	name    term.Name // 0: the declaration being checked
	class   Class
	message string
	minor   bool
}

type stopped struct{ reason string }

var outOfTime = stopped{"the time given ran out, or the check was cancelled"}

// outOfContext says why a context has ended: with the memory, which whoever watches it gives as the cause, or in time.
func outOfContext(ctx context.Context) stopped {
	if out, ok := errors.AsType[term.OutOfMemory](context.Cause(ctx)); ok {
		return stopped{out.Error()}
	}
	return outOfTime
}

// passed abandons a declaration because an earlier one is already refused.
type passed struct{}

func refuse(class Class, format string, args ...any) {
	panic(refused{class: class, message: fmt.Sprintf(format, args...)})
}

func refuseAt(name term.Name, class Class, format string, args ...any) {
	panic(refused{name: name, class: class, message: fmt.Sprintf(format, args...)})
}
