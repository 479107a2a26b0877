package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/session"
	"reckon/domain/slips"
)

// Errors of Admit beside DeniedError and expression.SyntaxError.
var (
	// ErrExpressionRequired means that the text has nothing but white space.
	ErrExpressionRequired = errors.New("expression is required")
	// ErrInvalidSessionID means that a session id is too long or has other characters than these.
	ErrInvalidSessionID = fmt.Errorf("session_id must be neither . nor .. but 1 to %d characters of A-Z a-z 0-9 . _ -", session.MaxIDBytes)
)

// DeniedError means that the plan denies a head; nothing was logged.
type DeniedError struct{ Head string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s is not available here: the service does no input, output or network access", e.Head)
}

// admitted is an evaluation that may reach a worker.
type admitted struct {
	Evaluate
	tree   *expression.Expr // the text as the service's own parser reads it; nil: only the engine may read it
	source event.Text       // the text as events hold it, durable
}

// Admit refuses an expression that must not reach a worker. It reads the text with the
// service's own parser and stores nothing. It returns ErrExpressionRequired, ErrInvalidSessionID,
// a DeniedError, or an expression.SyntaxError for a text that is too long or too
// deeply nested; any other text that the parser does not read is for the engine to judge.
func Admit(c Evaluate) error {
	_, err := parseAdmitted(c)
	return err
}

// NotInLanguageError means that a job's text is not in the language; nothing was submitted.
type NotInLanguageError struct {
	Detail      string // what is wrong and where, with the place shown
	Suggestions []slips.Suggestion
}

func (e *NotInLanguageError) Error() string { return e.Detail }

// AdmitJob is Admit for an evaluation that will wait in the queue: it returns a NotInLanguageError for a text
// whose evaluation could only fail. What the service's parser merely does not know (escapes, ?name) waits for
// the engine.
func AdmitJob(c Evaluate) error {
	if err := Admit(c); err != nil {
		return err
	}
	var wrong *expression.SyntaxError
	if _, err := expression.ParseAll(c.Expression); !errors.As(err, &wrong) {
		wrong = unknownOperator(c.Expression)
	}
	if wrong == nil || strings.HasPrefix(strings.TrimSpace(c.Expression), "?") {
		return nil
	}
	switch wrong.Reason {
	case expression.ReasonSyntax, expression.ReasonUnclosed, expression.ReasonCharacter, expression.ReasonEmpty:
		return &NotInLanguageError{Detail: wrong.Error() + "\n" + wrong.Excerpt(c.Expression), Suggestions: c.Suggestions()}
	}
	return nil
}

// unknownOperator finds an operator of the language that the engine cannot read: ** and //@. It is nil where there is none.
func unknownOperator(code string) *expression.SyntaxError {
	words, err := expression.Tokens(code)
	if err != nil {
		return nil
	}
	for _, w := range words {
		if w.Operator == "**" || w.Operator == "//@" {
			before := code[:w.Start]
			line := before[strings.LastIndexByte(before, '\n')+1:]
			return &expression.SyntaxError{
				Reason: expression.ReasonSyntax, Message: "the engine has no operator " + w.Operator,
				Pos: expression.Position{Offset: w.Start, Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line)},
			}
		}
	}
	return nil
}

// Suggestions are probable corrections of an expression without an answer.
func (c Evaluate) Suggestions() []slips.Suggestion {
	found := slips.Find(c.Expression)
	if c.SessionID == "" {
		return found
	}
	return slips.Standing(found, "") // a session may have defined what has no value elsewhere
}

// admit is Admit, and keeps what was parsed and stored for the following stages.
func (ev *Evaluator) admit(ctx context.Context, c Evaluate) (admitted, error) {
	tree, err := parseAdmitted(c)
	if err != nil {
		return admitted{}, err
	}
	source, err := storeText(ctx, ev.config.Blobs, c.Expression)
	return admitted{Evaluate: c, tree: tree, source: source}, err
}

// admittedBefore is admit for a job: whether it may run was decided when it was
// submitted, and the plan may have changed since.
func (ev *Evaluator) admittedBefore(ctx context.Context, c Evaluate) (admitted, error) {
	source, err := storeText(ctx, ev.config.Blobs, c.Expression)
	return admitted{Evaluate: c, tree: parseOrNil(c.Expression), source: source}, err
}

// Validate refuses a request of a wrong form, at no cost: it returns ErrExpressionRequired or ErrInvalidSessionID.
func (c Evaluate) Validate() error {
	if strings.TrimSpace(c.Expression) == "" {
		return ErrExpressionRequired
	}
	if c.SessionID != "" && !session.ValidID(c.SessionID) {
		return ErrInvalidSessionID
	}
	return nil
}

func parseAdmitted(c Evaluate) (*expression.Expr, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	tree, err := expression.Parse(c.Expression)
	if err != nil {
		return nil, rejectIfUnsafeToEvaluate(c.Expression, err)
	}
	if head, denied := deniedHead(tree, c.Plan.DeniedHeads); denied {
		return nil, &DeniedError{Head: head}
	}
	return tree, nil
}

// parseOrNil is nil for a text that the service's parser does not read.
func parseOrNil(code string) *expression.Expr {
	tree, err := expression.Parse(code)
	if err != nil {
		return nil
	}
	return tree
}

// rejectIfUnsafeToEvaluate returns an expression.SyntaxError for a text that the parser
// refused because it is too long, has too many nodes, or is nested so deep that the engine
// would crash. It returns nil for any other text that the parser refused: the engine reads it.
func rejectIfUnsafeToEvaluate(code string, parseError error) error {
	var refused *expression.SyntaxError
	if !errors.As(parseError, &refused) {
		return parseError
	}
	switch refused.Reason {
	case expression.ReasonTooDeep, expression.ReasonTooLong, expression.ReasonTooMany:
		return refused
	}
	if bracketDepth(code) > expression.MaxDepth {
		return &expression.SyntaxError{Reason: expression.ReasonTooDeep, Pos: refused.Pos, Message: fmt.Sprintf("brackets are nested deeper than %d", expression.MaxDepth)}
	}
	return nil
}

// bracketDepth is the depth to which brackets of any kind are nested. A closing bracket
// without an opening one does not count against the later ones.
func bracketDepth(code string) int {
	depth, deepest := 0, 0
	for _, c := range []byte(code) {
		switch c {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// deniedHead finds a call of a denied head that evaluation would reach; held
// code is only looked at, not run. It makes a message for the user and is no
// boundary: the sandbox is.
func deniedHead(tree *expression.Expr, denied []string) (string, bool) {
	isDenied := make(map[string]bool, len(denied))
	for _, name := range denied {
		isDenied[name] = true
	}
	found := ""
	tree.Walk(func(e *expression.Expr) bool {
		if found != "" || e.IsCall("Hold") || e.IsCall("HoldForm") || e.IsCall("HoldComplete") {
			return false
		}
		if e.Kind == expression.Call && isDenied[e.HeadName()] {
			found = e.HeadName()
		}
		return true
	})
	return found, found != ""
}
