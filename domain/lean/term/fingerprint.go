package term

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Fingerprint is the first half of a SHA-256 hash of structure: names, levels, and expressions up to the names and
// annotations of binders. Equal structures have equal fingerprints in every store and every process.
type Fingerprint [16]byte

// maxDecimalBits is the size up to which a number is hashed by its decimal digits. Converting larger ones takes too long:
// they are hashed by their bytes, most significant first.
const maxDecimalBits = 1 << 10

// Fingerprinter computes fingerprints over one store and caches those of subexpressions. Its cache is wrong after
// Store.Truncate.
type Fingerprinter struct {
	store      *Store
	exprs      map[Expr]Fingerprint // without universe parameters
	parametric map[Expr]Fingerprint // with, good for the params below
	names      map[Name]Fingerprint
	levels     map[Level]Fingerprint
	params     []Name // of the declaration being hashed: a parameter counts by position
	buf        []byte

	// Constant gives the fingerprint that stands for a constant; by default that of its name.
	Constant func(Name) Fingerprint
}

// NewFingerprinter returns a fingerprinter over s.
func NewFingerprinter(s *Store) *Fingerprinter {
	f := &Fingerprinter{store: s, exprs: map[Expr]Fingerprint{}, parametric: map[Expr]Fingerprint{}, names: map[Name]Fingerprint{}, levels: map[Level]Fingerprint{}}
	f.Constant = f.Name
	return f
}

// WithParams makes universe parameters count by their position in params, so that renaming them changes nothing.
func (f *Fingerprinter) WithParams(params []Name) {
	if !slices.Equal(params, f.params) {
		f.params = params
		clear(f.parametric)
		clear(f.levels)
	}
}

func (f *Fingerprinter) sum(tag byte, parts ...Fingerprint) Fingerprint {
	f.buf = append(f.buf[:0], tag)
	for i := range parts {
		f.buf = append(f.buf, parts[i][:]...)
	}
	h := sha256.Sum256(f.buf)
	return Fingerprint(h[:16])
}

// Text is the fingerprint of a text under a tag of the caller's.
func (f *Fingerprinter) Text(tag byte, text string) Fingerprint {
	h := sha256.Sum256(append([]byte{tag}, text...))
	return Fingerprint(h[:16])
}

// Number is the fingerprint of a number.
func (f *Fingerprinter) Number(n uint64) Fingerprint {
	var b [9]byte
	b[0] = 'n'
	binary.BigEndian.PutUint64(b[1:], n)
	h := sha256.Sum256(b[:])
	return Fingerprint(h[:16])
}

// Combine is the fingerprint of a sequence under a tag of the caller's.
func (f *Fingerprinter) Combine(tag byte, parts ...Fingerprint) Fingerprint {
	return f.sum(tag, append([]Fingerprint{f.Number(uint64(len(parts)))}, parts...)...)
}

// Name is the fingerprint of a name.
func (f *Fingerprinter) Name(n Name) Fingerprint {
	if n == Anonymous {
		return Fingerprint{}
	}
	if h, ok := f.names[n]; ok {
		return h
	}
	node := f.store.names[n]
	tag := byte('s')
	if node.numeric {
		tag = 'i'
	}
	h := f.sum('N', f.Name(node.prefix), f.Text(tag, node.text))
	f.names[n] = h
	return h
}

// Level is the fingerprint of a level as written.
func (f *Fingerprinter) Level(l Level) Fingerprint {
	if h, ok := f.levels[l]; ok {
		return h
	}
	var h Fingerprint
	n := f.store.levels[l]
	switch n.Kind {
	case LevelZero:
		h = f.sum('0')
	case LevelSucc:
		h = f.sum('+', f.Level(Level(n.A)))
	case LevelMax:
		h = f.sum('m', f.Level(Level(n.A)), f.Level(Level(n.B)))
	case LevelIMax:
		h = f.sum('I', f.Level(Level(n.A)), f.Level(Level(n.B)))
	case LevelParam:
		if i := slices.Index(f.params, Name(n.A)); i >= 0 {
			h = f.sum('p', f.Number(uint64(i)))
		} else {
			h = f.sum('P', f.Name(Name(n.A)))
		}
	}
	f.levels[l] = h
	return h
}

// Expr is the fingerprint of an expression, which may be nested as deep as memory allows.
func (f *Fingerprinter) Expr(e Expr) Fingerprint {
	if h, ok := f.memo(e)[e]; ok {
		return h
	}
	for waiting := []Expr{e}; len(waiting) > 0; {
		top := waiting[len(waiting)-1]
		memo, size := f.memo(top), len(waiting)
		n := f.store.exprs[top]
		children, count := n.Children()
		if n.Kind == KindLocal {
			children[0], count = Expr(n.B), 1
		}
		for _, child := range children[:count] {
			if _, ok := f.memo(child)[child]; !ok {
				waiting = append(waiting, child)
			}
		}
		if len(waiting) == size {
			memo[top] = f.node(top, n)
			waiting = waiting[:size-1]
		}
	}
	return f.memo(e)[e]
}

func (f *Fingerprinter) memo(e Expr) map[Expr]Fingerprint {
	if f.store.exprs[e].HasParam {
		return f.parametric
	}
	return f.exprs
}

// node is the fingerprint of an expression whose parts have theirs in the memo.
func (f *Fingerprinter) node(e Expr, n Node) (h Fingerprint) {
	part := func(handle uint32) Fingerprint { return f.memo(Expr(handle))[Expr(handle)] }
	switch n.Kind {
	case KindBVar:
		return f.sum('b', f.Number(uint64(n.A)))
	case KindLocal:
		return f.sum('l', f.Number(uint64(n.A)), part(n.B))
	case KindSort:
		return f.sum('S', f.Level(Level(n.A)))
	case KindConst:
		parts := []Fingerprint{f.Constant(Name(n.A))}
		for _, l := range f.store.LevelsOf(Levels(n.B)) {
			parts = append(parts, f.Level(l))
		}
		return f.Combine('c', parts...)
	case KindApp:
		return f.sum('a', part(n.A), part(n.B))
	case KindLam:
		return f.sum('f', part(n.A), part(n.B))
	case KindPi:
		return f.sum('A', part(n.A), part(n.B))
	case KindLet:
		return f.sum('L', part(n.A), part(n.B), part(n.C))
	case KindProj:
		return f.sum('j', f.Name(Name(n.A)), f.Number(uint64(n.B)), part(n.C))
	case KindNat:
		if v := f.store.NatValue(e); v.BitLen() <= maxDecimalBits {
			return f.Text('d', v.String())
		} else {
			return f.Text('B', string(v.Bytes()))
		}
	case KindStr:
		return f.Text('t', f.store.StrValue(e))
	}
	return h
}
