package statement

import (
	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// exprID is a handle of an expression of an arena, lid one of a universe level or of a list of levels.
type (
	exprID  uint32
	levelID uint32
)

// node is one expression. A, B and C are as in term.Node, except that levels and expressions are those of the arena and
// literals are texts of it. Unlike in package term, the annotation of a binder is part of the expression.
type node struct {
	a, b, c   uint32
	loose     uint32 // 1 + the largest de Bruijn index free in it
	kind      term.Kind
	binder    export.Binder
	hasParams bool
}

// level is one universe level, or one link of a list of levels.
type level struct {
	a, b      uint32 // a is a term.Name for a parameter
	kind      term.LevelKind
	hasParams bool
}

// listLink is the kind of a list's link: a is its first level, b the rest of the list.
const listLink = term.LevelParam + 1

// The level 0, which also stands for the list without levels.
const (
	zero    levelID = 0
	noLevel levelID = 0
)

// arena holds the expressions of one statement, each distinct one once, so that the same handle means the same
// expression. It never changes the store of the file, which others read meanwhile.
type arena struct {
	nodes      []node
	table      []uint64 // open addressing: the generation and the handle + 1 of a node
	generation uint32
	levels     []level
	levelIndex map[level]levelID
	texts      []string
	textIndex  map[string]uint32
	stepsLeft  int // left for substitution and inference
}

// maxNodes is the most nodes, and maxSteps the most steps of substitution and inference, for one statement.
const (
	maxNodes = 1 << 18
	maxSteps = 1 << 20
)

func newArena() *arena {
	a := &arena{table: make([]uint64, 256), levelIndex: map[level]levelID{}, textIndex: map[string]uint32{}}
	a.reset()
	return a
}

// reset empties the arena for another statement.
func (a *arena) reset() {
	a.stepsLeft = maxSteps
	a.nodes, a.levels, a.texts = a.nodes[:0], append(a.levels[:0], level{}), a.texts[:0]
	if a.generation++; a.generation == 0 { // after 2^32 statements the oldest entries would be valid again
		clear(a.table)
		a.generation = 1
	}
	clear(a.levelIndex)
	clear(a.textIndex)
	a.levelIndex[level{}] = zero
}

func (a *arena) intern(n node) exprID {
	mask := uint32(len(a.table) - 1)
	i := n.hash() & mask
	for ; uint32(a.table[i]>>32) == a.generation; i = (i + 1) & mask {
		if e := uint32(a.table[i]) - 1; a.nodes[e] == n {
			return exprID(e)
		}
	}
	if len(a.nodes) >= maxNodes {
		panic(tooLong{})
	}
	e := exprID(len(a.nodes))
	a.nodes = append(a.nodes, n)
	a.table[i] = uint64(a.generation)<<32 | uint64(e+1)
	if 2*len(a.nodes) > len(a.table) {
		a.grow()
	}
	return e
}

// grow doubles the table.
func (a *arena) grow() {
	a.table = make([]uint64, 2*len(a.table))
	mask := uint32(len(a.table) - 1)
	for e := range a.nodes {
		i := a.nodes[e].hash() & mask
		for a.table[i] != 0 {
			i = (i + 1) & mask
		}
		a.table[i] = uint64(a.generation)<<32 | uint64(e+1)
	}
}

func (n *node) hash() uint32 {
	h := (uint64(n.a)|uint64(n.b)<<32)*0x9E3779B97F4A7C15 ^ (uint64(n.c)|uint64(n.kind)<<32|uint64(n.binder)<<40)*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

func (a *arena) internLevel(l level) levelID {
	if e, ok := a.levelIndex[l]; ok {
		return e
	}
	if len(a.levels) >= maxNodes {
		panic(tooLong{})
	}
	e := levelID(len(a.levels))
	a.levels = append(a.levels, l)
	a.levelIndex[l] = e
	return e
}

func (a *arena) succ(l levelID) levelID {
	return a.internLevel(level{kind: term.LevelSucc, a: uint32(l), hasParams: a.levels[l].hasParams})
}

func (a *arena) max(x, y levelID) levelID  { return a.pair(term.LevelMax, x, y) }
func (a *arena) imax(x, y levelID) levelID { return a.pair(term.LevelIMax, x, y) }

func (a *arena) pair(kind term.LevelKind, x, y levelID) levelID {
	return a.internLevel(level{kind: kind, a: uint32(x), b: uint32(y), hasParams: a.levels[x].hasParams || a.levels[y].hasParams})
}

func (a *arena) param(n term.Name) levelID {
	return a.internLevel(level{kind: term.LevelParam, a: uint32(n), hasParams: true})
}

// list interns a list of levels.
func (a *arena) list(items []levelID) levelID {
	rest := noLevel
	for i := len(items) - 1; i >= 0; i-- {
		rest = a.pair(listLink, items[i], rest)
	}
	return rest
}

// items are the levels of a list.
func (a *arena) items(list levelID) (out []levelID) {
	for ; list != noLevel; list = levelID(a.levels[list].b) {
		out = append(out, levelID(a.levels[list].a))
	}
	return out
}

func (a *arena) text(s string) uint32 {
	if i, ok := a.textIndex[s]; ok {
		return i
	}
	i := uint32(len(a.texts))
	a.texts = append(a.texts, s)
	a.textIndex[s] = i
	return i
}

func (a *arena) bvar(i uint32) exprID { return a.intern(node{kind: term.KindBVar, a: i, loose: i + 1}) }

func (a *arena) sort(l levelID) exprID {
	return a.intern(node{kind: term.KindSort, a: uint32(l), hasParams: a.levels[l].hasParams})
}

func (a *arena) constant(n term.Name, levels levelID) exprID {
	return a.intern(node{kind: term.KindConst, a: uint32(n), b: uint32(levels), hasParams: a.levels[levels].hasParams})
}

func (a *arena) app(f, x exprID) exprID {
	return a.intern(node{kind: term.KindApp, a: uint32(f), b: uint32(x), loose: max(a.nodes[f].loose, a.nodes[x].loose),
		hasParams: a.nodes[f].hasParams || a.nodes[x].hasParams})
}

func (a *arena) bind(kind term.Kind, binder export.Binder, typ, body exprID) exprID {
	return a.intern(node{kind: kind, binder: binder, a: uint32(typ), b: uint32(body), loose: max(a.nodes[typ].loose, looseOutsideBinder(a.nodes[body].loose)),
		hasParams: a.nodes[typ].hasParams || a.nodes[body].hasParams})
}

func (a *arena) let(typ, value, body exprID) exprID {
	return a.intern(node{kind: term.KindLet, a: uint32(typ), b: uint32(value), c: uint32(body),
		loose:     max(a.nodes[typ].loose, a.nodes[value].loose, looseOutsideBinder(a.nodes[body].loose)),
		hasParams: a.nodes[typ].hasParams || a.nodes[value].hasParams || a.nodes[body].hasParams})
}

func (a *arena) proj(structure term.Name, index uint32, e exprID) exprID {
	return a.intern(node{kind: term.KindProj, a: uint32(structure), b: index, c: uint32(e), loose: a.nodes[e].loose, hasParams: a.nodes[e].hasParams})
}

func (a *arena) nat(digits string) exprID {
	return a.intern(node{kind: term.KindNat, a: a.text(digits)})
}
func (a *arena) str(s string) exprID { return a.intern(node{kind: term.KindStr, a: a.text(s)}) }

// looseOutsideBinder is node.loose of a binder whose body has the given loose.
func looseOutsideBinder(loose uint32) uint32 {
	if loose == 0 {
		return 0
	}
	return loose - 1
}

// takeStep counts one step of substitution or inference; it reports false when none are left.
func (a *arena) takeStep() bool {
	a.stepsLeft--
	return a.stepsLeft >= 0
}

// importer copies expressions of a file into an arena.
type importer struct {
	file      *export.File
	arena     *arena
	exprs     map[uint32]exprID
	levels    map[term.Level]levelID
	nodesLeft int // nodes that may still be copied
	depth     int
}

// expr copies the expression with a handle of the file, annotations of binders included and their names left out.
func (m *importer) expr(handle uint32) (exprID, bool) {
	if e, ok := m.exprs[handle]; ok {
		return e, true
	}
	if m.nodesLeft <= 0 || m.depth >= maxDepth {
		return 0, false
	}
	m.nodesLeft--
	m.depth++
	defer func() { m.depth-- }()
	w := m.file.Written(handle)
	var parts [3]exprID
	for i, child := range w.Children() {
		e, ok := m.expr(child)
		if !ok {
			return 0, false
		}
		parts[i] = e
	}
	e, ok := m.node(w, parts)
	if ok {
		m.exprs[handle] = e
	}
	return e, ok
}

// node copies one node whose parts are copied. The part of a projection is the first.
func (m *importer) node(w export.Written, parts [3]exprID) (exprID, bool) {
	a := m.arena
	switch w.Kind {
	case term.KindBVar:
		return a.bvar(w.A), true
	case term.KindSort:
		l, ok := m.level(term.Level(w.A))
		return a.sort(l), ok
	case term.KindConst:
		var levels []levelID
		for _, l := range m.file.Store.LevelsOf(term.Levels(w.B)) {
			copied, ok := m.level(l)
			if !ok {
				return 0, false
			}
			levels = append(levels, copied)
		}
		return a.constant(term.Name(w.A), a.list(levels)), true
	case term.KindApp:
		return a.app(parts[0], parts[1]), true
	case term.KindLam, term.KindPi:
		return a.bind(w.Kind, w.Binder, parts[0], parts[1]), true
	case term.KindLet:
		return a.let(parts[0], parts[1], parts[2]), true
	case term.KindProj:
		return a.proj(term.Name(w.A), w.B, parts[0]), true
	case term.KindNat:
		v := m.file.Store.NatValue(w.Expr)
		if v.BitLen() > 4*MaxBytes {
			return 0, false
		}
		return a.nat(v.String()), true
	case term.KindStr:
		return a.str(m.file.Store.StrValue(w.Expr)), true
	}
	return 0, false
}

func (m *importer) level(l term.Level) (levelID, bool) {
	if l == term.Zero {
		return zero, true
	}
	if e, ok := m.levels[l]; ok {
		return e, true
	}
	if m.nodesLeft <= 0 || m.depth >= maxDepth {
		return 0, false
	}
	m.nodesLeft--
	m.depth++
	defer func() { m.depth-- }()
	n := m.file.Store.LevelNode(l)
	var out levelID
	switch n.Kind {
	case term.LevelParam:
		out = m.arena.param(term.Name(n.A))
	case term.LevelSucc:
		x, ok := m.level(term.Level(n.A))
		if !ok {
			return 0, false
		}
		out = m.arena.succ(x)
	default:
		x, ok := m.level(term.Level(n.A))
		if !ok {
			return 0, false
		}
		y, ok := m.level(term.Level(n.B))
		if !ok {
			return 0, false
		}
		out = m.arena.pair(n.Kind, x, y)
	}
	m.levels[l] = out
	return out, true
}
