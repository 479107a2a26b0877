package reference

// Ran is the outcome of an example's input on the engine in force.
type Ran struct {
	Answer      Answer
	Refused     string // why there is no answer; empty: there is one
	Denied      bool   // Refused for safety: the expression may not be evaluated here
	OutOfTime   bool   // Refused because it took longer than its budget
	Unevaluated bool   // the engine gave the input back
	// Check is the independent checker's verdict on the answer.
	Check Verdict
	// Equal is its verdict on the answer to the right value's Question, asked where the two are not the same expression.
	Equal Verdict
	// Given is its verdict on the value that a checked example gives as right, asked where the answer is another expression.
	Given Verdict
}

// Verdict is the independent checker's verdict; the zero value: no check was made.
type Verdict struct {
	Verified, Refuted bool
	About             string // the rule and what it rests on, or why nothing was learned
}

// State says whether an example's answer is right.
type State string

// The states of an example.
const (
	StateRight    State = "right"
	StateWrong    State = "wrong"
	StateUnproven State = "unproven" // nothing shows that it is right, and nothing that it is wrong
	StateDenied   State = "denied"   // not evaluated here, for safety
)

// Judgement is the conclusion about an example that ran.
type Judgement struct {
	State      State
	Basis      string // of StateRight: what it rests on
	Difference string // of the others: how the answer differs, or why nothing is known
	Trivial    bool   // the answer is the input: it shows nothing
}

// Judge concludes from what the engine answered and the checker found. The checker is believed against a cited value, and never the engine.
func Judge(example Example, ran Ran) Judgement {
	right := example.Right
	switch {
	case ran.Denied:
		return Judgement{State: StateDenied, Difference: ran.Refused}
	case ran.Refused != "":
		return Judgement{State: StateWrong, Difference: "no answer: " + ran.Refused}
	}
	j := Judgement{Trivial: IsTrivial(example, ran.Answer)}
	same, difference := Compare(right, ran.Answer)
	switch {
	case j.Trivial && !same: // also where the checker proves it equal, as it is for any input
		j.State, j.Difference = StateWrong, "the engine leaves the input as it is"
	case ran.Check.Refuted && same:
		j.State, j.Difference = StateUnproven, "it is the value given as right, which the checker refutes: "+ran.Check.About
	case ran.Check.Refuted:
		j.State, j.Difference = StateWrong, difference+"; the checker refutes it: "+ran.Check.About
	case right.Checked && ran.Check.Verified && !same && !ran.Given.Verified:
		j.State, j.Difference = StateUnproven, "the checker verifies the answer, and does not verify the value given as right: "+ran.Given.About
	case right.Checked && ran.Check.Verified:
		j.State, j.Basis = StateRight, ran.Check.About
	case right.Checked && same:
		j.State, j.Difference = StateUnproven, "it is the value given as right, which the checker could not confirm: "+ran.Check.About
	case right.Checked:
		j.State, j.Difference = StateUnproven, difference+"; the checker could not confirm it: "+ran.Check.About
	case same:
		j.State, j.Basis = StateRight, "the same as the right value"
	case ran.Equal.Verified:
		j.State, j.Basis = StateRight, "proved equal to the right value: "+ran.Equal.About
	default:
		j.State, j.Difference = StateWrong, difference
	}
	return j
}
