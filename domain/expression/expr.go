package expression

import (
	"math/big"
	"strconv"
	"strings"
)

// Kind tells the five kinds of node apart.
type Kind uint8

// The kinds of node. A Call is Head[Args...]; every other kind is an atom.
const (
	Symbol Kind = iota + 1
	Integer
	Real
	String
	Call
)

// String names the kind by the head the language gives to such a node.
func (k Kind) String() string {
	switch k {
	case Symbol:
		return "Symbol"
	case Integer:
		return "Integer"
	case Real:
		return "Real"
	case String:
		return "String"
	case Call:
		return "Call"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Position is a place in the source text. The zero Position means "not from a source text".
type Position struct {
	Offset int // bytes from the start, from 0
	Line   int // from 1
	Column int // Unicode code points from the start of the line, from 1
}

// String gives "line:column".
func (p Position) String() string {
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// Expr is one node of the tree: an atom or a call Head[Args...].
//
// Trees made by Parse are never deeper than MaxDepth, so the recursive functions of this package are safe on them. A
// tree is a value: nothing in this package changes a node after it was made, and nodes may be shared between trees.
type Expr struct {
	Kind Kind
	// Text of an atom: a Symbol's name; an Integer's decimal digits with "-" when negative and no leading zero; a Real's
	// canonical digits (see canonicalReal); a String's text without quotes, escapes resolved. Empty for a Call.
	Text string
	Head *Expr   // of a Call, otherwise nil
	Args []*Expr // of a Call, otherwise nil
	Pos  Position
}

// Sym makes a symbol.
func Sym(name string) *Expr { return &Expr{Kind: Symbol, Text: name} }

// Int makes an integer.
func Int(n int64) *Expr { return &Expr{Kind: Integer, Text: strconv.FormatInt(n, 10)} }

// Fraction is an exact number: an integer, or Rational[p, q] in lowest terms.
func Fraction(r *big.Rat) *Expr {
	over := &Expr{Kind: Integer, Text: r.Num().String()}
	if r.IsInt() {
		return over
	}
	return NewCall("Rational", over, &Expr{Kind: Integer, Text: r.Denom().String()})
}

// Str makes a string from its unescaped text.
func Str(text string) *Expr { return &Expr{Kind: String, Text: text} }

// Apply makes the call head[args...] with any expression as head.
func Apply(head *Expr, args ...*Expr) *Expr { return &Expr{Kind: Call, Head: head, Args: args} }

// NewCall makes the call name[args...].
func NewCall(name string, args ...*Expr) *Expr { return Apply(Sym(name), args...) }

// IsSymbol reports whether e is the symbol of that name.
func (e *Expr) IsSymbol(name string) bool {
	return e != nil && e.Kind == Symbol && e.Text == name
}

// IsCall reports whether e is a call whose head is the symbol of that name.
func (e *Expr) IsCall(name string) bool {
	return e != nil && e.Kind == Call && e.Head.IsSymbol(name)
}

// HeadName is the name of the head: the symbol's name for a call headed by a symbol, "" for a call headed by anything
// else, and Symbol, Integer, Real or String for an atom.
func (e *Expr) HeadName() string {
	if e == nil {
		return ""
	}
	if e.Kind != Call {
		return e.Kind.String()
	}
	if e.Head != nil && e.Head.Kind == Symbol {
		return e.Head.Text
	}
	return ""
}

// IsInt reports whether e is the integer n.
func (e *Expr) IsInt(n int64) bool {
	return e != nil && e.Kind == Integer && e.Text == strconv.FormatInt(n, 10)
}

// Equal reports whether two trees have the same shape and texts; positions do not count.
func (e *Expr) Equal(other *Expr) bool {
	if e == other {
		return true
	}
	if e == nil || other == nil || e.Kind != other.Kind || e.Text != other.Text || len(e.Args) != len(other.Args) {
		return false
	}
	if e.Kind != Call {
		return true
	}
	if !e.Head.Equal(other.Head) {
		return false
	}
	for i, arg := range e.Args {
		if !arg.Equal(other.Args[i]) {
			return false
		}
	}
	return true
}

// Walk calls visit for e and everything below it, heads before arguments, from left to right. Where visit answers
// false, the nodes below that one are left out.
func (e *Expr) Walk(visit func(*Expr) bool) {
	if e == nil || !visit(e) || e.Kind != Call {
		return
	}
	e.Head.Walk(visit)
	for _, arg := range e.Args {
		arg.Walk(visit)
	}
}

// Symbols lists the names of all symbols, heads among them, in order of first appearance, each once.
func (e *Expr) Symbols() []string {
	return e.names(func(n *Expr) (string, bool) { return n.Text, n.Kind == Symbol })
}

// Heads lists the names of all symbols that head a call, in order of first appearance, each once.
func (e *Expr) Heads() []string {
	return e.names(func(n *Expr) (string, bool) {
		name := n.HeadName()
		return name, n.Kind == Call && name != ""
	})
}

func (e *Expr) names(pick func(*Expr) (string, bool)) []string {
	var names []string
	seen := map[string]bool{}
	e.Walk(func(n *Expr) bool {
		if name, ok := pick(n); ok && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		return true
	})
	return names
}

// FreeOf reports whether no node of e, heads included, equals part.
func (e *Expr) FreeOf(part *Expr) bool {
	free := true
	e.Walk(func(n *Expr) bool {
		if free && n.Equal(part) {
			free = false
		}
		return free
	})
	return free
}

// Replace returns e with every node equal to from replaced by to, outermost first; a replacement is not searched again.
// Scoping is ignored: a bound variable is replaced like any other.
func (e *Expr) Replace(from, to *Expr) *Expr {
	return e.Map(func(n *Expr) (*Expr, bool) { return to, n.Equal(from) })
}

// Map returns e with every node for which change returns true replaced by its result, outermost first; a replacement is
// not searched again. Unchanged subtrees are shared with e.
func (e *Expr) Map(change func(*Expr) (*Expr, bool)) *Expr {
	if e == nil {
		return nil
	}
	if changed, ok := change(e); ok {
		return changed
	}
	if e.Kind != Call {
		return e
	}
	head := e.Head.Map(change)
	same := head == e.Head
	args := make([]*Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = arg.Map(change)
		same = same && args[i] == arg
	}
	if same {
		return e
	}
	return &Expr{Kind: Call, Head: head, Args: args, Pos: e.Pos}
}

// FullForm prints the tree without any operator: Head[arg, arg]. Parse reads it back to an equal tree.
func (e *Expr) FullForm() string {
	var b strings.Builder
	e.writeFullForm(&b)
	return b.String()
}

func (e *Expr) writeFullForm(b *strings.Builder) {
	if e == nil {
		return
	}
	switch e.Kind {
	case String:
		writeQuoted(b, e.Text)
	case Call:
		// A sign would go to the whole call, so -2 as a head stands in parentheses.
		signed := e.Head != nil && strings.HasPrefix(e.Head.Text, "-") && e.Head.Kind != String
		if signed {
			b.WriteByte('(')
		}
		e.Head.writeFullForm(b)
		if signed {
			b.WriteByte(')')
		}
		b.WriteByte('[')
		for i, arg := range e.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			arg.writeFullForm(b)
		}
		b.WriteByte(']')
	default:
		b.WriteString(e.Text)
	}
}

// writeQuoted writes a string literal that Parse reads back to the same text.
func writeQuoted(b *strings.Builder, text string) {
	b.WriteByte('"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}
