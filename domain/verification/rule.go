package verification

// Declaration describes a rule; docs/verification.md is generated from it.
type Declaration struct {
	Slug     string    // the "method" of section 2.3
	Heads    []string  // the functions of the language it checks
	Shows    string    // the statement that a verdict of this rule is about
	Silent   string    // properties of the answer that a verdict does not cover
	Examples []Example // shown with the checker's own outcome
}

// An Example is one input with an answer to check.
type Example struct{ Input, Answer string }

// A Rule is a ResidualRule, a SampledRule or a ProofRule; there are no others.
type Rule interface {
	Declare() Declaration
	appliesTo(Call) bool // a call of one of its heads
	derive(Call) (Task, error)
	conclude(Finding) Outcome
	basis() Basis
}

// A ResidualRule checks a statement whose truth is the correctness of the answer: it can verify and refute.
type ResidualRule struct {
	Declaration
	form func(Call) bool // the forms of call it takes; nil: all
	plan func(Call) (Task, error)
}

// A SampledRule compares with an independent approximation: it can refute and never verify. What its check proves all the same is
// another rule's to say.
type SampledRule struct {
	Declaration
	form  func(Call) bool // the forms of call it takes; nil: all
	plan  func(Call) (Task, error)
	proof ProofRule
}

// Proof is the slug of the rule that says what the check proved.
func (r SampledRule) Proof() string { return r.proof.Slug }

// A ProofRule says what the check of a SampledRule proved: it takes no call by itself, verifies and never refutes.
type ProofRule struct{ Declaration }

// ResidualVerdict is all that a ResidualRule can conclude.
type ResidualVerdict struct{ outcome Outcome }

// ProofVerdict is all that a ProofRule can conclude.
type ProofVerdict struct{ outcome Outcome }

// SampledVerdict is all that a SampledRule can conclude. Its zero value says that nothing was learned, and there is no
// value of this type that says verified.
type SampledVerdict uint8

// The values of a SampledVerdict.
const (
	Undecided SampledVerdict = iota
	Agrees
	Contradicts
)

// Declare gives the rule's declaration.
func (r ResidualRule) Declare() Declaration { return r.Declaration }

// Declare gives the rule's declaration.
func (r SampledRule) Declare() Declaration { return r.Declaration }

// Declare gives the rule's declaration.
func (r ProofRule) Declare() Declaration { return r.Declaration }

func (r ResidualRule) appliesTo(call Call) bool { return r.form == nil || r.form(call) }
func (r SampledRule) appliesTo(call Call) bool  { return r.form == nil || r.form(call) }

func (ProofRule) appliesTo(Call) bool { return false }

func (r ResidualRule) derive(call Call) (Task, error) { return r.plan(call) }
func (r SampledRule) derive(call Call) (Task, error)  { return r.plan(call) }
func (r ProofRule) derive(Call) (Task, error) {
	return Task{}, noShape(r.Slug + " takes no call by itself")
}

func (ResidualRule) basis() Basis { return BasisNumeric }
func (SampledRule) basis() Basis  { return BasisCrossCheck }
func (ProofRule) basis() Basis    { return BasisNumeric }

func (ResidualRule) conclude(f Finding) Outcome { return judgeResidual(f).outcome }

func (ProofRule) conclude(f Finding) Outcome { return judgeProof(f).outcome }

func (SampledRule) conclude(f Finding) Outcome {
	switch judgeSample(f) {
	case Contradicts:
		return Outcome{Verdict: VerdictRefuted, Basis: BasisCrossCheck}
	case Agrees:
		return Outcome{Verdict: VerdictInconclusive, Basis: BasisCrossCheck, Reason: ReasonCrossCheckAgrees}
	}
	return Outcome{Verdict: VerdictInconclusive, Reason: ReasonNotReduced}
}

// judgeResidual trusts a proof and a refutation alike; mere agreement within a tolerance stays inconclusive.
func judgeResidual(f Finding) ResidualVerdict {
	basis := BasisNumeric
	if f.Exact {
		basis = BasisExact
	}
	switch f.Status {
	case StatusProved:
		return ResidualVerdict{Outcome{Verdict: VerdictVerified, Basis: basis}}
	case StatusRefuted:
		return ResidualVerdict{Outcome{Verdict: VerdictRefuted, Basis: basis}}
	case StatusAgrees:
		return ResidualVerdict{Outcome{Verdict: VerdictInconclusive, Basis: BasisCrossCheck, Reason: ReasonCrossCheckAgrees}}
	}
	return ResidualVerdict{Outcome{Verdict: VerdictInconclusive, Reason: ReasonNotReduced}}
}

// judgeProof trusts a proof alone.
func judgeProof(f Finding) ProofVerdict {
	if f.Status != StatusProved {
		return ProofVerdict{Outcome{Verdict: VerdictInconclusive, Reason: ReasonNotReduced}}
	}
	basis := BasisNumeric
	if f.Exact {
		basis = BasisExact
	}
	return ProofVerdict{Outcome{Verdict: VerdictVerified, Basis: basis}}
}

func judgeSample(f Finding) SampledVerdict {
	switch f.Status {
	case StatusRefuted:
		return Contradicts
	case StatusAgrees:
		return Agrees
	}
	return Undecided
}
