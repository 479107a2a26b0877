package giac

import (
	"fmt"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/runners/engine"
)

func unreadable(why string) error { return &engine.UnreadableError{Engine: "giac", Why: why} }

// Bounds of what is read.
const (
	maxAnswerBytes = 64 << 10
	maxNodes       = 20_000
	maxDepth       = 200
)

// reader reads what Giac prints, back into the names of the question.
type reader struct {
	tokens []string
	at     int
	nodes  int
	depth  int

	variables, functions []string // of the question
	constants            []string // of integration, in the order in which they are seen: C[1], C[2] …
	periods              []string // whole numbers that a solution holds
}

// read is the tree of an answer: sums, products, powers, functions of the table, lists, conditions. Everything else is an *engine.UnreadableError.
func (r *reader) read(text string) (*expression.Expr, error) {
	if len(text) > maxAnswerBytes {
		return nil, unreadable(fmt.Sprintf("it has %d bytes", len(text)))
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	r.tokens, r.at = tokens, 0
	e, err := r.expression(0)
	if err != nil {
		return nil, err
	}
	if r.at < len(r.tokens) {
		return nil, unreadable(fmt.Sprintf("%.20q stands where it should end", r.tokens[r.at]))
	}
	return e, nil
}

// lex cuts a text into numbers, names and signs.
func lex(text string) ([]string, error) {
	var tokens []string
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\t':
			i++
		case isDigit(c):
			end := i
			for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
				end++
			}
			if strings.Contains(text[i:end], ".") || end < len(text) && (text[end] == 'e' || text[end] == 'E') && end+1 < len(text) && (isDigit(text[end+1]) || text[end+1] == '-') {
				return nil, unreadable("it holds a decimal")
			}
			tokens, i = append(tokens, text[i:end]), end
		case isLetter(c):
			end := i
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
				end++
			}
			tokens, i = append(tokens, text[i:end]), end
		case strings.HasPrefix(text[i:], "<=") || strings.HasPrefix(text[i:], ">=") || strings.HasPrefix(text[i:], "!=") || strings.HasPrefix(text[i:], "<>") || strings.HasPrefix(text[i:], "=="):
			tokens, i = append(tokens, text[i:i+2]), i+2
		case strings.IndexByte("+-*/^()[],=<>!?:", c) >= 0:
			tokens, i = append(tokens, text[i:i+1]), i+1
		default:
			return nil, unreadable(fmt.Sprintf("it holds %q", c))
		}
	}
	return tokens, nil
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// How tight the operators bind, loosest first.
const (
	precedenceOr = iota + 1
	precedenceAnd
	precedenceCompare
	precedencePlus
	precedenceTimes
	precedenceSign
	precedencePower
	precedenceFactorial
)

var operators = map[string]struct {
	precedence int
	head       string
}{
	"or": {precedenceOr, "Or"}, "and": {precedenceAnd, "And"},
	"=": {precedenceCompare, "Equal"}, "==": {precedenceCompare, "Equal"}, "!=": {precedenceCompare, "Unequal"}, "<>": {precedenceCompare, "Unequal"},
	"<": {precedenceCompare, "Less"}, ">": {precedenceCompare, "Greater"}, "<=": {precedenceCompare, "LessEqual"}, ">=": {precedenceCompare, "GreaterEqual"},
	"+": {precedencePlus, "Plus"}, "-": {precedencePlus, "Plus"}, "*": {precedenceTimes, "Times"}, "/": {precedenceTimes, "Times"},
	"^": {precedencePower, "Power"}, "!": {precedenceFactorial, "Factorial"},
}

func (r *reader) peek() string {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return ""
}

func (r *reader) expect(token string) error {
	if r.peek() != token {
		return unreadable(fmt.Sprintf("%q is missing before %.20q", token, r.peek()))
	}
	r.at++
	return nil
}

// made counts a node.
func (r *reader) made(e *expression.Expr) (*expression.Expr, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, unreadable(fmt.Sprintf("it has more than %d parts", maxNodes))
	}
	return e, nil
}

// expression reads operands and operators that bind tighter than least.
func (r *reader) expression(least int) (*expression.Expr, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, unreadable(fmt.Sprintf("it is nested deeper than %d", maxDepth))
	}
	defer func() { r.depth-- }()
	left, err := r.operand()
	for err == nil {
		operator, known := operators[r.peek()]
		if r.peek() == "?" && least == 0 {
			return r.choice(left)
		}
		if !known || operator.precedence <= least {
			return left, nil
		}
		sign := r.peek()
		r.at++
		if sign == "!" {
			left, err = r.made(expression.NewCall("Factorial", left))
			continue
		}
		right := operator.precedence
		if sign == "^" {
			right-- // a^b^c is a^(b^c)
		}
		var operand *expression.Expr
		if operand, err = r.expression(right); err == nil {
			left, err = r.made(combined(sign, operator.head, left, operand))
		}
	}
	return nil, err
}

func combined(sign, head string, left, right *expression.Expr) *expression.Expr {
	switch sign {
	case "-":
		right = expression.NewCall("Times", expression.Int(-1), right)
	case "/":
		right = expression.NewCall("Power", right, expression.Int(-1))
	}
	if (head == "Plus" || head == "Times" || head == "And" || head == "Or") && left.IsCall(head) {
		left.Args = append(left.Args, right) // which nothing else refers to
		return left
	}
	return expression.NewCall(head, left, right)
}

// choice reads (condition ? a : b) behind its condition.
func (r *reader) choice(condition *expression.Expr) (*expression.Expr, error) {
	r.at++
	then, err := r.expression(0)
	if err == nil {
		err = r.expect(":")
	}
	if err != nil {
		return nil, err
	}
	otherwise, err := r.expression(0)
	if err != nil {
		return nil, err
	}
	return r.made(piecewise([]*expression.Expr{condition, then, otherwise}))
}

