package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// printer renders what declarations state, in Lean's notation.
//
// It is never wrong: notation stands only for the constants and instances it usually stands for, and only where those
// are Lean's own by fingerprint; whatever else has implicit arguments or universe levels is written out with @ and
// .{…}. Left out are just the arguments that the ones written determine: the type and level of = ≠ ∃, and types,
// levels and instances of arithmetic on Nat. Bound variables are renamed where a name would be taken for another.
type printer struct {
	file   *export.File
	known  map[string]bool // constants that are Lean's own by some shipped table
	out    strings.Builder
	taken  map[string]bool // names a bound variable must not have
	scope  []string        // of the bound variables around, innermost last
	budget int
	looks  int // at subexpressions, in search of a variable
	loose  map[uint32]map[uint32]bool
}

func newPrinter(f *export.File, c *core) *printer {
	p := &printer{file: f, known: map[string]bool{}}
	for n := range c.entries {
		if s, _ := c.standing(n); s == genuine {
			p.known[f.Store.NameString(n)] = true
		}
	}
	return p
}

// Binding strengths, as in Lean.
const (
	lowest    = 0
	arrowLeft = 26
	arrow     = 25
	iffLevel  = 20
	orLevel   = 30
	andLevel  = 35
	notLevel  = 40
	relation  = 50
	additive  = 65
	product   = 70
	power     = 75
	applied   = 1024
	atomic    = 1025
)

// operator is notation for a binary constant.
type operator struct {
	symbol             string
	level, left, right int
}

// connectives take exactly their two operands.
var connectives = map[string]operator{
	"And": {"∧", andLevel, andLevel + 1, andLevel},
	"Or":  {"∨", orLevel, orLevel + 1, orLevel},
	"Iff": {"↔", iffLevel, iffLevel + 1, iffLevel + 1},
}

// equalities take the type of their operands first.
var equalities = map[string]operator{
	"Eq": {"=", relation, relation + 1, relation + 1},
	"Ne": {"≠", relation, relation + 1, relation + 1},
}

// arithmetic is notation for operations on Nat with the usual instances.
var arithmetic = map[string]struct {
	operator
	heterogeneous bool
	instance      string // how Lean builds the usual instance, in prefix form
}{
	"HAdd.hAdd": {operator{"+", additive, additive, additive + 1}, true, "instHAdd Nat instAddNat"},
	"HSub.hSub": {operator{"-", additive, additive, additive + 1}, true, "instHSub Nat instSubNat"},
	"HMul.hMul": {operator{"*", product, product, product + 1}, true, "instHMul Nat instMulNat"},
	"HPow.hPow": {operator{"^", power, power + 1, power}, true, "instHPow Nat Nat (instPowNat Nat instNatPowNat)"},
	"LE.le":     {operator{"≤", relation, relation + 1, relation + 1}, false, "instLENat"},
	"LT.lt":     {operator{"<", relation, relation + 1, relation + 1}, false, "instLTNat"},
}

// statementBudget bounds the number of nodes of one statement; what is larger is cut with an ellipsis and cannot be
// taken for the whole.
const statementBudget = 20_000

// maxLooks bounds the search for variables in one statement.
const maxLooks = 1 << 20

// statement renders the type a name is declared with.
func (p *printer) statement(n term.Name) string {
	handle, ok := p.file.WrittenType(n)
	if !ok {
		return ""
	}
	p.out.Reset()
	p.scope, p.budget = p.scope[:0], statementBudget
	p.looks = 0
	p.taken = map[string]bool{"fun": true, "let": true, "Prop": true, "Type": true, "Sort": true, "nat_lit": true, "max": true, "imax": true, "_": true}
	p.loose = map[uint32]map[uint32]bool{}
	p.takeNames(handle, map[uint32]bool{})
	p.expr(handle, lowest)
	return p.out.String()
}

// takeNames keeps bound variables from being called like a constant of the statement, or like its first component.
func (p *printer) takeNames(handle uint32, seen map[uint32]bool) {
	if seen[handle] || len(seen) > statementBudget {
		return
	}
	seen[handle] = true
	w := p.file.Written(handle)
	if w.Kind == term.KindConst {
		name := p.constantName(term.Name(w.A))
		p.taken[name] = true
		first, _, _ := strings.Cut(name, ".")
		p.taken[first] = true
		return
	}
	for _, child := range w.Children() {
		p.takeNames(child, seen)
	}
}

