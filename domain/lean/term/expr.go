package term

import "math/big"

// Expr is a handle of an expression.
type Expr uint32

// Kind says how an expression is built.
type Kind uint8

// The kinds of expression, with the meaning of the node's A, B and C.
const (
	KindBVar  Kind = iota // A: de Bruijn index
	KindLocal             // A: number of the free variable, B: its type
	KindSort              // A: level
	KindConst             // A: name, B: list of levels
	KindApp               // A: function, B: argument
	KindLam               // A: binder type, B: body
	KindPi                // A: binder type, B: body
	KindLet               // A: type, B: value, C: body
	KindProj              // A: structure name, B: field index, C: structure
	KindNat               // A: index of the number
	KindStr               // A: index of the text
)

// Node is one expression.
type Node struct {
	A, B, C  uint32
	Loose    uint32 // 1 + the largest de Bruijn index free in the expression; 0 when closed
	Locals   uint32 // 1 + the largest number of a free variable in it; 0 when there is none
	Kind     Kind
	HasParam bool // a universe parameter occurs
}

// MaxBVar is the largest de Bruijn index represented; BVar maps every larger index to it. No expression that fits in
// memory binds that many variables, so both indices are loose.
const MaxBVar = 1 << 28

// Node returns the node of e.
func (s *Store) Node(e Expr) Node { return s.exprs[e] }

// Kind returns the kind of e.
func (s *Store) Kind(e Expr) Kind { return s.exprs[e].Kind }

// ExprCount is the number of expressions of the store.
func (s *Store) ExprCount() int { return len(s.exprs) }

// BVar is the de Bruijn index i.
func (s *Store) BVar(i uint32) Expr {
	i = min(i, MaxBVar)
	return s.intern(Node{Kind: KindBVar, A: i, Loose: i + 1}, 0)
}

// Local is the free variable number id of the given closed type.
func (s *Store) Local(id uint32, typ Expr) Expr {
	t := &s.exprs[typ]
	return s.intern(Node{Kind: KindLocal, A: id, B: uint32(typ), Locals: max(id+1, t.Locals), HasParam: t.HasParam}, typ)
}

// Sort is the universe Sort l.
func (s *Store) Sort(l Level) Expr {
	return s.intern(Node{Kind: KindSort, A: uint32(l), HasParam: s.levels[l].HasParam}, 0)
}

// Const is the constant n at the given levels.
func (s *Store) Const(n Name, ls Levels) Expr {
	return s.intern(Node{Kind: KindConst, A: uint32(n), B: uint32(ls), HasParam: s.lists[ls].hasParam}, 0)
}

// App is the application f a.
func (s *Store) App(f, a Expr) Expr {
	nf, na := &s.exprs[f], &s.exprs[a]
	return s.intern(Node{Kind: KindApp, A: uint32(f), B: uint32(a), Loose: max(nf.Loose, na.Loose),
		Locals: max(nf.Locals, na.Locals), HasParam: nf.HasParam || na.HasParam}, max(f, a))
}

// Apps applies f to all of args.
func (s *Store) Apps(f Expr, args []Expr) Expr {
	for _, a := range args {
		f = s.App(f, a)
	}
	return f
}

// Lam is fun (_ : typ) => body.
func (s *Store) Lam(typ, body Expr) Expr { return s.binder(KindLam, typ, body) }

// Pi is (_ : typ) → body.
func (s *Store) Pi(typ, body Expr) Expr { return s.binder(KindPi, typ, body) }

func (s *Store) binder(kind Kind, typ, body Expr) Expr {
	nt, nb := &s.exprs[typ], &s.exprs[body]
	return s.intern(Node{Kind: kind, A: uint32(typ), B: uint32(body), Loose: max(nt.Loose, looseOutsideBinder(nb.Loose)),
		Locals: max(nt.Locals, nb.Locals), HasParam: nt.HasParam || nb.HasParam}, max(typ, body))
}

// Let is let _ : typ := value; body.
func (s *Store) Let(typ, value, body Expr) Expr {
	nt, nv, nb := &s.exprs[typ], &s.exprs[value], &s.exprs[body]
	return s.intern(Node{Kind: KindLet, A: uint32(typ), B: uint32(value), C: uint32(body),
		Loose:  max(nt.Loose, nv.Loose, looseOutsideBinder(nb.Loose)),
		Locals: max(nt.Locals, nv.Locals, nb.Locals), HasParam: nt.HasParam || nv.HasParam || nb.HasParam}, max(typ, value, body))
}

