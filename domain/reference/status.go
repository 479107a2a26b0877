package reference

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Status is the support status of a symbol or a task. It is derived, never typed in.
type Status string

// The statuses.
const (
	Supported   Status = "supported"
	Divergent   Status = "divergent"
	Blocked     Status = "blocked"
	Unsupported Status = "unsupported"
)

// Definition is the definition of a status.
type Definition struct {
	Status  Status `json:"status" enum:"supported,divergent,blocked,unsupported" doc:"The status"`
	Meaning string `json:"meaning" doc:"What it says, and what it was derived from"`
}

// Definitions are the statuses and what they mean.
func Definitions() []Definition {
	return []Definition{
		{Supported, "At least two of its examples (of a task: one) were evaluated by the engine in force with an answer that is not the input and is right: the independent checker verified it, " +
			"or it equals a value from a cited source. No example has a wrong answer. What no example shows was not tried."},
		{Divergent, "It runs, and at least one of its examples has an answer that differs from what is right. The entry shows both."},
		{Blocked, "It is refused here for safety: it reaches for files, programs, the network or the machine, which expressions have no access to."},
		{Unsupported, "Neither of these: the engine in force does not implement it, or no example shows that it works. The entry says which."},
	}
}

// Concluded is a status with why.
type Concluded struct {
	Status Status
	Reason string // for people; empty where the examples say it, or Row.Why
	Right  int    // examples whose answer is right and not trivial
}

// Derive concludes from the judgements of an entry's examples, in their order, and from what is known of the name; an entry that is a task, or
// has nothing but its name, has an empty probe or no examples.
func Derive(kind Kind, examples []Example, ran []Ran, probed Probed) Concluded {
	counts := map[State]int{}
	right, differing := 0, 0
	for i, example := range examples {
		judged := Judge(example, ran[i])
		counts[judged.State]++
		switch {
		case judged.State == StateRight && !judged.Trivial:
			right++
		case judged.State == StateWrong && ran[i].Refused == "" && !ran[i].Unevaluated:
			differing++
		}
	}
	enough := minOfSymbol
	if kind == Task {
		enough = 1
	}
	switch c := (Concluded{Right: right}); {
	case counts[StateWrong] > 0 && (right > 0 || differing > 0):
		c.Status, c.Reason = Divergent, fmt.Sprintf("%d of its %d examples differ from what is right.", counts[StateWrong], len(examples))
		return c
	case counts[StateWrong] == 0 && counts[StateDenied] == 0 && right >= enough:
		c.Status = Supported
		return c
	case probed.Denied != "":
		c.Status, c.Reason = Blocked, sentence(probed.Denied)
		return c
	case counts[StateDenied] > 0:
		c.Status, c.Reason = Blocked, "What it is done with is not available here."
		return c
	default:
		c.Status = Unsupported
		if len(examples) > 0 {
			c.Reason = unsupportedReason(right, probed)
		}
		return c
	}
}

func unsupportedReason(right int, probed Probed) string {
	switch {
	case probed.NotImplemented:
		return "The engine in force does not implement it."
	case right == 0:
		return "None of its examples has an answer that is known to be right and is not the input."
	}
	return "Too few of its examples have an answer that is known to be right and is not the input."
}

// sentence makes one of a text that was said after a colon.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}