func (p *printer) expr(handle uint32, level int) {
	p.budget--
	if p.budget < 0 {
		if p.budget == -1 {
			p.out.WriteString("…")
		}
		return
	}
	w := p.file.Written(handle)
	switch w.Kind {
	case term.KindBVar:
		if i := len(p.scope) - 1 - int(w.A); i >= 0 {
			p.out.WriteString(p.scope[i])
		} else {
			p.out.WriteString("#" + strconv.Itoa(int(w.A)))
		}
	case term.KindSort:
		p.sort(term.Level(w.A), level)
	case term.KindConst, term.KindApp:
		p.application(handle, level)
	case term.KindPi:
		p.pi(handle, level)
	case term.KindLam:
		p.within(level, lowest, func() {
			p.out.WriteString("fun")
			body := p.binders(handle, term.KindLam)
			p.out.WriteString(" => ")
			p.expr(body, lowest)
		})
	case term.KindLet:
		p.within(level, lowest, func() {
			name := p.fresh(w.Name)
			p.out.WriteString("let " + name + " : ")
			p.expr(w.A, lowest)
			p.out.WriteString(" := ")
			p.expr(w.B, lowest)
			p.out.WriteString("; ")
			p.scope = append(p.scope, name)
			p.expr(w.C, lowest)
		})
	case term.KindProj:
		level := atomic
		if p.file.Written(w.C).Kind == term.KindConst {
			level++ // c.1 is a name
		}
		p.expr(w.C, level)
		p.out.WriteString("." + strconv.Itoa(int(w.B)+1))
	case term.KindNat:
		p.within(level, applied, func() { p.out.WriteString("nat_lit " + p.file.Store.NatValue(w.Expr).String()) })
	case term.KindStr:
		p.out.WriteString(quote(p.file.Store.StrValue(w.Expr)))
	}
}

// within writes something that binds as strongly as own, in parentheses where more is needed.
func (p *printer) within(level, own int, write func()) {
	if level > own {
		p.out.WriteString("(")
		defer p.out.WriteString(")")
	}
	scope := len(p.scope)
	write()
	p.scope = p.scope[:scope]
}

// pi writes A → B where nothing depends on the argument, and ∀ binders otherwise.
func (p *printer) pi(handle uint32, level int) {
	w := p.file.Written(handle)
	if w.Binder == export.Default && !p.uses(w.B, 0) {
		p.within(level, arrow, func() {
			p.expr(w.A, arrowLeft)
			p.out.WriteString(" → ")
			p.scope = append(p.scope, "_")
			p.expr(w.B, arrow)
		})
		return
	}
	p.within(level, lowest, func() {
		p.out.WriteString("∀")
		body := p.binders(handle, term.KindPi)
		p.out.WriteString(", ")
		p.expr(body, lowest)
	})
}

// binders writes consecutive binders, those of one type and annotation together, and returns what is below them. The
// caller takes the names out of scope again.
func (p *printer) binders(handle uint32, kind term.Kind) uint32 {
	open := map[export.Binder]string{export.Default: "(", export.Implicit: "{", export.StrictImplicit: "⦃", export.InstImplicit: "["}
	shut := map[export.Binder]string{export.Default: ")", export.Implicit: "}", export.StrictImplicit: "⦄", export.InstImplicit: "]"}
	for {
		w := p.file.Written(handle)
		if w.Kind != kind || kind == term.KindPi && w.Binder == export.Default && !p.uses(w.B, 0) || p.budget < 0 {
			return handle
		}
		p.out.WriteString(" " + open[w.Binder])
		typeScope := len(p.scope)
		next := w
		for {
			p.budget--
			name := p.fresh(next.Name)
			if len(p.scope) > typeScope {
				p.out.WriteString(" ")
			}
			p.out.WriteString(name)
			p.scope = append(p.scope, name)
			handle = next.B
			next = p.file.Written(handle)
			if next.Kind != kind || next.Binder != w.Binder || p.budget < 0 || !p.sameClosedType(w.A, next.A) ||
				kind == term.KindPi && next.Binder == export.Default && !p.uses(next.B, 0) {
				break
			}
		}
		p.out.WriteString(" : ")
		names := slices.Clone(p.scope[typeScope:])
		p.scope = p.scope[:typeScope]
		p.expr(w.A, lowest)
		p.scope = append(p.scope, names...)
		p.out.WriteString(shut[w.Binder])
	}
}

// sameClosedType says whether two binder types are the same whatever is bound between them.
func (p *printer) sameClosedType(a, b uint32) bool {
	x, y := p.file.Written(a).Expr, p.file.Written(b).Expr
	return x == y && p.file.Store.Node(x).Loose == 0
}

