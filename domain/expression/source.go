package expression

import (
	"strings"
)

// Source prints the tree in the language's input form, with operators for common mathematics and Head[args] for the rest.
// Parse reads it back to an equal tree, for every tree that Parse can make. Parentheses are set generously: also where
// the language needs none but readers of the language disagree.
func (e *Expr) Source() string {
	var p printer
	p.write(e, 0)
	return p.String()
}

// printer writes the input form.
type printer struct{ strings.Builder }

// form is one way of writing a call: how tight its operator binds, and the writing.
type form struct {
	prec  int
	write func(*printer, *Expr)
}

// write writes e, in parentheses unless it binds tighter than minPrec.
func (p *printer) write(e *Expr, minPrec int) {
	f := formOf(e)
	if f.prec > minPrec {
		f.write(p, e)
		return
	}
	p.WriteByte('(')
	f.write(p, e)
	p.WriteByte(')')
}

// list writes expressions with commas between them.
func (p *printer) list(open string, args []*Expr, closer string) {
	p.WriteString(open)
	for i, arg := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.write(arg, 0)
	}
	p.WriteString(closer)
}

// joined writes operands with an operator between them.
func (p *printer) joined(args []*Expr, spelling string, prec int) {
	for i, arg := range args {
		if i > 0 {
			p.WriteString(spelling)
		}
		p.write(arg, prec)
	}
}

// joiners are the operators written between operands: their spelling, how tight they bind, how tight their operands must
// bind at least, and the most operands of those that do not chain. Where the engine reads less than the language (spans,
// === among comparisons), they ask for more parentheses than their precedence does.
var joiners = map[string]struct {
	spelling string
	prec     int
	operand  int
	most     int // 0: any number
}{
	"Set":                    {" = ", precSet, precSet, 2},
	"SetDelayed":             {" := ", precSet, precSet, 2},
	"ReplaceAll":             {" /. ", precReplace, precReplace, 2},
	"ReplaceRepeated":        {" //. ", precReplace, precReplace, 2},
	"Rule":                   {" -> ", precRule, precRule, 2},
	"RuleDelayed":            {" :> ", precRule, precRule, 2},
	"Condition":              {" /; ", precCondition, precCondition, 2},
	"StringExpression":       {" ~~ ", precStringExpr, precStringExpr, 0},
	"Alternatives":           {" | ", precAlternative, precAlternative, 0},
	"Or":                     {" || ", precOr, precOr, 0},
	"And":                    {" && ", precAnd, precAnd, 0},
	"SameQ":                  {" === ", precSameQ, precCompare, 0},
	"UnsameQ":                {" =!= ", precSameQ, precCompare, 0},
	"Equal":                  {" == ", precCompare, precCompare, 0},
	"Unequal":                {" != ", precCompare, precCompare, 0},
	"Less":                   {" < ", precCompare, precCompare, 0},
	"LessEqual":              {" <= ", precCompare, precCompare, 0},
	"Greater":                {" > ", precCompare, precCompare, 0},
	"GreaterEqual":           {" >= ", precCompare, precCompare, 0},
	"Span":                   {" ;; ", precSet, precSpan, 3},
	"Dot":                    {" . ", precDot, precDot, 0},
	"NonCommutativeMultiply": {" ** ", precNonCommute, precNonCommute, 0},
	"Power":                  {"^", precPower, precPower, 2},
	"StringJoin":             {" <> ", precStringJoin, precStringJoin, 0},
	"PatternTest":            {"?", precPatternTest, precPatternTest, 2},
}

// formOf picks the form of e; whatever would not read back to e is written as a call.
func formOf(e *Expr) form {
	switch e.Kind {
	case Symbol:
		return form{precAtom, func(p *printer, e *Expr) { p.WriteString(e.Text) }}
	case String:
		return form{precAtom, func(p *printer, e *Expr) { writeQuoted(&p.Builder, e.Text) }}
	case Integer, Real:
		if strings.HasPrefix(e.Text, "-") {
			return form{precMinus, func(p *printer, e *Expr) { p.WriteString(e.Text) }}
		}
		return form{precAtom, func(p *printer, e *Expr) { p.WriteString(e.Text) }}
	}
	name := e.HeadName()
	if joiner, ok := joiners[name]; ok && len(e.Args) >= 2 && (joiner.most == 0 || len(e.Args) <= joiner.most) {
		return form{joiner.prec, func(p *printer, e *Expr) { p.joined(e.Args, joiner.spelling, joiner.operand) }}
	}
	if f, ok := specialForm(e, name); ok {
		return f
	}
	switch {
	case isPrime(e.Head):
		return form{precDerivative, func(p *printer, e *Expr) { writePrime(p, e.Head); p.list("[", e.Args, "]") }}
	case isPrime(e):
		return form{precDerivative, writePrime}
	}
	return form{precCall, writeCall}
}

