package statement

import (
	"fmt"
	"slices"
	"strconv"

	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// reader reads the language of a file (see the package's documentation for its grammar) and elaborates what it reads.
// It shares nothing with the printer but that grammar, the table of notation and the inference of types left out.
type reader struct {
	*session
	lexer lexer
	token token
	scope []string // names of the bound variables around, innermost last; "" for one without a name
	types []exprID
	depth int
}

// syntaxError says what is wrong with a text, and where.
type syntaxError struct {
	At      int // byte
	Message string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Message) }

// read reads a text of at most MaxBytes and returns its expression in the arena. It panics with tooLong where the
// arena is full.
func (s *session) read(text string) (e exprID, err error) {
	if len(text) > MaxBytes {
		return 0, &syntaxError{MaxBytes, "the text is too long"}
	}
	r := &reader{session: s, lexer: lexer{text: text}}
	defer func() {
		if caught := recover(); caught != nil {
			failure, ours := caught.(*syntaxError)
			if !ours {
				panic(caught)
			}
			e, err = 0, failure
		}
	}()
	r.advance()
	e = r.expr(lowest)
	if r.token.kind != endToken {
		r.fail("something follows the statement")
	}
	return e, nil
}

// fail panics with a syntaxError at the current token; session.read recovers it.
func (r *reader) fail(format string, args ...any) {
	panic(&syntaxError{r.lexer.at, fmt.Sprintf(format, args...)})
}

func (r *reader) advance() { r.token = r.lexer.next() }

func (r *reader) nextIs(symbol string) bool {
	return r.token.kind == symbolToken && r.token.text == symbol
}

func (r *reader) nextIsWord(word string) bool {
	return r.token.kind == keywordToken && r.token.text == word
}

// accept takes a symbol if it is next.
func (r *reader) accept(symbol string) bool {
	if r.nextIs(symbol) {
		r.advance()
		return true
	}
	return false
}

func (r *reader) expect(symbol string) {
	if !r.accept(symbol) {
		r.fail("%q is missing", symbol)
	}
}

func (r *reader) enter() {
	if r.depth++; r.depth > 4*maxDepth {
		r.fail("the text is nested too deeply")
	}
}

func (r *reader) leave() { r.depth-- }

func (r *reader) bindVariable(name string, typ exprID) {
	r.scope = append(r.scope, name)
	r.types = append(r.types, typ)
}

func (r *reader) unbindVariables(count int) {
	r.scope = r.scope[:len(r.scope)-count]
	r.types = r.types[:len(r.types)-count]
}

// expr reads an expression whose operators bind at least as strongly as level.
func (r *reader) expr(level int) exprID {
	r.enter()
	defer r.leave()
	left, strength := r.prefix(level)
	for {
		if r.nextIs("→") && level <= arrow && strength >= arrowLeft {
			r.advance()
			r.bindVariable("", left)
			body := r.expr(arrow)
			r.unbindVariables(1)
			left, strength = r.arena.bind(term.KindPi, export.Default, left, body), arrow
			continue
		}
		i, ok := r.operator()
		if !ok {
			return left
		}
		op := r.notation.operators[i]
		if op.level < level || strength < op.left {
			return left
		}
		r.advance()
		left, strength = r.applyOperator(i, left), op.level
	}
}

// operator returns the index in the notation of the binary operator that is the next token, if this file declares the
// constants it stands for.
func (r *reader) operator() (i int, ok bool) {
	if r.token.kind != symbolToken {
		return 0, false
	}
	i = slices.IndexFunc(r.notation.operators, func(op resolvedOperator) bool { return op.symbol == r.token.text })
	return i, i >= 0
}

// applyOperator reads the universe level of operator i, if one is written, and its right operand.
func (r *reader) applyOperator(i int, left exprID) exprID {
	op := r.notation.operators[i]
	var head exprID
	var ok bool
	if op.typed && r.accept(".{") {
		level := r.level(true)
		r.expect("}")
		head, ok = r.headAt(i, level, r.types, left)
	} else {
		head, ok = r.headOf(i, r.types, left)
	}
	if !ok {
		r.fail("the type of the operands of %s is not plain to see", op.symbol)
	}
	right := r.expr(op.right)
	return r.arena.app(r.arena.app(head, left), right)
}

