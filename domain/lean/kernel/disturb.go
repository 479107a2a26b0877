package kernel

import "reckon/domain/lean/term"

// Questions changes how a check asks itself. Tests use it: whatever it is, the answers are the same. The zero value is
// fast; with any other the check may take very long or end as not finished.
type Questions struct {
	// Uncached: nothing is remembered, and every question is answered anew.
	Uncached bool

	// Disturb, when not zero, is the seed of additional questions: pairs that were compared are compared again
	// later, in either order, and their parts reduced, so that caches are filled in another order.
	Disturb uint64

	// MaxSteps ends the check of a declaration as not finished after so many steps; 0: no limit.
	MaxSteps int
}

// disturbance asks questions between those of a check.
type disturbance struct {
	state uint64         // of the sequence that chooses
	asked [][2]term.Expr // pairs compared, at most maxDisturbing; all of one stage and one mode
	busy  bool
}

// choose returns a number below n: the next of a linear congruential sequence (Knuth's MMIX), its upper half.
func (d *disturbance) choose(n int) int {
	d.state = d.state*6364136223846793005 + 1442695040888963407
	return int(d.state>>33) % n
}

// Bounds on what is asked in between.
const (
	maxDisturbing   = 64
	disturbingSteps = 500 // of one question
	disturbingOdds  = 8   // one question in so many is preceded by another
)

func (d *disturbance) forget() {
	if d != nil {
		d.asked = d.asked[:0]
	}
}

// ask makes the checker check as q says.
func (c *checker) ask(q Questions) {
	for _, cache := range []*exprCache{&c.inferred, &c.inferredOnly, &c.whnfs, &c.whnfCores, &c.cheapWhnfCores, &c.unfoldings} {
		cache.off = q.Uncached
	}
	for _, pairs := range []*pairSet{&c.equal, &c.equalReduced, &c.unequal} {
		pairs.off = q.Uncached
	}
	c.uncached, c.maxSteps = q.Uncached, q.MaxSteps
	if q.Disturb != 0 {
		c.disturbance = &disturbance{state: q.Disturb}
	}
}

// disturb may ask something else before a = b is asked.
func (c *checker) disturb(a, b term.Expr) {
	d := c.disturbance
	if d == nil || d.busy || c.symbolic != nil {
		return
	}
	if len(d.asked) < maxDisturbing {
		d.asked = append(d.asked, [2]term.Expr{a, b})
	} else {
		d.asked[d.choose(maxDisturbing)] = [2]term.Expr{a, b}
	}
	if d.choose(disturbingOdds) > 0 {
		return
	}
	pair := d.asked[d.choose(len(d.asked))]
	if d.choose(2) == 0 {
		pair[0], pair[1] = pair[1], pair[0]
	}
	depth, next, limit := c.depth, c.nextLocal, c.stepLimit
	d.busy = true
	c.nextLocal = max(next, c.store.Node(pair[0]).Locals, c.store.Node(pair[1]).Locals)
	c.stepLimit = c.steps + disturbingSteps
	defer func() {
		switch p := recover().(type) {
		case nil, refusalPanic, exhaustedPanic: // it was not well-typed in this order, or took too long
		default:
			panic(p)
		}
		d.busy = false
		c.depth, c.nextLocal, c.stepLimit = depth, next, limit
	}()
	if d.choose(2) == 0 {
		c.whnf(c.typeOf(pair[0]))
		c.whnf(pair[1])
	}
	c.defEq(pair[0], pair[1])
}
