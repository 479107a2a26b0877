package kernel

import "reckon/domain/lean/term"

// Universe levels are compared by what they mean, not by how they are written: l ≤ m when it holds for every assignment
// of natural numbers to the parameters. imax makes this depend on which parameters are zero, so the comparison splits on
// a parameter where the zeroness of an imax's second argument hangs on it; on each branch both sides are maxima of
// terms p+k and constants, and those are compared term by term. The procedure is complete.
//
// Trap (arena level-imax-leq): moving an offset into or out of imax, imax (u+1) (v+1) = (imax u v)+1, is wrong for
// v = 0. Nothing here does it.

// zeroness is what an assignment so far says of a level or parameter.
type zeroness uint8

const (
	undetermined zeroness = iota
	isZero
	isPositive
)

type levelOrder struct {
	store  *term.Store
	assign map[term.Name]zeroness
	tick   func()
	known  map[[2]term.Level]bool
}

func newLevelOrder(store *term.Store, tick func()) *levelOrder {
	return &levelOrder{store: store, tick: tick, assign: map[term.Name]zeroness{}, known: map[[2]term.Level]bool{}}
}

// leq says whether a ≤ b whatever the parameters are.
func (o *levelOrder) leq(a, b term.Level) bool {
	if a == b || a == term.Zero {
		return true
	}
	key := [2]term.Level{a, b}
	if r, ok := o.known[key]; ok {
		return r
	}
	if len(o.known) > 1<<16 {
		clear(o.known)
	}
	r := o.split(a, b)
	o.known[key] = r
	return r
}

// equal says whether a = b whatever the parameters are.
func (o *levelOrder) equal(a, b term.Level) bool {
	return a == b || o.leq(a, b) && o.leq(b, a)
}

func (o *levelOrder) alwaysZero(l term.Level) bool { return l == term.Zero || o.leq(l, term.Zero) }

func (o *levelOrder) split(a, b term.Level) bool {
	o.tick()
	var left, right maxPlus
	p, ok := o.flatten(a, 0, &left)
	if ok {
		p, ok = o.flatten(b, 0, &right)
	}
	if ok {
		return o.covered(&left, &right)
	}
	defer delete(o.assign, p)
	o.assign[p] = isZero
	if !o.split(a, b) {
		return false
	}
	o.assign[p] = isPositive
	return o.split(a, b)
}

// maxPlus is the maximum of a constant and of terms param+offset.
type maxPlus struct {
	constant int
	terms    []offsetParam
	seen     map[offsetLevel]bool
}

type offsetParam struct {
	param  term.Name
	offset int
}

type offsetLevel struct {
	level  term.Level
	offset int
}

// flatten adds l+offset to acc. When that depends on whether a parameter is zero, it names the parameter instead.
func (o *levelOrder) flatten(l term.Level, offset int, acc *maxPlus) (splitOn term.Name, ok bool) {
	n := o.store.LevelNode(l)
	if n.Size > 32 { // shared subterms: visit each once
		key := offsetLevel{l, offset}
		if acc.seen[key] {
			return 0, true
		}
		if acc.seen == nil {
			acc.seen = map[offsetLevel]bool{}
		}
		acc.seen[key] = true
		o.tick()
	}
	switch n.Kind {
	case term.LevelZero:
		acc.constant = max(acc.constant, offset)
	case term.LevelSucc:
		for n.Kind == term.LevelSucc { // numerals can be long
			l = term.Level(n.A)
			n = o.store.LevelNode(l)
			offset++
		}
		return o.flatten(l, offset, acc)
	case term.LevelMax:
		if p, ok := o.flatten(term.Level(n.A), offset, acc); !ok {
			return p, false
		}
		return o.flatten(term.Level(n.B), offset, acc)
	case term.LevelIMax:
		z, p := o.zeroness(term.Level(n.B))
		switch z {
		case isZero:
			acc.constant = max(acc.constant, offset)
		case isPositive:
			if p, ok := o.flatten(term.Level(n.A), offset, acc); !ok {
				return p, false
			}
			return o.flatten(term.Level(n.B), offset, acc)
		default:
			return p, false
		}
	case term.LevelParam:
		if o.assign[term.Name(n.A)] == isZero {
			acc.constant = max(acc.constant, offset)
		} else {
			acc.add(term.Name(n.A), offset)
		}
	}
	return 0, true
}

func (m *maxPlus) add(p term.Name, offset int) {
	for i := range m.terms {
		if m.terms[i].param == p {
			m.terms[i].offset = max(m.terms[i].offset, offset)
			return
		}
	}
	m.terms = append(m.terms, offsetParam{p, offset})
}

// zeroness decides whether l is zero under the assignment, or names a parameter on which that hangs.
func (o *levelOrder) zeroness(l term.Level) (zeroness, term.Name) {
	for {
		n := o.store.LevelNode(l)
		if n.Positive {
			return isPositive, 0
		}
		switch n.Kind {
		case term.LevelIMax:
			l = term.Level(n.B)
		case term.LevelMax:
			if n.Size > 32 {
				o.tick()
			}
			if z, p := o.zeroness(term.Level(n.A)); z != isZero {
				return z, p
			}
			l = term.Level(n.B)
		case term.LevelParam:
			return o.assign[term.Name(n.A)], term.Name(n.A)
		default:
			return isZero, 0
		}
	}
}

// covered says whether left ≤ right for all values the assignment leaves open.
func (o *levelOrder) covered(left, right *maxPlus) bool {
	for _, t := range left.terms {
		found := false
		for _, u := range right.terms {
			if u.param == t.param && u.offset >= t.offset {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	if left.constant <= right.constant {
		return true
	}
	for _, u := range right.terms {
		least := u.offset
		if o.assign[u.param] == isPositive {
			least++
		}
		if left.constant <= least {
			return true
		}
	}
	return false
}
