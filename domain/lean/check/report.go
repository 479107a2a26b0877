package check

import (
	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/term"
)

// Kernel is a type checker's result for the whole file. It says nothing about axioms or definitions.
type Kernel string

// The answers of a kernel.
const (
	Accepted    Kernel = "accepted"
	Refused     Kernel = "refused"
	Undecided   Kernel = "undecided"     // it did not finish in the time and memory given
	OutOfBudget Kernel = "out_of_budget" // the second kernel only: its budget, counted in steps, ran out
)

// Verdict is the judgement on the named declarations.
type Verdict string

// The verdicts.
const (
	Verified     Verdict = "verified"
	Rejected     Verdict = "rejected"     // the kernel refused a declaration
	Unsupported  Verdict = "unsupported"  // the export cannot be judged
	Inconclusive Verdict = "inconclusive" // the check did not finish, or the kernels disagree
)

// Class names the reason of a refusal: one of the classes below, of package export or of package kernel.
type Class string

// Classes of refusal beyond those of packages export and kernel.
const (
	MissingDeclaration   Class = "missing_declaration"   // a requested name is not declared
	AmbiguousDeclaration Class = "ambiguous_declaration" // a requested name is how several declarations print
	Sorry                Class = "sorry"                 // sorryAx is reached
	CustomAxiom          Class = "custom_axiom"          // an axiom outside the core library is reached
	ForgedAxiom          Class = "forged_axiom"          // a core axiom's name on something else
	BasisDiffers         Class = "basis_differs"         // a logical constant is not Lean's
	ConformanceDiffers   Class = "conformance_differs"   // a core definition is not that of the claimed version
	StatementTooLong     Class = "statement_too_long"    // a requested declaration states more than can be printed
	StatementUnreadable  Class = "statement_unreadable"  // what is printed for a declaration does not read back
	ResourceLimit        Class = "resource_limit"        // the check ran out of time, memory or depth
	KernelsDisagree      Class = "kernels_disagree"      // another kernel refuses what the first accepts
)

// Report is the outcome of a check. Its JSON is what `reckon lean check --json` prints.
type Report struct {
	Kernel              Kernel          `json:"kernel"`  // of the first kernel
	Kernels             []KernelAnswer  `json:"kernels"` // of each kernel that was asked
	Verdict             Verdict         `json:"verdict"`
	Refusal             *Refusal        `json:"refusal"`
	Declarations        []Declaration   `json:"declarations"`
	AxiomsUsed          []string        `json:"axioms_used"`
	Conformance         *Conformance    `json:"conformance"`
	OwnDefinitions      *OwnDefinitions `json:"own_definitions"`
	DeclarationsChecked int             `json:"declarations_checked"`
	ElapsedMS           int64           `json:"elapsed_ms"` // set by the caller, who has a clock

	Export Export `json:"-"`
	// Unreadable says that the file could not be read as an export; Refusal has the line.
	Unreadable bool `json:"-"`
}

// Refusal says what is wrong and where.
type Refusal struct {
	Declaration string `json:"declaration"`
	Class       Class  `json:"class"`
	Message     string `json:"message"`
	File        string `json:"file"`
	Line        int    `json:"line"`
}

// Declaration is one named declaration.
type Declaration struct {
	Name            string   `json:"name"`
	Kind            string   `json:"kind"`
	Statement       *string  `json:"statement"` // null where it is too long to be printed
	Axioms          []string `json:"axioms"`
	StatementSHA256 *string  `json:"statement_sha256"` // of the statement's UTF-8 text, lower-case hex; null without one
}

// OwnDefinitions lists the definitions of the uploader that the statements of the named declarations depend on, in the
// order of the file. Proofs are left out: a proposition means the same whatever proves it. What is shown is bounded; the
// digest is over all.
type OwnDefinitions struct {
	Count       int             `json:"count"`
	SHA256      string          `json:"sha256"` // of all texts, each followed by a line feed, lower-case hex
	Definitions []OwnDefinition `json:"definitions"`
	Omitted     int             `json:"omitted"` // number of definitions not shown, the farthest from the statements; the hash covers them
}

// OwnDefinition is one declaration, rendered whole.
type OwnDefinition struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Export identifies the file.
type Export struct {
	SHA256       string // of the normalised file, lower-case hex
	Bytes        int64
	Meta         export.Meta
	Declarations int
}

// Conformance compares the declarations of the file with the reference table of the Lean version it claims, or of the
// nearest one.
type Conformance struct {
	ReferenceLeanVersion *string             `json:"reference_lean_version"` // of the table: the nearest where the file's version has none
	Matched              int                 `json:"matched"`
	Differing            []string            `json:"differing"`
	Outside              OutsideDeclarations `json:"outside"`
}

// OutsideDeclarations counts the declarations that the reference table does not have.
type OutsideDeclarations struct {
	Count      int      `json:"count"`
	Namespaces []string `json:"namespaces"` // first components of their names, sorted
}

// kindOf is the kind of a declared name as certificates spell it.
func kindOf(d *term.Declaration, n term.Name) string {
	if d.Kind != term.Inductive {
		return d.Kind.String()
	}
	for i := range d.Block.Constructors {
		if d.Block.Constructors[i].Name == n {
			return "constructor"
		}
	}
	for i := range d.Block.Recursors {
		if d.Block.Recursors[i].Name == n {
			return "recursor"
		}
	}
	return "inductive"
}

// unsafeClass is the one kernel refusal that is no judgement on a proof.
const unsafeClass = kernel.UnsafeDeclaration

// Unfinished is the report of a check that was stopped.
func Unfinished(why string) *Report {
	r := &Report{Kernel: Undecided, Verdict: Inconclusive, Declarations: []Declaration{}, AxiomsUsed: []string{},
		Refusal: &Refusal{Class: ResourceLimit, Message: why}}
	r.Answered(fastName, Undecided, why)
	return r
}