// piecewise makes Piecewise of condition, value, condition, value … and the value otherwise, which may be left out.
func piecewise(parts []*expression.Expr) *expression.Expr {
	var cases []*expression.Expr
	for len(parts) > 1 {
		cases = append(cases, expression.NewCall("List", parts[1], parts[0]))
		parts = parts[2:]
	}
	return expression.NewCall("Piecewise", append([]*expression.Expr{expression.NewCall("List", cases...)}, parts...)...)
}

func (r *reader) operand() (*expression.Expr, error) {
	token := r.peek()
	r.at++
	switch {
	case token == "":
		return nil, unreadable("it ends too early")
	case (token == "-" || token == "+") && (r.peek() == "infinity" || r.peek() == "inf"):
		r.at++
		if token == "-" {
			return r.made(expression.NewCall("Times", expression.Int(-1), expression.Sym("Infinity")))
		}
		return r.made(expression.Sym("Infinity"))
	case token == "-":
		e, err := r.expression(precedenceSign - 1)
		if err != nil {
			return nil, err
		}
		if e.Kind == expression.Integer && !strings.HasPrefix(e.Text, "-") && e.Text != "0" {
			return r.made(&expression.Expr{Kind: expression.Integer, Text: "-" + e.Text})
		}
		return r.made(expression.NewCall("Times", expression.Int(-1), e))
	case token == "+":
		return r.expression(precedenceSign - 1)
	case token == "(":
		e, err := r.expression(0)
		if err != nil {
			return nil, err
		}
		return e, r.expect(")")
	case token == "[":
		items, err := r.items("]")
		if err != nil {
			return nil, err
		}
		return r.made(expression.NewCall("List", items...))
	case isDigit(token[0]):
		digits := strings.TrimLeft(token[:len(token)-1], "0") + token[len(token)-1:]
		return r.made(&expression.Expr{Kind: expression.Integer, Text: digits})
	case isLetter(token[0]) && operators[token].head == "":
		return r.named(token)
	}
	return nil, unreadable(fmt.Sprintf("%.20q stands where a value should", token))
}

// items reads values with commas between them, and what closes them.
func (r *reader) items(closer string) ([]*expression.Expr, error) {
	var items []*expression.Expr
	for r.peek() != closer {
		if len(items) > 0 {
			if err := r.expect(","); err != nil {
				return nil, err
			}
		}
		item, err := r.expression(0)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	r.at++
	return items, nil
}

// named reads a name, and what is in brackets behind it.
func (r *reader) named(name string) (*expression.Expr, error) {
	switch r.peek() {
	case "[":
		if name != "list" && name != "set" && name != "seq" {
			return nil, unreadable(name + "[…] is not a value here")
		}
		return r.operand()
	case "(":
		r.at++
		args, err := r.items(")")
		if err != nil {
			return nil, err
		}
		return r.applied(name, args)
	}
	return r.symbol(name)
}

func (r *reader) applied(name string, args []*expression.Expr) (*expression.Expr, error) {
	if name == "piecewise" && len(args) > 1 {
		return r.made(piecewise(args))
	}
	if i, is := numbered(name, "ff"); is && i < len(r.functions) && len(args) == 1 {
		return r.made(expression.NewCall(r.functions[i], args...))
	}
	template, known := reading[signature{name, len(args)}]
	if !known {
		return nil, unreadable(fmt.Sprintf("%s of %d arguments is not in the table", name, len(args)))
	}
	for i, arg := range args {
		slot := expression.NewCall("Slot", expression.Int(int64(i+1)))
		template = template.Replace(slot, expression.NewCall("Argument", arg)) // marked, so that no slot of an argument is filled
	}
	template = template.Map(func(e *expression.Expr) (*expression.Expr, bool) {
		if e.IsCall("Argument") {
			return e.Args[0], true
		}
		return nil, false
	})
	return r.made(template)
}

func (r *reader) symbol(name string) (*expression.Expr, error) {
	if constant := constantsBack[name]; constant != "" {
		return r.made(expression.Sym(constant))
	}
	if i, is := numbered(name, "vv"); is && i < len(r.variables) {
		return r.made(expression.Sym(r.variables[i]))
	}
	if i, is := numbered(name, "ff"); is && i < len(r.functions) {
		return r.made(expression.Sym(r.functions[i]))
	}
	switch name {
	case "infinity", "inf", "unsigned_inf": // with a sign they are read by operand
		return r.made(expression.Sym("ComplexInfinity"))
	}
	if _, is := numbered(name, "c_"); is {
		return r.made(parameter(&r.constants, name))
	}
	if _, is := numbered(name, "rsolve_x"); is {
		return r.made(parameter(&r.constants, name))
	}
	if _, is := numbered(name, "n_"); is {
		return r.made(expression.NewCall("WholeNumber", parameter(&r.periods, name)))
	}
	return nil, unreadable(fmt.Sprintf("%.40s is no name of the question", name))
}

// parameter is C[k] for the k-th name.
func parameter(names *[]string, name string) *expression.Expr {
	k := -1
	for i, known := range *names {
		if known == name {
			k = i
		}
	}
	if k < 0 {
		*names = append(*names, name)
		k = len(*names) - 1
	}
	return expression.NewCall("C", expression.Int(int64(k+1)))
}

// numbered reads a name such as vv12.
func numbered(name, prefix string) (int, bool) {
	digits, is := strings.CutPrefix(name, prefix)
	if !is || digits == "" || len(digits) > 4 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}