// uses says whether the variable with the given index occurs in an expression.
func (p *printer) uses(handle uint32, index uint32) bool {
	if p.file.Store.Node(p.file.Written(handle).Expr).Loose <= index {
		return false
	}
	if known, ok := p.loose[handle][index]; ok {
		return known
	}
	if p.looks++; p.looks > maxLooks {
		return true // then the variable is just named
	}
	w := p.file.Written(handle)
	var result bool
	switch w.Kind {
	case term.KindBVar:
		return w.A == index
	case term.KindLam, term.KindPi:
		result = p.uses(w.A, index) || p.uses(w.B, index+1)
	case term.KindLet:
		result = p.uses(w.A, index) || p.uses(w.B, index) || p.uses(w.C, index+1)
	default:
		result = slices.ContainsFunc(w.Children(), func(child uint32) bool { return p.uses(child, index) })
	}
	if p.loose[handle] == nil {
		p.loose[handle] = map[uint32]bool{}
	}
	p.loose[handle][index] = result
	return result
}

// fresh chooses a name for a bound variable: its own, unless that is taken, or says nothing.
func (p *printer) fresh(n term.Name) string {
	base := "x"
	if n != term.Anonymous {
		for m := n; m != term.Anonymous; m = p.file.Store.NamePrefix(m) {
			text, numeric := p.file.Store.NameLast(m)
			if !numeric && text != "_hyg" && text != "_@" && p.file.Store.NamePrefix(m) == term.Anonymous {
				base = text // macro scopes hang their own components below the name the user wrote
			}
		}
	}
	if !isIdentifier(base) || base == "_" {
		base = "x"
	}
	name := base
	for i := 1; p.taken[name] || slices.Contains(p.scope, name); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	return name
}

// application writes a constant or an application, with notation where that is safe.
func (p *printer) application(handle uint32, level int) {
	head := handle
	var args []uint32
	for p.file.Written(head).Kind == term.KindApp {
		w := p.file.Written(head)
		args = append(args, w.B)
		head = w.A
	}
	slices.Reverse(args)
	w := p.file.Written(head)
	if w.Kind == term.KindConst && p.notation(p.file.Store.NameString(term.Name(w.A)), args, level) {
		return
	}
	write := func() {
		if w.Kind == term.KindConst {
			p.constant(w)
		} else {
			p.expr(head, applied)
		}
		for _, arg := range args {
			p.out.WriteString(" ")
			p.expr(arg, atomic)
		}
	}
	if len(args) == 0 {
		p.within(level, atomic, write)
	} else {
		p.within(level, applied, write)
	}
}

// constant writes a name with its levels, and @ where it has implicit arguments.
func (p *printer) constant(w export.Written) {
	if p.hasImplicit(term.Name(w.A)) {
		p.out.WriteString("@")
	}
	p.out.WriteString(p.constantName(term.Name(w.A)))
	if levels := p.file.Store.LevelsOf(term.Levels(w.B)); len(levels) > 0 {
		p.out.WriteString(".{")
		for i, l := range levels {
			if i > 0 {
				p.out.WriteString(", ")
			}
			p.level(l, lowest)
		}
		p.out.WriteString("}")
	}
}

func (p *printer) hasImplicit(n term.Name) bool {
	handle, ok := p.file.WrittenType(n)
	if !ok {
		return true
	}
	for w := p.file.Written(handle); w.Kind == term.KindPi; w = p.file.Written(w.B) {
		if w.Binder != export.Default {
			return true
		}
	}
	return false
}

// notation writes an application of a well-known constant the way Lean does, where that is unambiguous.
func (p *printer) notation(name string, args []uint32, level int) bool {
	if !p.known[name] {
		return false
	}
	binary := func(op operator, a, b uint32) bool {
		p.within(level, op.level, func() {
			p.expr(a, op.left)
			p.out.WriteString(" " + op.symbol + " ")
			p.expr(b, op.right)
		})
		return true
	}
	if op, ok := connectives[name]; ok && len(args) == 2 {
		return binary(op, args[0], args[1])
	}
	if op, ok := equalities[name]; ok && len(args) == 3 {
		return binary(op, args[1], args[2])
	}
	switch {
	case name == "Not" && len(args) == 1:
		p.within(level, notLevel, func() {
			p.out.WriteString("¬")
			p.expr(args[0], notLevel)
		})
		return true
	case name == "Exists" && len(args) == 2 && p.file.Written(args[1]).Kind == term.KindLam:
		p.exists(args[1], level)
		return true
	case name == "OfNat.ofNat" && len(args) == 3:
		w := p.file.Written(args[1])
		if w.Kind == term.KindNat && p.isConstant(args[0], "Nat") && p.known["instOfNatNat"] && p.matches(args[2], "instOfNatNat "+p.file.Store.NatValue(w.Expr).String()) {
			p.out.WriteString(p.file.Store.NatValue(w.Expr).String())
			return true
		}
	}
	if op, ok := arithmetic[name]; ok {
		types := 1
		if op.heterogeneous {
			types = 3
		}
		if len(args) != types+3 {
			return false
		}
		for _, t := range args[:types] {
			if !p.isConstant(t, "Nat") {
				return false
			}
		}
		if p.matches(args[types], op.instance) {
			return binary(op.operator, args[types+1], args[types+2])
		}
	}
	return false
}

