package term

// Level is a handle of a universe level.
type Level uint32

// Levels is a handle of a list of levels.
type Levels uint32

// Zero is the level 0; NoLevels the empty list.
const (
	Zero     Level  = 0
	NoLevels Levels = 0
)

// LevelKind says how a level is built.
type LevelKind uint8

// The kinds of level.
const (
	LevelZero LevelKind = iota
	LevelSucc
	LevelMax
	LevelIMax
	LevelParam
)

// LevelNode is one level: A, B are levels, except that A of a LevelParam is its Name.
type LevelNode struct {
	A, B     uint32
	Size     uint32 // nodes counted as a tree, saturating: small levels need no memoisation
	Kind     LevelKind
	HasParam bool
	Positive bool // at least 1 whatever the parameters are
}

// LevelNode returns the node of l.
func (s *Store) LevelNode(l Level) LevelNode { return s.levels[l] }

// Succ is l+1.
func (s *Store) Succ(l Level) Level { return s.internLevel(LevelSucc, uint32(l), 0) }

// Max is max a b.
func (s *Store) Max(a, b Level) Level { return s.internLevel(LevelMax, uint32(a), uint32(b)) }

// IMax is imax a b: 0 when b is 0, max a b otherwise.
func (s *Store) IMax(a, b Level) Level { return s.internLevel(LevelIMax, uint32(a), uint32(b)) }

// Param is the universe parameter called n.
func (s *Store) Param(n Name) Level { return s.internLevel(LevelParam, uint32(n), 0) }

// SimplifiedIMax is a level equal to imax a b, smaller where that is plain to see.
func (s *Store) SimplifiedIMax(a, b Level) Level {
	switch nb := s.levels[b]; {
	case nb.Kind == LevelZero || a == b || a == Zero:
		return b
	case nb.Kind == LevelSucc:
		return s.SimplifiedMax(a, b)
	}
	return s.IMax(a, b)
}

// SimplifiedMax is a level equal to max a b, smaller where that is plain to see.
func (s *Store) SimplifiedMax(a, b Level) Level {
	switch {
	case a == b || a == Zero:
		return b
	case b == Zero:
		return a
	}
	if ca, ok := s.numeral(a); ok {
		if cb, ok := s.numeral(b); ok {
			if ca >= cb {
				return a
			}
			return b
		}
	}
	return s.Max(a, b)
}

// numeral reads a level that is a number.
func (s *Store) numeral(l Level) (n int, ok bool) {
	for s.levels[l].Kind == LevelSucc {
		l = Level(s.levels[l].A)
		n++
	}
	return n, l == Zero
}

func (s *Store) internLevel(kind LevelKind, a, b uint32) Level {
	h := mix(uint32(kind), a, b, 0)
	for i := h & s.levelTable.mask; ; i = (i + 1) & s.levelTable.mask {
		slot := s.levelTable.slots[i]
		if slot == 0 {
			break
		}
		if n := &s.levels[slot-1]; n.Kind == kind && n.A == a && n.B == b {
			return Level(slot - 1)
		}
	}
	if s.levelTable.full() {
		s.levelTable = newTable(s.room, len(s.levels)*2)
		for id, n := range s.levels {
			s.levelTable.put(mix(uint32(n.Kind), n.A, n.B, 0), uint32(id))
		}
	}
	node := LevelNode{Kind: kind, A: a, B: b, Size: 1}
	switch kind {
	case LevelParam:
		node.HasParam = true
	case LevelSucc:
		node.HasParam, node.Positive = s.levels[a].HasParam, true
		node.Size = saturate(uint64(s.levels[a].Size) + 1)
	case LevelMax, LevelIMax:
		node.HasParam = s.levels[a].HasParam || s.levels[b].HasParam
		node.Positive = s.levels[b].Positive || kind == LevelMax && s.levels[a].Positive
		node.Size = saturate(uint64(s.levels[a].Size) + uint64(s.levels[b].Size) + 1)
	}
	id := uint32(len(s.levels))
	s.levels = Append(s.room, s.levels, node)
	s.levelTable.put(h, id)
	return Level(id)
}

// saturated is the largest count kept; counts beyond it only need to be known to be large.
const saturated = 1 << 30

func saturate(n uint64) uint32 { return uint32(min(n, saturated)) }

// List interns a list of levels.
func (s *Store) List(ls []Level) Levels {
	if len(ls) == 0 {
		return NoLevels
	}
	h := hashLevels(ls)
	for i := h & s.listTable.mask; ; i = (i + 1) & s.listTable.mask {
		slot := s.listTable.slots[i]
		if slot == 0 {
			break
		}
		if equalLevels(s.LevelsOf(Levels(slot-1)), ls) {
			return Levels(slot - 1)
		}
	}
	if s.listTable.full() {
		s.listTable = newTable(s.room, len(s.lists)*2)
		for id := 1; id < len(s.lists); id++ {
			s.listTable.put(hashLevels(s.LevelsOf(Levels(id))), uint32(id))
		}
	}
	id := uint32(len(s.lists))
	hasParam := false
	for _, l := range ls {
		hasParam = hasParam || s.levels[l].HasParam
	}
	s.lists = append(s.lists, levelList{start: uint32(len(s.listItems)), length: uint32(len(ls)), hasParam: hasParam})
	s.listItems = append(s.listItems, ls...)
	s.listTable.put(h, id)
	return Levels(id)
}

type levelList struct {
	start, length uint32
	hasParam      bool
}

// LevelsOf returns the items of a list; the slice must not be changed.
func (s *Store) LevelsOf(ls Levels) []Level {
	l := s.lists[ls]
	return s.listItems[l.start : l.start+l.length : l.start+l.length]
}

func hashLevels(ls []Level) uint32 {
	h := uint32(len(ls))
	for _, l := range ls {
		h = mix(h, uint32(l), 0, 1)
	}
	return h
}

func equalLevels(a, b []Level) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