func writeCall(p *printer, e *Expr) {
	p.write(e.Head, precCall-1)
	p.list("[", e.Args, "]")
}

// specialForm picks the form of the operators that are not just written between their operands.
func specialForm(e *Expr, name string) (form, bool) {
	count := len(e.Args)
	switch name {
	case "Plus":
		return form{precPlus, writeSum}, count >= 2
	case "Times":
		return form{precTimes, func(p *printer, e *Expr) { writeProduct(p, e.Args) }}, count >= 2
	case "List":
		return form{precAtom, func(p *printer, e *Expr) { p.list("{", e.Args, "}") }}, true
	case "Association":
		return form{precAtom, func(p *printer, e *Expr) { p.list("<|", e.Args, "|>") }}, allRules(e.Args)
	case "Part":
		return form{precCall, writePart}, count >= 2
	case "CompoundExpression":
		return form{precCompound, func(p *printer, e *Expr) { p.joined(e.Args, "; ", precCompound) }}, count >= 2
	case "Inequality":
		return form{precCompare, writeInequality}, isInequality(e.Args)
	case "Not":
		return form{precNot, func(p *printer, e *Expr) { p.WriteByte('!'); p.write(e.Args[0], precMinus) }}, count == 1
	case "Factorial":
		return form{precNot, func(p *printer, e *Expr) { p.write(e.Args[0], precFactorial); p.WriteByte('!') }}, count == 1
	case "Factorial2":
		return form{precNot, func(p *printer, e *Expr) { p.write(e.Args[0], precFactorial); p.WriteString("!!") }}, count == 1
	case "Function":
		return form{precFunction, func(p *printer, e *Expr) { p.write(e.Args[0], precFunction); p.WriteString(" &") }}, count == 1
	case "Slot":
		return form{precAtom, func(p *printer, e *Expr) { p.WriteString("#" + e.Args[0].Text) }}, count == 1 && isCount(e.Args[0])
	case "SlotSequence":
		return form{precAtom, func(p *printer, e *Expr) { p.WriteString("##" + e.Args[0].Text) }}, count == 1 && isCount(e.Args[0])
	case "Pattern", "Blank", "BlankSequence", "BlankNullSequence", "Optional":
		return patternForm(e)
	}
	return form{}, false
}

func isCount(e *Expr) bool { return e.Kind == Integer && !strings.HasPrefix(e.Text, "-") }

func allRules(args []*Expr) bool {
	for _, arg := range args {
		if !arg.IsCall("Rule") {
			return false
		}
	}
	return true
}

// writePart writes e[[i, j]].
func writePart(p *printer, e *Expr) {
	p.write(e.Args[0], precCall-1)
	p.list("[[", e.Args[1:], "]]")
}

// isNumber reports whether e is a number without a sign, which would take one written in front of it.
func isNumber(e *Expr) bool {
	return (e.Kind == Integer || e.Kind == Real) && !strings.HasPrefix(e.Text, "-")
}

func isNegative(e *Expr) bool {
	return (e.Kind == Integer || e.Kind == Real) && strings.HasPrefix(e.Text, "-")
}

// writeSum writes a + b - c.
func writeSum(p *printer, e *Expr) {
	for i, term := range e.Args {
		switch {
		case i == 0:
			p.write(term, precPlus)
		case isNegative(term):
			p.WriteString(" - " + term.Text[1:])
		case term.IsCall("Times") && len(term.Args) >= 2 && term.Args[0].IsInt(-1) && !(len(term.Args) == 2 && isNumber(term.Args[1])):
			p.WriteString(" - ")
			if len(term.Args) == 2 {
				p.write(term.Args[1], precDot)
			} else {
				writeProduct(p, term.Args[1:])
			}
		default:
			p.WriteString(" + ")
			p.write(term, precPlus)
		}
	}
}

