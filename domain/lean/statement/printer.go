package statement

import (
	"slices"
	"strconv"
	"strings"

	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// printer writes one statement.
type printer struct {
	*session
	out   strings.Builder
	taken map[string]bool // skeletons of the names that no bound variable may have
	scope []string        // names of the bound variables around, innermost last
	types []exprID        // their types
	looks map[string]int  // by look: how many variables in scope have it
	uses  map[occurrence]bool
	depth int
}

type occurrence struct {
	e     exprID
	index uint32
}

// print writes an expression of the file, which is whole in the arena.
func (s *session) print(handle uint32, whole exprID) string {
	p := &printer{session: s, taken: map[string]bool{}, uses: map[occurrence]bool{}, looks: map[string]int{}}
	p.takeNames(whole, map[exprID]bool{})
	p.expr(handle, lowest)
	return p.out.String()
}

// takeNames keeps bound variables from being called like a constant of the statement, or like its first component.
func (p *printer) takeNames(e exprID, seen map[exprID]bool) {
	if seen[e] {
		return
	}
	seen[e] = true
	n := p.arena.nodes[e]
	if n.kind == term.KindConst {
		for i, part := range p.components(term.Name(n.a)) {
			if i == 0 {
				p.taken[skeleton(part.text)] = true
			}
		}
		return
	}
	p.arena.rebuild(n, func(part exprID, _ uint32) (exprID, bool) {
		p.takeNames(part, seen)
		return part, true
	})
}

// write appends texts, and panics with tooLong beyond MaxBytes.
func (p *printer) write(texts ...string) {
	for _, text := range texts {
		if p.out.Len()+len(text) > MaxBytes {
			panic(tooLong{})
		}
		p.out.WriteString(text)
	}
}

// arenaExpr is the handle in the arena of an expression of the file.
func (p *printer) arenaExpr(handle uint32) exprID { return p.importer.exprs[handle] }

func (p *printer) bindVariable(name string, typ exprID) {
	p.looks[variableLook(name)]++
	p.scope = append(p.scope, name)
	p.types = append(p.types, typ)
}

func (p *printer) unbindVariables(count int) {
	for _, name := range p.scope[len(p.scope)-count:] {
		p.looks[variableLook(name)]--
	}
	p.scope = p.scope[:len(p.scope)-count]
	p.types = p.types[:len(p.types)-count]
}

func (p *printer) expr(handle uint32, level int) {
	if p.depth++; p.depth > maxDepth {
		panic(tooLong{})
	}
	defer func() { p.depth-- }()
	w := p.file.Written(handle)
	switch w.Kind {
	case term.KindBVar:
		if i := len(p.scope) - 1 - int(w.A); i >= 0 {
			p.write(p.scope[i])
		} else {
			p.write("#", strconv.Itoa(int(w.A)))
		}
	case term.KindSort:
		p.sort(levelID(p.arena.nodes[p.arenaExpr(handle)].a), level)
	case term.KindConst, term.KindApp:
		p.application(handle, level)
	case term.KindPi:
		p.pi(handle, level)
	case term.KindLam:
		p.parenthesised(level, lowest, func() {
			p.write("fun")
			body, count := p.binders(handle, term.KindLam)
			p.write(" => ")
			p.expr(body, lowest)
			p.unbindVariables(count)
		})
	case term.KindLet:
		p.parenthesised(level, lowest, func() {
			name := p.chooseName(w.Name)
			p.write("let ", name, " : ")
			p.expr(w.A, lowest)
			p.write(" := ")
			p.expr(w.B, lowest)
			p.write("; ")
			p.bindVariable(name, p.arenaExpr(w.A))
			p.expr(w.C, lowest)
			p.unbindVariables(1)
		})
	case term.KindProj:
		p.projection(w, level)
	case term.KindNat:
		p.parenthesised(level, applied, func() { p.write("nat_lit ", p.arena.texts[p.arena.nodes[p.arenaExpr(handle)].a]) })
	case term.KindStr:
		text := p.file.Store.StrValue(w.Expr)
		if len(text) > MaxBytes {
			panic(tooLong{})
		}
		p.write(quote(text))
	}
}

// parenthesised calls write for text of binding strength own, in parentheses where the context needs more than that.
func (p *printer) parenthesised(level, own int, write func()) {
	if level > own {
		p.write("(")
	}
	write()
	if level > own {
		p.write(")")
	}
}

// projection writes e.i where the type of e shows the structure, and #proj S i e otherwise.
func (p *printer) projection(w export.Written, level int) {
	index := strconv.Itoa(int(w.B) + 1)
	if !p.explicit {
		if structure, ok := p.headStructure(p.types, p.arenaExpr(w.C)); ok && structure == term.Name(w.A) {
			inner := atomic
			if kind := p.file.Written(w.C).Kind; kind != term.KindBVar && kind != term.KindProj {
				inner++
			}
			p.expr(w.C, inner)
			p.write(".", index)
			return
		}
	}
	structure := p.Text(term.Name(w.A))
	if p.explicit {
		structure = p.Quoted(term.Name(w.A))
	}
	p.parenthesised(level, applied, func() {
		p.write("#proj ", structure, " ", index, " ")
		p.expr(w.C, atomic)
	})
}

// pi writes A → B where nothing depends on the argument, and ∀ binders otherwise.
func (p *printer) pi(handle uint32, level int) {
	w := p.file.Written(handle)
	if p.isArrow(w) {
		p.parenthesised(level, arrow, func() {
			p.expr(w.A, arrowLeft)
			p.write(" → ")
			p.bindVariable("_", p.arenaExpr(w.A))
			p.expr(w.B, arrow)
			p.unbindVariables(1)
		})
		return
	}
	p.parenthesised(level, lowest, func() {
		p.write("∀")
		body, count := p.binders(handle, term.KindPi)
		p.write(", ")
		p.expr(body, lowest)
		p.unbindVariables(count)
	})
}

func (p *printer) isArrow(w export.Written) bool {
	return w.Kind == term.KindPi && w.Binder == export.Default && !p.explicit && !p.occurs(p.arenaExpr(w.B), 0)
}

var (
	openers = [...]string{export.Default: "(", export.Implicit: "{", export.StrictImplicit: "⦃", export.InstImplicit: "["}
	closers = [...]string{export.Default: ")", export.Implicit: "}", export.StrictImplicit: "⦄", export.InstImplicit: "]"}
)

// binders writes consecutive binders, those of one closed type and annotation together. It returns the body below them
// and their number; their variables stay in scope.
func (p *printer) binders(handle uint32, kind term.Kind) (body uint32, count int) {
	for {
		w := p.file.Written(handle)
		if w.Kind != kind || p.isArrow(w) {
			return handle, count
		}
		p.write(" ", openers[w.Binder])
		var names []string
		next := w
		for {
			name := p.chooseName(next.Name)
			if len(names) > 0 {
				p.write(" ")
			}
			p.write(name)
			names = append(names, name)
			p.bindVariable(name, p.arenaExpr(w.A))
			handle = next.B
			next = p.file.Written(handle)
			if next.Kind != kind || next.Binder != w.Binder || p.arenaExpr(w.A) != p.arenaExpr(next.A) || p.arena.nodes[p.arenaExpr(w.A)].loose > 0 || p.isArrow(next) {
				break
			}
		}
		p.unbindVariables(len(names))
		p.write(" : ")
		p.expr(w.A, lowest)
		p.write(closers[w.Binder])
		for _, name := range names {
			p.bindVariable(name, p.arenaExpr(w.A))
		}
		count += len(names)
	}
}

// occurs says whether the variable with the given index occurs in an expression.
func (p *printer) occurs(e exprID, index uint32) bool {
	n := p.arena.nodes[e]
	if n.loose <= index {
		return false
	}
	if n.kind == term.KindBVar {
		return n.a == index
	}
	key := occurrence{e, index}
	if known, ok := p.uses[key]; ok {
		return known
	}
	if !p.arena.takeStep() {
		return true // out of steps: the variable gets a name it may not need
	}
	result := false
	p.arena.rebuild(n, func(part exprID, under uint32) (exprID, bool) {
		result = result || p.occurs(part, index+under)
		return part, true
	})
	p.uses[key] = result
	return result
}

// chooseName returns the name printed for a bound variable: the first component of the file's name if that is a legible
// identifier, x otherwise; with _1, _2 and so on after it where the name is taken.
func (p *printer) chooseName(n term.Name) string {
	base := "x"
	if parts := p.components(n); len(parts) > 0 && !p.explicit { // macro scopes hang components below the name the user wrote
		if first := parts[0]; !first.numeric && isIdentifier(first.text) && first.text != "_" && legible(first.text) {
			base = first.text
		}
	}
	name := base
	for i := 1; p.isTaken(name) || p.looks[variableLook(name)] > 0; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	return name
}

// isTaken says whether a name looks like a reserved word or a constant of the statement.
func (p *printer) isTaken(name string) bool {
	look := skeleton(name)
	_, word := reservedSkeletons[look]
	return word || p.taken[look]
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
	if !p.explicit && p.writeNotation(handle, w, args, level) {
		return
	}
	own := atomic
	if len(args) > 0 {
		own = applied
	}
	p.parenthesised(level, own, func() {
		switch w.Kind {
		case term.KindConst:
			p.constant(head)
		case term.KindBVar:
			p.expr(head, atomic)
		default:
			p.expr(head, atomic+1)
		}
		for _, arg := range args {
			p.write(" ")
			p.expr(arg, atomic)
		}
	})
}

// constant writes a name with its levels, and @ where it has implicit arguments.
func (p *printer) constant(handle uint32) {
	n := p.arena.nodes[p.arenaExpr(handle)]
	name := term.Name(n.a)
	if p.explicit {
		p.write("@", p.Quoted(name))
	} else {
		if p.hasImplicit(name) {
			p.write("@")
		}
		p.write(p.Text(name))
	}
	if levels := p.arena.items(levelID(n.b)); len(levels) > 0 {
		p.write(".{")
		for i, l := range levels {
			if i > 0 {
				p.write(", ")
			}
			p.level(l, lowest)
		}
		p.write("}")
	}
}

// writeNotation writes an application of one of Lean's constants in Lean's notation. It reports false, and has written
// nothing, where the notation would read back to another expression.
func (p *printer) writeNotation(handle uint32, head export.Written, args []uint32, level int) bool {
	if head.Kind != term.KindConst {
		return false
	}
	name := term.Name(head.A)
	switch {
	case p.notation.hasNot && name == p.notation.not && len(args) == 1:
		return p.negation(handle, args[0], level)
	case p.notation.hasExists && name == p.notation.exists && len(args) == 2:
		return p.exists(handle, args[1], level)
	case p.notation.hasNat && name == p.notation.ofNat && len(args) == 3 && p.file.Written(args[1]).Kind == term.KindNat:
		digits := p.arena.texts[p.arena.nodes[p.arenaExpr(args[1])].a]
		if p.numeral(digits) == p.arenaExpr(handle) {
			p.write(digits)
			return true
		}
		return false
	case len(args) >= 2:
		return p.binary(handle, name, args[len(args)-2], args[len(args)-1], level)
	}
	return false
}

func (p *printer) negation(handle, arg uint32, level int) bool {
	if p.arena.app(p.arena.constant(p.notation.not, noLevel), p.arenaExpr(arg)) != p.arenaExpr(handle) {
		return false
	}
	p.parenthesised(level, notLevel, func() {
		p.write("¬")
		p.expr(arg, notLevel)
	})
	return true
}

// binary writes an operation with its symbol.
func (p *printer) binary(handle uint32, name term.Name, left, right uint32, level int) bool {
	for i, op := range p.notation.operators {
		if op.head.name != name {
			continue
		}
		shown, universe := p.operatorFits(i, handle, left, right)
		if !shown {
			return false
		}
		p.parenthesised(level, op.level, func() {
			p.expr(left, op.left)
			p.write(" ", op.symbol)
			if universe != nil {
				p.write(".{")
				p.level(*universe, lowest)
				p.write("}")
			}
			p.write(" ")
			p.expr(right, op.right)
		})
		return true
	}
	return false
}

// operatorFits reports whether operator i between two operands reads back to the expression handle. universe is the level
// to be written with the operator; nil when the reader infers it.
func (p *printer) operatorFits(i int, handle, left, right uint32) (ok bool, universe *levelID) {
	stands := func(head exprID, found bool) bool {
		return found && p.arena.app(p.arena.app(head, p.arenaExpr(left)), p.arenaExpr(right)) == p.arenaExpr(handle)
	}
	if stands(p.headOf(i, p.types, p.arenaExpr(left))) {
		return true, nil
	}
	constant, _ := p.arena.spine(p.arenaExpr(handle))
	levels := p.arena.items(levelID(p.arena.nodes[constant].b))
	if p.notation.operators[i].typed && len(levels) == 1 && stands(p.headAt(i, levels[0], p.types, p.arenaExpr(left))) {
		return true, &levels[0]
	}
	return false, nil
}

// exists writes ∃ (x : A), p.
func (p *printer) exists(handle, lambda uint32, level int) bool {
	w := p.file.Written(lambda)
	if w.Kind != term.KindLam || w.Binder != export.Default {
		return false
	}
	head, ok := p.atSortOf(p.notation.exists, p.types, p.arenaExpr(w.A))
	if !ok || p.arena.app(head, p.arenaExpr(lambda)) != p.arenaExpr(handle) {
		return false
	}
	p.parenthesised(level, lowest, func() {
		name := p.chooseName(w.Name)
		p.write("∃ (", name, " : ")
		p.expr(w.A, lowest)
		p.write("), ")
		p.bindVariable(name, p.arenaExpr(w.A))
		p.expr(w.B, lowest)
		p.unbindVariables(1)
	})
	return true
}

// sort writes Prop, Type l or Sort l.
func (p *printer) sort(l levelID, level int) {
	word := "Sort "
	switch {
	case p.explicit:
	case l == zero:
		p.parenthesised(level, atomic, func() { p.write("Prop") })
		return
	case p.arena.levels[l].kind == term.LevelSucc:
		word, l = "Type ", levelID(p.arena.levels[l].a)
		if l == zero {
			p.parenthesised(level, atomic, func() { p.write("Type") }) // so that no argument is taken for its level
			return
		}
	}
	p.parenthesised(level, applied, func() {
		p.write(word)
		p.level(l, atomic)
	})
}

// level writes a universe level: numbers, names, l+n, max and imax.
func (p *printer) level(l levelID, level int) {
	if p.depth++; p.depth > maxDepth {
		panic(tooLong{})
	}
	defer func() { p.depth-- }()
	base, offset := p.arena.offset(l)
	n := p.arena.levels[base]
	switch {
	case offset > maxOffset:
		panic(tooLong{})
	case base == zero:
		p.write(strconv.Itoa(offset))
	case offset > 0:
		p.parenthesised(level, additive, func() {
			p.level(base, atomic)
			p.write("+", strconv.Itoa(offset))
		})
	case n.kind == term.LevelParam && p.explicit:
		p.write(p.Quoted(term.Name(n.a)))
	case n.kind == term.LevelParam:
		p.write(p.Param(term.Name(n.a)))
	default:
		word := "max "
		if n.kind == term.LevelIMax {
			word = "imax "
		}
		p.parenthesised(level, applied, func() {
			p.write(word)
			p.level(levelID(n.a), atomic)
			p.write(" ")
			p.level(levelID(n.b), atomic)
		})
	}
}

// maxOffset bounds the numbers in universe levels.
const maxOffset = maxDepth