// prefix reads an expression without binary operators at its top, and says how strongly it binds.
func (r *reader) prefix(level int) (e exprID, strength int) {
	if level == lowest {
		switch {
		case r.accept("∀"):
			return r.bindersAndBody(term.KindPi, ","), lowest
		case r.nextIsWord("fun"):
			r.advance()
			return r.bindersAndBody(term.KindLam, "=>"), lowest
		case r.accept("∃"):
			return r.exists(), lowest
		case r.nextIsWord("let"):
			r.advance()
			return r.let(), lowest
		}
	}
	if level <= notLevel && r.accept("¬") {
		if !r.notation.hasNot {
			r.fail("¬ stands for nothing here")
		}
		return r.arena.app(r.arena.constant(r.notation.not, noLevel), r.expr(notLevel)), notLevel
	}
	if level <= applied {
		if e, ok := r.keywordExpr(); ok {
			return e, applied
		}
	}
	head := r.atom()
	strength = atomic
	for level <= applied && r.startsAtom() {
		head, strength = r.arena.app(head, r.atom()), applied
	}
	return head, strength
}

// keywordExpr reads Type l, Sort l, nat_lit n or #proj S i e.
func (r *reader) keywordExpr() (e exprID, ok bool) {
	switch {
	case r.nextIsWord("Sort"):
		r.advance()
		return r.arena.sort(r.level(false)), true
	case r.nextIsWord("Type"):
		rest := *r
		r.advance()
		if r.startsLevel() {
			return r.arena.sort(r.arena.succ(r.level(false))), true
		}
		r.lexer, r.token = rest.lexer, rest.token
		return 0, false
	case r.nextIsWord("nat_lit"):
		r.advance()
		return r.arena.nat(r.number()), true
	case r.accept("#proj"):
		structure := r.name()
		index := r.index(r.number())
		return r.arena.proj(structure, index, r.atom()), true
	}
	return 0, false
}

// bindersAndBody reads binders, the symbol after them, and the body.
func (r *reader) bindersAndBody(kind term.Kind, then string) exprID {
	type binding struct {
		typ    exprID
		binder export.Binder
	}
	var all []binding
	for {
		i := slices.IndexFunc(openers[:], r.nextIs)
		if i < 0 {
			break
		}
		r.advance()
		names := []string{r.variable()}
		for r.token.kind == nameToken {
			names = append(names, r.variable())
		}
		r.expect(":")
		typ := r.expr(lowest)
		r.expect(closers[i])
		for j, name := range names {
			lifted, ok := r.lift(typ, uint32(j))
			if !ok {
				r.fail("the binder is too complicated")
			}
			all = append(all, binding{lifted, export.Binder(i)})
			r.bindVariable(name, lifted)
		}
	}
	if len(all) == 0 {
		r.fail("a binder is missing")
	}
	r.expect(then)
	e := r.expr(lowest)
	r.unbindVariables(len(all))
	for _, b := range slices.Backward(all) {
		e = r.arena.bind(kind, b.binder, b.typ, e)
	}
	return e
}

// variable reads the name of a variable that is bound here.
func (r *reader) variable() string {
	if r.token.kind != nameToken || len(r.token.parts) != 1 || r.token.parts[0].numeric || r.token.parts[0].text == "" {
		r.fail("the name of a variable is missing")
	}
	name := r.token.parts[0].text
	if slices.Contains(r.scope, name) {
		r.fail("the variable %s hides another", name)
	}
	r.advance()
	return name
}

// exists reads what stands behind ∃.
func (r *reader) exists() exprID {
	r.expect("(")
	name := r.variable()
	r.expect(":")
	typ := r.expr(lowest)
	r.expect(")")
	r.expect(",")
	if !r.notation.hasExists {
		r.fail("∃ stands for nothing here")
	}
	head, ok := r.atSortOf(r.notation.exists, r.types, typ)
	if !ok {
		r.fail("the universe of ∃ is not plain to see")
	}
	r.bindVariable(name, typ)
	body := r.expr(lowest)
	r.unbindVariables(1)
	return r.arena.app(head, r.arena.bind(term.KindLam, export.Default, typ, body))
}

func (r *reader) let() exprID {
	name := r.variable()
	r.expect(":")
	typ := r.expr(lowest)
	r.expect(":=")
	value := r.expr(lowest)
	r.expect(";")
	r.bindVariable(name, typ)
	body := r.expr(lowest)
	r.unbindVariables(1)
	return r.arena.let(typ, value, body)
}

func (r *reader) startsAtom() bool {
	switch r.token.kind {
	case nameToken, numberToken, stringToken:
		return true
	case symbolToken:
		return r.token.text == "(" || r.token.text == "@" || r.token.text == "#"
	case keywordToken:
		return r.token.text == "Prop" || r.token.text == "Type"
	}
	return false
}