// isReciprocal reports whether e is Power[x, -1], which a product writes as a division.
func isReciprocal(e *Expr) bool {
	return e.IsCall("Power") && len(e.Args) == 2 && e.Args[1].IsInt(-1)
}

// writeProduct writes a*b/c. Factors bind tighter than Dot: the engine reads -a.b otherwise than the language.
func writeProduct(p *printer, factors []*Expr) {
	signed := len(factors) > 1 && factors[0].IsInt(-1) && !isNumber(factors[1]) && !isReciprocal(factors[1])
	if signed {
		p.WriteByte('-')
		factors = factors[1:]
	}
	for i, factor := range factors {
		switch {
		case i == 0 && isNegative(factor) && !signed:
			p.WriteString(factor.Text)
			continue
		case i > 0 && isReciprocal(factor):
			p.WriteByte('/')
			factor = factor.Args[0]
		case i > 0:
			p.WriteByte('*')
		}
		p.write(factor, precDot)
	}
}

// isInequality reports whether Inequality[args...] is what a chain of different comparisons reads as.
func isInequality(args []*Expr) bool {
	if len(args) < 5 || len(args)%2 == 0 {
		return false
	}
	mixed := false
	for i := 1; i < len(args); i += 2 {
		if joiner, ok := joiners[args[i].Text]; !ok || args[i].Kind != Symbol || joiner.prec != precCompare {
			return false
		}
		mixed = mixed || args[i].Text != args[1].Text
	}
	return mixed
}

func writeInequality(p *printer, e *Expr) {
	for i, arg := range e.Args {
		if i%2 == 1 {
			p.WriteString(joiners[arg.Text].spelling)
			continue
		}
		p.write(arg, precCompare)
	}
}

// isPrime reports whether e is Derivative[n][f] for a symbol f and a small n.
func isPrime(e *Expr) bool {
	if e.Kind != Call || len(e.Args) != 1 || e.Args[0].Kind != Symbol || !e.Head.IsCall("Derivative") || len(e.Head.Args) != 1 {
		return false
	}
	order := e.Head.Args[0]
	return order.Kind == Integer && len(order.Text) == 1 && order.Text != "0"
}

func writePrime(p *printer, e *Expr) {
	p.WriteString(e.Args[0].Text + strings.Repeat("'", int(e.Head.Args[0].Text[0]-'0')))
}

// patternForm writes x_, x_h, _., x_:default and the like.
func patternForm(e *Expr) (form, bool) {
	if text, ok := blankText(e); ok {
		return form{precAtom, func(p *printer, _ *Expr) { p.WriteString(text) }}, true
	}
	if !e.IsCall("Optional") || len(e.Args) == 0 {
		return form{}, false
	}
	pattern, ok := blankText(e.Args[0])
	switch {
	case ok && len(e.Args) == 1 && strings.HasSuffix(pattern, "_") && !strings.HasSuffix(pattern, "__"):
		return form{precAtom, func(p *printer, _ *Expr) { p.WriteString(pattern + ".") }}, true
	case ok && len(e.Args) == 2:
		return form{precOptional, func(p *printer, e *Expr) { p.WriteString(pattern + ":"); p.write(e.Args[1], precOptional) }}, true
	}
	return form{}, false
}

// blankText is a blank, with a name or without.
func blankText(e *Expr) (string, bool) {
	if e.IsCall("Pattern") && len(e.Args) == 2 && e.Args[0].Kind == Symbol && !e.Args[1].IsCall("Pattern") {
		text, ok := blankText(e.Args[1])
		return e.Args[0].Text + text, ok
	}
	underscores := ""
	switch e.HeadName() {
	case "Blank":
		underscores = "_"
	case "BlankSequence":
		underscores = "__"
	case "BlankNullSequence":
		underscores = "___"
	}
	switch {
	case underscores == "" || e.Kind != Call:
		return "", false
	case len(e.Args) == 0:
		return underscores, true
	case len(e.Args) == 1 && e.Args[0].Kind == Symbol:
		return underscores + e.Args[0].Text, true
	}
	return "", false
}
