package audit

import (
	"fmt"

	"reckon/domain/run"
)

// Verdicts are the verdicts that a log has on answers, by run. What a log says of an answer and no signature covers, because it was asked
// for later, is checked by asking again. One verdict takes about 150 bytes.
type Verdicts struct {
	ofRun map[int64][]verdict
	asked map[int64]bool
}

type verdict struct {
	verdict run.Verdict
	place   Finding // of the event that has it
}

// NewVerdicts are none.
func NewVerdicts() *Verdicts { return &Verdicts{ofRun: map[int64][]verdict{}, asked: map[int64]bool{}} }

// Take keeps the verdict of the next item of the log, if it has one that was decided.
func (v *Verdicts) Take(it *Item) {
	switch e := it.Event.(type) {
	case run.Evaluated:
		if e.Check != nil {
			v.add(e.RunID, *e.Check, it)
		}
	case run.Verified:
		v.add(e.RunID, e.Check, it)
	}
}

func (v *Verdicts) add(runID int64, c run.Check, it *Item) {
	if c.Conclusive() {
		v.ofRun[runID] = append(v.ofRun[runID], verdict{c.Verdict, at(it.Recorded)})
	}
}

// Runs is how many runs have a verdict.
func (v *Verdicts) Runs() int { return len(v.ofRun) }

// Answered is a logged answer with a verdict.
type Answered struct {
	RunID      int64
	Account    string
	Expression string
	InputForm  string // the answer in a form that parses back to it
	Usable     bool   // the service would ask the checker about it: a success of an expression that means the same elsewhere
	Position   uint64
	Missing    string // why one of the texts is not known; empty: both are
}

// Answer returns the answer of an item of the log, read once more after Take has seen all of it; false: it is none, or none that has a
// verdict, or was returned before.
func (v *Verdicts) Answer(it *Item) (Answered, bool) {
	e, is := it.Event.(run.Evaluated)
	if !is || len(v.ofRun[e.RunID]) == 0 || v.asked[e.RunID] {
		return Answered{}, false
	}
	v.asked[e.RunID] = true
	return Answered{RunID: e.RunID, Account: e.Account, Expression: it.texts.expression, InputForm: it.texts.inputForm,
		Usable: e.Checkable && e.Status == run.Success, Position: it.Position.Commit, Missing: it.texts.missing}, true
}

// Judge compares what the checker says of an answer with each verdict that the log has on it. A check that decides nothing contradicts
// nothing. It changes nothing, and may be called concurrently.
func (v *Verdicts) Judge(a Answered, again run.Check) (findings []Finding) {
	for _, recorded := range v.ofRun[a.RunID] {
		expected := fmt.Sprintf("run %d: verdict %s, as recorded", a.RunID, recorded.verdict)
		switch {
		case !a.Usable:
			findings = append(findings, Complete(CheckReverify, KindVerdict, recorded.place, "no verdict on an answer that the checker is not asked about", string(recorded.verdict)))
		case !again.Conclusive():
			findings = append(findings, Complete(CheckReverify, KindVerdictNotReproduced, recorded.place, expected, fmt.Sprintf("%s: %s", again.Verdict, again.Reason)))
		case again.Verdict != recorded.verdict:
			findings = append(findings, Complete(CheckReverify, KindVerdict, recorded.place, expected, fmt.Sprintf("%s by %s, residual %s", again.Verdict, again.Method, shown(again.Residual))))
		}
	}
	return findings
}
