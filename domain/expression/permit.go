package expression

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// A Refusal says which part of an expression is not permitted. Name is what the caller may show as the refused head.
type Refusal struct {
	Name    string
	Pos     Position
	Message string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", r.Pos.Line, r.Pos.Column, r.Message)
}

// Denied finds the first symbol of e, as a head or anywhere else, whose name is in the set; nil when there is none.
// A context does not hide a name: any`Run is denied with Run. This is a courtesy to the user and no boundary: the language
// can make a name while it runs.
func Denied(e *Expr, denied map[string]bool) *Refusal {
	var refusal *Refusal
	e.Walk(func(n *Expr) bool {
		if name := baseName(n.Text); refusal == nil && n.Kind == Symbol && denied[name] {
			refusal = &Refusal{name, n.Pos, name + " is not available here"}
		}
		return refusal == nil
	})
	return refusal
}

// baseName is a symbol's name without its context.
func baseName(name string) string { return name[strings.LastIndexByte(name, '`')+1:] }

// Allowlisted reads a text under the strict rules for anonymous input. It answers the expressions, or a
// *SyntaxError for what is not in the language, or a *Refusal. Permitted are texts
//   - without backslashes and comments, and without strings but those that mathematics has as values of options ("FromAbove");
//   - in which every call has a plain symbol of the set as its head, calls made by operators included;
//   - whose other symbols are of the set too or are variables: names without context that begin with a small letter or a
//     Greek one, which no function of the language does.
//
// A variable heads a call only where a differential or recurrence equation is solved for it: DSolve[y'[x] == y[x], y[x], x].
func Allowlisted(src string, allowed map[string]bool) ([]*Expr, error) {
	all, unread := ParseAll(src)
	for _, e := range all {
		if refusal := unlisted(e, allowed, nil); refusal != nil {
			return nil, refusal
		}
	}
	if refusal := needless(src); refusal != nil {
		return nil, refusal
	}
	return all, unread
}

// needless finds the first backslash or comment, which mathematics does not need.
func needless(src string) *Refusal {
	at := Position{Line: 1, Column: 1}
	for i, r := range src {
		at.Offset = i
		switch {
		case r == '\\':
			return &Refusal{string(r), at, "backslashes are not available here"}
		case strings.HasPrefix(src[i:], "(*"):
			return &Refusal{"(*", at, "comments are not available here"}
		}
		if at.Column++; r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
	}
	return nil
}

func isGreek(r rune) bool { return 0x0391 <= r && r <= 0x03C9 && isLetter(r) }

// unlisted finds the first part of e that is not permitted. unknown are the variables that equations around e are solved for.
func unlisted(e *Expr, allowed, unknown map[string]bool) *Refusal {
	switch {
	case e.Kind == Symbol && !allowed[e.Text] && !isVariable(e.Text):
		return &Refusal{e.Text, e.Pos, e.Text + " is not available here"}
	case e.Kind == String && !optionValues[e.Text]:
		return &Refusal{"String", e.Pos, "strings are not available here"}
	case e.Kind != Call:
		return nil
	}
	if solvesForFunctions[e.HeadName()] && len(e.Args) > 1 {
		unknown = withFunctions(e.Args[1], unknown)
	}
	switch {
	case e.Head.Kind == Symbol && (allowed[e.Head.Text] || unknown[e.Head.Text]):
	case e.Head.Kind == Symbol:
		return &Refusal{e.Head.Text, e.Head.Pos, e.Head.Text + " is not available here"}
	case !isDerivativeOf(e.Head, allowed) && !isDerivativeOf(e.Head, unknown):
		return &Refusal{e.Head.FullForm(), e.Head.Pos, "the head of a call must be the plain name of a function here"}
	}
	for _, arg := range e.Args {
		if refusal := unlisted(arg, allowed, unknown); refusal != nil {
			return refusal
		}
	}
	return nil
}

// optionValues are the strings that functions of mathematics take as values of their options.
var optionValues = map[string]bool{"FromAbove": true, "FromBelow": true, "TwoSided": true}

// solvesForFunctions are the functions whose second argument names the functions they solve for.
var solvesForFunctions = map[string]bool{"DSolve": true, "DSolveValue": true, "NDSolve": true, "RSolve": true, "RSolveValue": true, "RecurrenceTable": true}

// withFunctions adds the variables that a second argument of these names to a set: y, y[x] or a list of such.
func withFunctions(named *Expr, unknown map[string]bool) map[string]bool {
	items := []*Expr{named}
	if named.IsCall("List") {
		items = named.Args
	}
	all := maps.Clone(unknown)
	if all == nil {
		all = map[string]bool{}
	}
	for _, item := range items {
		if item.Kind == Call {
			item = item.Head
		}
		if item.Kind == Symbol && isVariable(item.Text) {
			all[item.Text] = true
		}
	}
	return all
}

// isDerivativeOf recognizes Derivative[1][y] of a function of the set.
func isDerivativeOf(head *Expr, functions map[string]bool) bool {
	if head.Kind != Call || len(head.Args) != 1 || head.Args[0].Kind != Symbol || !functions[head.Args[0].Text] || !head.Head.IsCall("Derivative") {
		return false
	}
	for _, order := range head.Head.Args {
		if order.Kind != Integer {
			return false
		}
	}
	return true
}

// isVariable reports whether a name can only be a variable: functions begin with a capital or $, or have a context.
func isVariable(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return !strings.Contains(name, "`") && ('a' <= first && first <= 'z' || isGreek(first))
}
