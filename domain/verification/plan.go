package verification

import (
	"encoding/json"
	"slices"
	"strconv"

	"reckon/domain/expression"
)

// Bounds on the trees sent to the checker, which checks them again.
const (
	MaxNodes     = 20000
	MaxDepth     = 250
	MaxSolutions = 200
	MaxDigits    = 50000 // of one number
)

// Plan is the check of one answer: which rule, and which task for the checker. Only Derive makes one.
type Plan struct {
	Slug  string // the rule
	Basis Basis  // the weakest basis a verdict of this plan can have
	Check string // the expression that is checked, in the service's language
	Task  Task   // what to compute, as JSON for the checker

	rule  Rule
	input *expression.Expr
}

// Task is the request to the checker: Kind names one of its procedures, Fields are that procedure's arguments.
type Task struct {
	Kind   string
	Check  *expression.Expr
	Fields map[string]any
}

// MarshalJSON gives the one flat object the checker reads.
func (t Task) MarshalJSON() ([]byte, error) {
	flat := map[string]any{"kind": t.Kind}
	for key, value := range t.Fields {
		flat[key] = wireForm(value)
	}
	return json.Marshal(flat)
}

// wireForm replaces trees by their wire form wherever they stand in a field.
func wireForm(value any) any {
	switch v := value.(type) {
	case *expression.Expr:
		return map[string]tree{"tree": {v}}
	case []*expression.Expr:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = wireForm(e)
		}
		return out
	case [][2]*expression.Expr:
		out := make([]any, len(v))
		for i, pair := range v {
			out[i] = []any{wireForm(pair[0]), wireForm(pair[1])}
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i, fields := range v {
			out[i] = wireForm(fields)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, part := range v {
			out[key] = wireForm(part)
		}
		return out
	}
	return value
}

// tree is the wire form of an expression: symbols are strings, integers numbers, calls lists [head, arguments...],
// reals {"r": digits}, texts {"t": text}.
type tree struct{ *expression.Expr }

func (t tree) MarshalJSON() ([]byte, error) { return appendTree(nil, t.Expr), nil }

func appendTree(out []byte, e *expression.Expr) []byte {
	switch e.Kind {
	case expression.Symbol:
		return appendText(out, e.Text)
	case expression.Integer:
		return append(out, e.Text...)
	case expression.Real:
		return append(appendText(append(out, `{"r":`...), e.Text), '}')
	case expression.String:
		return append(appendText(append(out, `{"t":`...), e.Text), '}')
	}
	out = appendTree(append(out, '['), e.Head)
	for _, arg := range e.Args {
		out = appendTree(append(out, ','), arg)
	}
	return append(out, ']')
}

func appendText(out []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		return append(out, strconv.Quote(text)...)
	}
	return append(out, quoted...)
}

// Derive finds the rule for an input and makes its plan for an answer. The error is a *NoPlanError.
func Derive(input, answer *expression.Expr) (Plan, error) {
	if err := admit(input, answer); err != nil {
		return Plan{}, err
	}
	call, err := resolve(input, answer)
	if err != nil {
		return Plan{}, err
	}
	rule := ruleFor(call)
	if rule == nil {
		return Plan{}, noHead("no rule covers " + call.Head)
	}
	if err := requireValues(call); err != nil {
		return Plan{}, err
	}
	task, err := taskOf(rule, call, input)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Slug: rule.Declare().Slug, Basis: rule.basis(), Check: task.Check.Source(), Task: task,
		rule: rule, input: input,
	}, nil
}

// taskOf is the work order of a rule, for a form of call that it reads and an answer of the form that its function answers with.
func taskOf(rule Rule, call Call, input *expression.Expr) (Task, error) {
	if rule.Declare().Slug == programSlug {
		return rule.derive(call) // forms, options, texts and units are the checker's to read, which refuses those that it does not know
	}
	if !input.FreeOf(expression.Sym("Quantity")) {
		return Task{}, noShape("units of measure are not checked")
	}
	if err := requireForm(call, rule.Declare().Slug); err != nil {
		return Task{}, err
	}
	if task, ok := textTask(call, input); ok {
		return task, nil
	}
	if err := requireUsable(call, rule.Declare().Slug); err != nil {
		return Task{}, err
	}
	return rule.derive(call)
}

// admit refuses what is too large or must not be looked at, before anything recursive is done with it.
func admit(input, answer *expression.Expr) error {
	if input == nil {
		return noShape("there is no expression")
	}
	if answer == nil {
		return noAnswer("the answer is not an expression of the language")
	}
	if !withinBounds(input) {
		return noShape("the expression is too large to check")
	}
	if !withinBounds(answer) {
		return noAnswer("the answer is too large to check")
	}
	for _, e := range []*expression.Expr{input, answer} {
		if refusal := expression.Denied(e, notPermitted()); refusal != nil {
			return &NoPlanError{ReasonNotPermitted, refusal.Name + " reaches outside the expression"}
		}
	}
	return nil
}

