package term

import "fmt"

// Store holds names, universe levels and expressions, each distinct one once (hash-consing).
type Store struct {
	names     []nameNode
	nameIndex map[nameKey]Name

	levels     []LevelNode
	levelTable table
	lists      []levelList
	listItems  []Level
	listTable  table

	exprs       []Node
	frozen      Expr  // expressions below this handle are never removed
	frozenTable table // index of the frozen expressions; shared by clones, read only
	exprTable   table // index of the other expressions
	exprLimit   int

	nats         naturals
	strs         texts
	literalBytes int // bytes of the literals added to this store, those of its parents excluded
	literalLimit int

	memo           memo // results of the substitution being carried out
	deepestNesting int  // how deep substitutions have gone, in levels, a multiple of levelsPerStackCheck
	room           *Room
}

// StoreFull is the panic of building an expression beyond a limit of the store. Package kernel recovers it at the boundary
// of a declaration and reports the check as not finished.
type StoreFull struct {
	Limit int
	Bytes bool // true: Limit counts bytes of literals; false: expressions
}

func (o StoreFull) Error() string {
	if o.Bytes {
		return fmt.Sprintf("literals of more than %d bytes are needed", o.Limit)
	}
	return fmt.Sprintf("more than %d distinct expressions are needed", o.Limit)
}

// MaxExprs is the default and largest limit of distinct expressions in one store.
const MaxExprs = 1 << 27

// MaxLiteralBytes is the default limit of the bytes that the literals of one store occupy.
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

// SetExprLimit bounds the number of distinct expressions; building one more panics with StoreFull.
func (s *Store) SetExprLimit(n int) { s.exprLimit = min(n, MaxExprs) }

// SetLiteralLimit bounds the bytes of literals added from now on; adding more panics with StoreFull.
func (s *Store) SetLiteralLimit(n int) { s.literalLimit = s.literalBytes + n }

// SetRoom makes the store's tables grow within r; a growth that r refuses panics with OutOfMemory. Nil removes the limit.
func (s *Store) SetRoom(r *Room) { s.room = r }

// Clone returns a store in which every handle of s means the same. Expressions added later to one of them are not in the
// other. The clone, its first allocations included, grows within r. It must intern no names except by FreshName: workers
// read no files, and the clone shares the index of names with s.
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

// Freeze makes the expressions built so far permanent and their index read only. The expressions that checking one
// declaration builds are then indexed by a small table, which stays in the processor's cache however large the file is.
func (s *Store) Freeze() {
	if s.frozen > 0 {
		return
	}
	small := newTable(s.room, smallTable)
	s.frozen = Expr(len(s.exprs))
	s.frozenTable, s.exprTable = s.exprTable, small
}

// smallTable is the initial capacity, in expressions, of the index of unfrozen expressions; an emptied index of more than
// largeTable slots is replaced by one of the initial capacity.
const (
	smallTable = 1 << 11
	largeTable = 1 << 16
)

// Truncate removes the expressions with handles from count on, frozen ones excepted, and the numbers that only they hold.
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
