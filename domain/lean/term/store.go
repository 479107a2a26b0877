package term

import "fmt"

// Store holds names, levels and expressions, each distinct one once.
type Store struct {
	names     []nameNode
	nameIndex map[nameKey]Name

	levels     []LevelNode
	levelTable table
	lists      []levelList
	listItems  []Level
	listTable  table

	exprs       []Node
	frozen      Expr  // the expressions below this handle are for ever
	frozenTable table // of those, shared by clones and only read
	exprTable   table // of the others
	exprLimit   int

	nats         naturals
	strs         texts
	literalBytes int // taken by the literals made here, those of the parents excepted
	literalLimit int

	memo           memo // of the substitution under way
	deepestNesting int  // how deep substitutions have gone, in levels, a multiple of levelsPerStackCheck
	room           *Room
}

// StoreFull is what building an expression panics with when the store's limit is reached. Package kernel recovers it
// at the boundary of a declaration and reports it as a resource error.
type StoreFull struct {
	Limit int
	Bytes bool // Limit counts the bytes of literals, not expressions
}

func (o StoreFull) Error() string {
	if o.Bytes {
		return fmt.Sprintf("literals of more than %d bytes are needed", o.Limit)
	}
	return fmt.Sprintf("more than %d distinct expressions are needed", o.Limit)
}

// MaxExprs is the default limit of distinct expressions in one store.
const MaxExprs = 1 << 27

// MaxLiteralBytes is the default limit of what the literals of one store take.
const MaxLiteralBytes = 1 << 30

// NewStore returns a store that holds Anonymous, Zero and NoLevels.
func NewStore() *Store {
	s := &Store{
		names:      make([]nameNode, 1, 1024),
		nameIndex:  map[nameKey]Name{},
		levelTable: newTable(nil, 64),
		lists:      make([]levelList, 1, 64),
		listTable:  newTable(nil, 64),
		exprTable:  newTable(nil, 1024),
		exprLimit:  MaxExprs,
		nats:       newNaturals(),
		strs:       newTexts(),

		literalLimit: MaxLiteralBytes,
	}
	s.internLevel(LevelZero, 0, 0)
	return s
}

// SetExprLimit bounds the number of distinct expressions; building one more panics with OutOfRoom.
func (s *Store) SetExprLimit(n int) { s.exprLimit = min(n, MaxExprs) }

// SetLiteralLimit bounds the bytes of literals this store may still make; making more panics with OutOfRoom.
func (s *Store) SetLiteralLimit(n int) { s.literalLimit = s.literalBytes + n }

// SetRoom makes the store grow within r only. Growing beyond it panics with OutOfMemory.
func (s *Store) SetRoom(r *Room) { s.room = r }

// Clone returns a store in which every handle of s means the same; what either adds later is its own. The clone grows
// within r, from the start, and interns no further names (only FreshName), because names are what files write and
// workers read no files.
func (s *Store) Clone(r *Room) *Store {
	return &Store{
		names:       s.names[:len(s.names):len(s.names)],
		nameIndex:   s.nameIndex,
		levels:      Grow(r, s.levels, len(s.levels), len(s.levels)),
		levelTable:  s.levelTable.clone(r),
		lists:       append([]levelList(nil), s.lists...),
		listItems:   append([]Level(nil), s.listItems...),
		listTable:   s.listTable.clone(r),
		exprs:       Grow(r, s.exprs, len(s.exprs), len(s.exprs)+len(s.exprs)/4+1024),
		frozen:      s.frozen,
		frozenTable: s.frozenTable,
		exprTable:   s.exprTable.clone(r),
		exprLimit:   s.exprLimit,
		nats:        s.nats.child(),
		strs:        s.strs.child(),
		room:        r,

		literalLimit: s.literalLimit,
	}
}

// Freeze keeps the expressions made so far for ever, in a table that is not written to again. What a check makes for the
// time of one declaration then lives in a small table, which stays in the processor's cache however large the file is.
func (s *Store) Freeze() {
	if s.frozen > 0 {
		return
	}
	small := newTable(s.room, smallTable)
	s.frozen = Expr(len(s.exprs))
	s.frozenTable, s.exprTable = s.exprTable, small
}

// smallTable is how many expressions the table of the unfrozen ones starts with; largeTable is the number of slots from
// which on it starts anew.
const (
	smallTable = 1 << 11
	largeTable = 1 << 16
)

// Truncate forgets the expressions made after the store had count of them, frozen ones excepted, and the numbers in them.
func (s *Store) Truncate(count int) {
	count = max(count, int(s.frozen))
	anew := count == int(s.frozen) && s.frozen > 0 && len(s.exprTable.slots) >= largeTable
	for id := len(s.exprs) - 1; id >= count; id-- {
		n := &s.exprs[id]
		if !anew {
			s.exprTable.remove(mix(n.A, n.B, n.C, uint32(n.Kind)), uint32(id))
		}
		if n.Kind == KindNat {
			s.literalBytes -= s.nats.removeLast(n.A)
		}
	}
	s.exprs = s.exprs[:count]
	if anew {
		s.exprTable = newTable(s.room, smallTable)
	}
}