// Proj is field number index of the structure value e of the structure type named typeName.
func (s *Store) Proj(typeName Name, index uint32, e Expr) Expr {
	n := &s.exprs[e]
	return s.intern(Node{Kind: KindProj, A: uint32(typeName), B: index, C: uint32(e), Loose: n.Loose,
		Locals: n.Locals, HasParam: n.HasParam}, e)
}

// looseOutsideBinder is Node.Loose of a binder whose body has the given Loose.
func looseOutsideBinder(loose uint32) uint32 {
	if loose == 0 {
		return 0
	}
	return loose - 1
}

// Nat is the numeric literal v; v is kept and must not be changed.
func (s *Store) Nat(v *big.Int) Expr {
	i, ok := s.nats.find(v)
	if !ok {
		s.countLiteralBytes(literalBytes + len(v.Bits())*wordBytes)
		i = s.nats.add(v)
	}
	return s.intern(Node{Kind: KindNat, A: i}, 0)
}

// NatValue is the number of a numeric literal; it must not be changed.
func (s *Store) NatValue(e Expr) *big.Int { return s.nats.value(s.exprs[e].A) }

// Str is the string literal text.
func (s *Store) Str(text string) Expr {
	i, ok := s.strs.find(text)
	if !ok {
		s.countLiteralBytes(literalBytes + len(text))
		i = s.strs.add(text)
	}
	return s.intern(Node{Kind: KindStr, A: i}, 0)
}

// countLiteralBytes counts the bytes of a new literal, and panics with StoreFull or OutOfMemory when the literal or its
// expression cannot be added. It runs before anything is added, so that a literal is in the store exactly while its
// expression is.
func (s *Store) countLiteralBytes(bytes int) {
	if len(s.exprs) >= s.exprLimit {
		panic(StoreFull{Limit: s.exprLimit})
	}
	if s.literalBytes+bytes > s.literalLimit {
		panic(StoreFull{Limit: s.literalLimit, Bytes: true})
	}
	s.room.Require(bytes)
	s.literalBytes += bytes
}

// StrValue is the text of a string literal.
func (s *Store) StrValue(e Expr) string { return s.strs.value(s.exprs[e].A) }

// Spine splits e into its head and its arguments, appended to buf in order of application.
func (s *Store) Spine(e Expr, buf []Expr) (head Expr, args []Expr) {
	args = buf
	start := len(args)
	for s.exprs[e].Kind == KindApp {
		args = append(args, Expr(s.exprs[e].B))
		e = Expr(s.exprs[e].A)
	}
	for i, j := start, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	return e, args
}

// Head is the function at the left end of an application.
func (s *Store) Head(e Expr) Expr {
	for s.exprs[e].Kind == KindApp {
		e = Expr(s.exprs[e].A)
	}
	return e
}

// IsConst says whether e is the constant named n.
func (s *Store) IsConst(e Expr, n Name) bool {
	node := &s.exprs[e]
	return node.Kind == KindConst && node.A == uint32(n)
}

// intern returns the handle of n; newest is the largest handle among its parts. A node with a part built after Freeze is
// not frozen itself, so most lookups need the small table only.
func (s *Store) intern(n Node, newest Expr) Expr {
	h := mix(n.A, n.B, n.C, uint32(n.Kind))
	if newest < s.frozen {
		if e, ok := s.lookup(&s.frozenTable, h, &n); ok {
			return e
		}
	}
	if e, ok := s.lookup(&s.exprTable, h, &n); ok {
		return e
	}
	if len(s.exprs) >= s.exprLimit {
		panic(StoreFull{Limit: s.exprLimit})
	}
	if s.exprTable.full() {
		s.exprTable = newTable(s.room, (len(s.exprs)-int(s.frozen))*2)
		for id := int(s.frozen); id < len(s.exprs); id++ {
			m := &s.exprs[id]
			s.exprTable.put(mix(m.A, m.B, m.C, uint32(m.Kind)), uint32(id))
		}
	}
	id := uint32(len(s.exprs))
	s.exprs = Append(s.room, s.exprs, n)
	s.exprTable.put(h, id)
	return Expr(id)
}

func (s *Store) lookup(t *table, h uint32, n *Node) (Expr, bool) {
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		slot := t.slots[i]
		if slot == 0 {
			return 0, false
		}
		if m := &s.exprs[slot-1]; m.A == n.A && m.B == n.B && m.C == n.C && m.Kind == n.Kind {
			return Expr(slot - 1), true
		}
	}
}
