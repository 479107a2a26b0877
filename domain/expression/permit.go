package expression

import (
	"fmt"
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

// Allowlisted reads a text under the strict rules for input from nobody in particular. It answers the expressions, or a
// *SyntaxError, or a *Refusal. Permitted are texts
//   - of ASCII, Greek letters and ∞, without strings, backslashes and comments;
//   - in which every call has a plain symbol of the set as its head, calls made by operators included;
//   - whose other symbols are of the set too or are variables: names without context that begin with a small letter or a
//     Greek one, which no function of the language does.
func Allowlisted(src string, allowed map[string]bool) ([]*Expr, error) {
	if err := checkAlphabet(src); err != nil {
		return nil, err
	}
	all, err := ParseAll(src)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if refusal := unlisted(e, allowed); refusal != nil {
			return nil, refusal
		}
	}
	return all, nil
}

// checkAlphabet refuses what is not needed for mathematics, before anything is parsed.
func checkAlphabet(src string) error {
	at := Position{Line: 1, Column: 1}
	for i, r := range src {
		at.Offset = i
		switch {
		case r == '"' || r == '\\':
			return refuse(ReasonCharacter, at, "strings and backslashes are not permitted here")
		case strings.HasPrefix(src[i:], "(*"):
			return refuse(ReasonCharacter, at, "comments are not permitted here")
		case r >= utf8.RuneSelf && !isGreek(r) && r != '∞':
			return refuse(ReasonCharacter, at, "the character %q is not permitted here", r)
		}
		if at.Column++; r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
	}
	return nil
}

func isGreek(r rune) bool { return 0x0391 <= r && r <= 0x03C9 && isLetter(r) }

// unlisted finds the first part of e that is not permitted.
func unlisted(e *Expr, allowed map[string]bool) *Refusal {
	var refusal *Refusal
	e.Walk(func(n *Expr) bool {
		switch {
		case refusal != nil:
		case n.Kind == Call && n.Head.Kind != Symbol:
			refusal = &Refusal{n.Head.FullForm(), n.Head.Pos, "the head of a call must be the plain name of a function here"}
		case n.Kind == Call && !allowed[n.Head.Text]:
			refusal = &Refusal{n.Head.Text, n.Head.Pos, n.Head.Text + " is not available here"}
		case n.Kind == Symbol && !allowed[n.Text] && !isVariable(n.Text):
			refusal = &Refusal{n.Text, n.Pos, n.Text + " is not available here"}
		}
		return refusal == nil
	})
	return refusal
}

// isVariable reports whether a name can only be a variable: functions begin with a capital or $, or have a context.
func isVariable(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return !strings.Contains(name, "`") && ('a' <= first && first <= 'z' || isGreek(first))
}
