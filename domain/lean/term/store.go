package term

import (
	"fmt"
	"math/big"
)

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

	nats literals[*big.Int]
	strs literals[string]

	memo memo // of the substitution under way
}

// OutOfRoom is what building an expression panics with when the store's limit is reached. Package kernel recovers it
// at the boundary of a declaration and reports it as a resource error.
type OutOfRoom struct{ Limit int }

func (o OutOfRoom) Error() string {
	return fmt.Sprintf("more than %d distinct expressions are needed", o.Limit)
}

// MaxExprs is the default limit of distinct expressions in one store.
const MaxExprs = 1 << 27

// NewStore returns a store that holds Anonymous, Zero and NoLevels.
func NewStore() *Store {
	s := &Store{
		names:      make([]nameNode, 1, 1024),
		nameIndex:  map[nameKey]Name{},
		levelTable: newTable(64),
		lists:      make([]levelList, 1, 64),
		listTable:  newTable(64),
		exprTable:  newTable(1024),
		exprLimit:  MaxExprs,
		nats:       newLiterals(func(v *big.Int) string { return v.Text(62) }),
		strs:       newLiterals(func(v string) string { return v }),
	}
	s.internLevel(LevelZero, 0, 0)
	return s
}

// SetExprLimit bounds the number of distinct expressions; building one more panics with OutOfRoom.
func (s *Store) SetExprLimit(n int) { s.exprLimit = min(n, MaxExprs) }

// Clone returns a store in which every handle of s means the same; what either adds later is its own. The clone
// interns no further names (only FreshName), because names are what files write and workers read no files.
func (s *Store) Clone() *Store {
	return &Store{
		names:       s.names[:len(s.names):len(s.names)],
		nameIndex:   s.nameIndex,
		levels:      append([]LevelNode(nil), s.levels...),
		levelTable:  s.levelTable.clone(),
		lists:       append([]levelList(nil), s.lists...),
		listItems:   append([]Level(nil), s.listItems...),
		listTable:   s.listTable.clone(),
		exprs:       append(make([]Node, 0, len(s.exprs)+len(s.exprs)/4+1024), s.exprs...),
		frozen:      s.frozen,
		frozenTable: s.frozenTable,
		exprTable:   s.exprTable.clone(),
		exprLimit:   s.exprLimit,
		nats:        s.nats.child(),
		strs:        s.strs.child(),
	}
}

// Freeze keeps the expressions made so far for ever, in a table that is not written to again. What a check makes for the
// time of one declaration then lives in a small table, which stays in the processor's cache however large the file is.
func (s *Store) Freeze() {
	if s.frozen > 0 {
		return
	}
	s.frozen = Expr(len(s.exprs))
	s.frozenTable, s.exprTable = s.exprTable, newTable(smallTable)
}

// smallTable is how many expressions the table of the unfrozen ones starts with; largeTable is the number of slots from
// which on it starts anew.
const (
	smallTable = 1 << 11
	largeTable = 1 << 16
)

// Truncate forgets the expressions made after the store had count of them, frozen ones excepted.
func (s *Store) Truncate(count int) {
	count = max(count, int(s.frozen))
	anew := count == int(s.frozen) && s.frozen > 0 && len(s.exprTable.slots) >= largeTable
	for id := len(s.exprs) - 1; id >= count && !anew; id-- {
		n := &s.exprs[id]
		s.exprTable.remove(mix(n.A, n.B, n.C, uint32(n.Kind)), uint32(id))
	}
	if anew {
		s.exprTable = newTable(smallTable)
	}
	s.exprs = s.exprs[:count]
}

// literals interns values that are no flat words. A child shares its parent's values without writing to them.
type literals[T any] struct {
	key    func(T) string
	parent *literals[T]
	offset uint32
	index  map[string]uint32
	values []T
}

func newLiterals[T any](key func(T) string) literals[T] {
	return literals[T]{key: key, index: map[string]uint32{}}
}

func (l *literals[T]) child() literals[T] {
	return literals[T]{key: l.key, parent: l, offset: l.offset + uint32(len(l.values)), index: map[string]uint32{}}
}

func (l *literals[T]) intern(v T) uint32 {
	k := l.key(v)
	for at := l; at != nil; at = at.parent {
		if i, ok := at.index[k]; ok {
			return i
		}
	}
	i := l.offset + uint32(len(l.values))
	l.values = append(l.values, v)
	l.index[k] = i
	return i
}

func (l *literals[T]) value(i uint32) T {
	for i < l.offset {
		l = l.parent
	}
	return l.values[i-l.offset]
}
