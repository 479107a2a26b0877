package view

import (
	"slices"
	"strings"

	"reckon/domain/run"
)

// EnginesInWords says what became of asking several engines; empty where one was asked.
func EnginesInWords(asked []run.Asked) string {
	said := make([]string, len(asked))
	for i, a := range asked {
		said[i] = a.Name + " " + a.Revision + " " + askedInWords(a.Outcome)
		if a.Outcome == run.AskedRefuted && slices.ContainsFunc(asked, isShown) {
			said[i] += ": it is not the answer that is shown"
		}
	}
	return strings.Join(said, "; ")
}

// isShown tells whether an engine's answer is the one that is shown; where there is none, it is one that was refuted.
func isShown(a run.Asked) bool { return a.Outcome == run.AskedAnswered }

func askedInWords(o run.AskedOutcome) string {
	switch o {
	case run.AskedAnswered:
		return "answered"
	case run.AskedOverruled:
		return "answered too, and was overruled"
	case run.AskedRefuted:
		return "answered, and the check refuted it"
	case run.AskedUnevaluated:
		return "had no answer"
	case run.AskedNot:
		return "was not asked: the question is not one that it is given"
	case run.AskedNotTranslated:
		return "answered with what the language does not have"
	case run.AskedTimeout:
		return "ran out of time"
	case run.AskedFailed:
		return "failed"
	}
	return string(o)
}