// exists writes ∃ (x : A), p.
func (p *printer) exists(lambda uint32, level int) {
	w := p.file.Written(lambda)
	p.within(level, lowest, func() {
		name := p.fresh(w.Name)
		p.out.WriteString("∃ (" + name + " : ")
		p.expr(w.A, lowest)
		p.out.WriteString("), ")
		p.scope = append(p.scope, name)
		p.expr(w.B, lowest)
	})
}

func (p *printer) isConstant(handle uint32, name string) bool {
	w := p.file.Written(handle)
	return w.Kind == term.KindConst && p.known[name] && p.file.Store.NameString(term.Name(w.A)) == name
}

// matches says whether an expression is the given application, written with parentheses, of known constants.
func (p *printer) matches(handle uint32, pattern string) bool {
	text, ok := p.plain(handle)
	return ok && text == pattern
}

// plain writes an application of known constants to such applications and literals, levels left out: they are
// determined, for every operation on Nat lives in one universe.
func (p *printer) plain(handle uint32) (string, bool) {
	w := p.file.Written(handle)
	switch w.Kind {
	case term.KindNat:
		return p.file.Store.NatValue(w.Expr).String(), true
	case term.KindConst:
		name := p.file.Store.NameString(term.Name(w.A))
		return name, p.known[name]
	case term.KindApp:
		fn, ok := p.plain(w.A)
		if !ok {
			return "", false
		}
		arg, ok := p.plain(w.B)
		if p.file.Written(w.B).Kind == term.KindApp {
			arg = "(" + arg + ")"
		}
		return fn + " " + arg, ok
	}
	return "", false
}

// sort writes Prop, Type l or Sort l.
func (p *printer) sort(l term.Level, level int) {
	n := p.file.Store.LevelNode(l)
	if l == term.Zero {
		p.out.WriteString("Prop")
		return
	}
	word := "Sort"
	if n.Kind == term.LevelSucc {
		word, l = "Type", term.Level(n.A)
		if l == term.Zero {
			p.out.WriteString(word)
			return
		}
	}
	p.within(level, applied, func() {
		p.out.WriteString(word + " ")
		p.level(l, atomic)
	})
}

// level writes a universe level: numbers, names, l+n, max and imax.
func (p *printer) level(l term.Level, level int) {
	p.budget--
	if p.budget < 0 {
		p.out.WriteString("…")
		return
	}
	s := p.file.Store
	offset := 0
	n := s.LevelNode(l)
	for n.Kind == term.LevelSucc {
		l = term.Level(n.A)
		n = s.LevelNode(l)
		offset++
	}
	switch {
	case n.Kind == term.LevelZero:
		p.out.WriteString(strconv.Itoa(offset))
	case offset > 0:
		p.within(level, additive, func() {
			p.level(l, atomic)
			p.out.WriteString("+" + strconv.Itoa(offset))
		})
	case n.Kind == term.LevelParam:
		p.out.WriteString(p.constantName(term.Name(n.A)))
	default:
		word := "max "
		if n.Kind == term.LevelIMax {
			word = "imax "
		}
		p.within(level, applied, func() {
			p.out.WriteString(word)
			p.level(term.Level(n.A), atomic)
			p.out.WriteString(" ")
			p.level(term.Level(n.B), atomic)
		})
	}
}

// constantName writes a name with the components that are no identifiers in «».
func (p *printer) constantName(n term.Name) string {
	if n == term.Anonymous {
		return "«»"
	}
	var parts []string
	for ; n != term.Anonymous; n = p.file.Store.NamePrefix(n) {
		text, numeric := p.file.Store.NameLast(n)
		if !numeric && !isIdentifier(text) {
			text = "«" + strings.NewReplacer("\\", "\\\\", "»", "\\»", "\n", "\\n").Replace(text) + "»"
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// isIdentifier says whether a text reads as one name: a letter or underscore, then letters, digits, _ ! ? '.
func isIdentifier(text string) bool {
	for i, r := range text {
		letter := unicode.IsLetter(r) && r != 'λ' && r != 'Π' && r != 'Σ' || r == '_'
		if !letter && (i == 0 || !unicode.IsDigit(r) && r != '\'' && r != '!' && r != '?' && !isSubscript(r)) {
			return false
		}
	}
	return text != ""
}

func isSubscript(r rune) bool { return r >= '₀' && r <= 'ₜ' }

// quote writes a string literal: control characters, quotes and backslashes escaped.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString("\\n")
		case r == '\t':
			b.WriteString("\\t")
		case r == '\r':
			b.WriteString("\\r")
		case !unicode.IsPrint(r):
			b.WriteString("\\u{" + strconv.FormatInt(int64(r), 16) + "}")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
