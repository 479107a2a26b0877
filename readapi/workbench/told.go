package workbench

import (
	"slices"

	"reckon/domain/slips"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// told is what the service said beside an answer.
type told struct {
	Warnings    []string  // of the engine
	Suggestions []applied // of what the expression was probably meant to be
	Answered    bool      // there is an answer that they are told with
}

// spoken is a verdict, nil where there is none. AsWritten: the expression was probably meant to be another one, and the verdict speaks of the one that stands there.
type spoken struct {
	Of        any
	AsWritten bool
}

// Read puts a verdict beside what the expression was probably meant to be.
func (t told) Read(verdict any) spoken { return spoken{verdict, len(t.Suggestions) > 0} }

// toldOf sorts the messages of an answer: those of its suggestions stand once, with what they suggest.
func toldOf(expression string, warnings []string, suggestions []httpkit.Suggestion) told {
	t := told{Suggestions: apply(expression, suggestions), Answered: true}
	for _, warning := range warnings {
		if !slices.ContainsFunc(suggestions, func(s httpkit.Suggestion) bool { return s.Message == warning }) {
			t.Warnings = append(t.Warnings, warning)
		}
	}
	return t
}

// toldThen is what was said with a run that was kept. Its suggestions are found again in the expression; one that was not said then is none.
func toldThen(expression string, warnings []string) told {
	found := slices.DeleteFunc(view.SuggestionsOf(slips.Find(expression)), func(s httpkit.Suggestion) bool { return !slices.Contains(warnings, s.Message) })
	return toldOf(expression, warnings, found)
}