// atom reads an expression that needs no parentheses anywhere, and projections of it.
func (r *reader) atom() exprID {
	r.enter()
	defer r.leave()
	e := r.primary()
	for r.token.kind == fieldToken {
		index := r.index(r.token.text)
		r.advance()
		structure, ok := r.headStructure(r.types, e)
		if !ok {
			r.fail("the structure of a projection is not plain to see")
		}
		e = r.arena.proj(structure, index, e)
	}
	return e
}

func (r *reader) primary() exprID {
	switch {
	case r.accept("("):
		e := r.expr(lowest)
		r.expect(")")
		return e
	case r.accept("@"):
		return r.constant(r.name())
	case r.accept("#"):
		i, err := strconv.ParseUint(r.number(), 10, 32)
		if err != nil || i > term.MaxBVar || i < uint64(len(r.scope)) {
			r.fail("the number of the free variable is wrong")
		}
		return r.arena.bvar(uint32(i))
	case r.nextIsWord("Prop"):
		r.advance()
		return r.arena.sort(zero)
	case r.nextIsWord("Type"):
		r.advance()
		return r.arena.sort(r.arena.succ(zero))
	case r.token.kind == numberToken:
		if !r.notation.hasNat {
			r.fail("numerals stand for nothing here")
		}
		return r.numeral(r.number())
	case r.token.kind == stringToken:
		text := r.token.text
		r.advance()
		return r.arena.str(text)
	case r.token.kind == nameToken:
		return r.identifier()
	}
	r.fail("an expression is missing")
	return 0
}

// identifier reads a bound variable or a constant without implicit arguments.
func (r *reader) identifier() exprID {
	if parts := r.token.parts; len(parts) > 0 && !parts[0].numeric {
		if i := slices.Index(r.scope, parts[0].text); i >= 0 && parts[0].text != "" {
			if len(parts) > 1 {
				r.fail("%s is a variable", parts[0].text)
			}
			r.advance()
			return r.arena.bvar(uint32(len(r.scope) - 1 - i))
		}
	}
	n := r.name()
	if r.hasImplicit(n) {
		r.fail("@ is missing before the name of a constant")
	}
	return r.constant(n)
}

// name reads a name of this file.
func (r *reader) name() term.Name {
	if r.token.kind != nameToken {
		r.fail("a name is missing")
	}
	n, ok := r.lookup(r.token.parts)
	if !ok {
		r.fail("the file does not have this name")
	}
	r.advance()
	return n
}

// constant reads the universe levels after the name of a constant.
func (r *reader) constant(n term.Name) exprID {
	var levels []levelID
	if r.accept(".{") {
		levels = append(levels, r.level(true))
		for r.accept(",") {
			levels = append(levels, r.level(true))
		}
		r.expect("}")
	}
	return r.arena.constant(n, r.arena.list(levels))
}

// number reads decimal digits without leading zeros.
func (r *reader) number() string {
	digits := r.token.text
	if r.token.kind != numberToken || len(digits) > 1 && digits[0] == '0' {
		r.fail("a number is missing")
	}
	r.advance()
	return digits
}

// index makes the index of a field of the digits that are printed for it.
func (r *reader) index(digits string) uint32 {
	i, err := strconv.ParseUint(digits, 10, 33)
	if err != nil || i == 0 || i > 1<<32 || digits[0] == '0' {
		r.fail("the number of the field is wrong")
	}
	return uint32(i - 1)
}

func (r *reader) startsLevel() bool {
	return r.nextIs("(") || r.token.kind == nameToken || r.token.kind == numberToken
}

// level reads a universe level; whole says that one of several words may stand without parentheses.
func (r *reader) level(whole bool) levelID {
	r.enter()
	defer r.leave()
	var l levelID
	switch {
	case r.accept("("):
		l = r.level(true)
		r.expect(")")
	case whole && (r.nextIsWord("max") || r.nextIsWord("imax")):
		kind := term.LevelMax
		if r.token.text == "imax" {
			kind = term.LevelIMax
		}
		r.advance()
		x := r.level(false)
		return r.arena.pair(kind, x, r.level(false))
	case r.token.kind == numberToken:
		return r.successors(zero)
	default:
		l = r.arena.param(r.name())
	}
	if whole && r.accept("+") {
		return r.successors(l)
	}
	return l
}

// successors reads how many successors are on a level.
func (r *reader) successors(l levelID) levelID {
	n, err := strconv.Atoi(r.number())
	if err != nil || n > maxOffset {
		r.fail("the universe is too large")
	}
	for range n {
		l = r.arena.succ(l)
	}
	return l
}