// withinBounds counts nodes and depth without recursion.
func withinBounds(e *expression.Expr) bool {
	type item struct {
		node  *expression.Expr
		depth int
	}
	pending, nodes := []item{{e, 1}}, 0
	for len(pending) > 0 {
		last := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		nodes++
		if nodes+len(pending) > MaxNodes || last.depth > MaxDepth {
			return false
		}
		if (last.node.Kind == expression.Integer || last.node.Kind == expression.Real) && len(last.node.Text) > MaxDigits {
			return false
		}
		if last.node.Kind != expression.Call {
			continue
		}
		pending = append(pending, item{last.node.Head, last.depth + 1})
		if len(last.node.Args) > MaxNodes {
			return false
		}
		for _, arg := range last.node.Args {
			pending = append(pending, item{arg, last.depth + 1})
		}
	}
	return true
}

// notPermitted are the names that read, write or run something outside the expression.
func notPermitted() map[string]bool {
	denied := map[string]bool{}
	for _, name := range []string{
		"Run", "RunProcess", "StartProcess", "Import", "Export", "Get", "Put", "PutAppend", "Read", "ReadString", "ReadList", "ReadLine",
		"OpenRead", "OpenWrite", "OpenAppend", "DeleteFile", "CopyFile", "RenameFile", "CreateFile", "CreateDirectory", "DeleteDirectory",
		"FileNames", "SetDirectory", "Environment", "GetEnvironment", "SetEnvironment", "URLRead", "URLFetch", "URLExecute", "Install",
		"LibraryFunctionLoad", "ToExpression", "Symbol", "Exit", "Quit", "SystemOpen", "Needs", "$CommandLine", "CloudGet", "CloudPut",
		"Out", "In", "InString", "$Line", // of a session: whoever checks has none
	} {
		denied[name] = true
	}
	return denied
}

// holdingHeads are the functions that keep what stands in them from being evaluated, some only for display. What an expression around
// them comes to depends on what lets go of it.
var holdingHeads = []string{"Hold", "HoldComplete", "HoldPattern", "Unevaluated", "HoldForm", "Defer", "Inactive", "Inactivate"}

// requireValues refuses questions and answers of which a part is held, and decimals that do not look like any: functions of N[2] are
// functions of 2., which is no integer. An answer with N in it is not evaluated.
func requireValues(c Call) error {
	parts := append(slices.Clone(c.Args), c.Assumptions...)
	for _, part := range parts {
		if mentionsAny(part, holdingHeads...) {
			return noShape("a part is held from being evaluated")
		}
		if callsN(part) {
			return noShape("N inside an expression is not checked; write the decimal")
		}
	}
	if mentionsAny(c.Answer, holdingHeads...) {
		return noAnswer("a part of the answer is held from being evaluated")
	}
	if callsN(c.Answer) {
		return noAnswer("the answer still holds N")
	}
	return nil
}

func callsN(e *expression.Expr) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.IsCall("N")
		return !found
	})
	return found
}

// textTask is the work order for an answer that is a text, where the input has none: no rule's function answers so.
func textTask(c Call, input *expression.Expr) (Task, bool) {
	if c.Answer.Kind != expression.String || hasText(input) {
		return Task{}, false
	}
	return Task{Kind: "text", Check: call("SameQ", c.Whole, c.Answer), Fields: map[string]any{"part": c.Answer}}, true
}

func hasText(e *expression.Expr) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.Kind == expression.String
		return !found
	})
	return found
}

// isDifferential recognises Dt[y] and Dt[y, x] of a symbol, which are parts of complete answers.
func isDifferential(e *expression.Expr) bool {
	return e.IsCall("Dt") && len(e.Args) > 0 && e.Args[0].Kind == expression.Symbol
}

// requireUsable refuses (ReasonAnswerNotUsable) answers that are unevaluated or failures, or that contain units, missing
// values or Indeterminate.
func requireUsable(call Call, slug string) error {
	answer := call.Answer
	for _, name := range []string{"$Failed", "$Aborted", "Null", "$Canceled"} {
		if answer.IsSymbol(name) {
			return noAnswer("the answer is " + name)
		}
	}
	for _, name := range []string{"Quantity", "InterpolatingFunction", "Failure", "Missing", "Overflow", "Underflow"} {
		if !answer.FreeOf(expression.Sym(name)) {
			return noAnswer("the answer holds " + name)
		}
	}
	if answer.Kind == expression.Call && mentionsAny(answer, "Indeterminate") {
		return noAnswer("a part of the answer is Indeterminate")
	}
	unevaluated := false
	answer.Walk(func(n *expression.Expr) bool {
		whole := slug == "value_identity" || slug == "primality" // whose answers may hold the function of other arguments
		unevaluated = unevaluated || n.IsCall(call.Head) && !isDifferential(n) && (!whole || n.Equal(call.Whole))
		return !unevaluated
	})
	if unevaluated && keepsNoHead(call.Head) {
		return noAnswer("the answer still holds " + call.Head)
	}
	return nil
}

// Wire is a tree in its wire form, as JSON: symbols are strings, integers numbers, calls lists [head, arguments...], reals {"r": digits}, texts
// {"t": text}.
func Wire(e *expression.Expr) json.Marshaler { return tree{e} }
