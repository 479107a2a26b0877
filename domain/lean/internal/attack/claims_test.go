package attack

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"reckon/test/sweep"
)

// The third hunter states equalities of open terms that are nearly alike. It builds a term twice, and at some places the second
// one has something else: what is equal to it by a rule (beta, eta, eta for structures, one value of a type without
// fields, another proof, another way to write a level) or what is not (another constant, field, argument, level). The
// kernels must agree on whether it holds by reflexivity.

// textClaims has a type for each rule of equality, and functions that nothing is known of.
const textClaims = textLogic + textQuot + `
inductive U : Type | U.u : U
inductive One : Type | One.mk : Bool → One
inductive Two : Type | Two.mk : Bool → Bool → Two
inductive Same : Type | Same.a : Same | Same.b : Same
inductive Loop : Type | Loop.mk : Bool → (Bool → Loop) → Loop
axiom P : Prop
axiom R : Bool → Bool → Prop
axiom F : Bool → Bool
axiom G : Bool → Bool → Bool
axiom H : (Bool → Bool) → Bool
axiom OfP : P → Bool
axiom OfU : U → Bool
axiom OfOne : One → Bool
axiom OfTwo : Two → Bool
axiom OfSame : Same → Bool
axiom OfLoop : Loop → Bool
axiom OfQ : Quot.{1} Bool R → Bool
axiom At.{u} : Bool
axiom OfType : Type → Bool
inductive Ex : Prop | Ex.mk : Bool → Ex
opaque hidden : Bool := Bool.true
def shown : Bool := Bool.true
@[hints=regular] def swap : Bool → Bool → Bool := fun (a b : Bool) => G b a
@[hints=regular] def twice.{u} : Bool → Bool := fun (a : Bool) => G a a
`

const claimBinders = "(x y : Bool) (f : Bool → Bool) (o : One) (p q : Two) (s : Same) (l m : Loop) (v w : U) (h k : P) (A : Type) (c : And P P) (e : Ex)"

type claimer struct{ *rand.Rand }

// near returns a twice, or, seldom, a and one of others.
func (c claimer) near(a string, others ...string) (string, string) {
	if len(others) > 0 && c.IntN(12) == 0 {
		return a, others[c.IntN(len(others))]
	}
	return a, a
}

// both applies a format to the sides of couples.
func both(format string, couples ...[2]string) (string, string) {
	sides := [2]string{}
	for i := range sides {
		arguments := make([]any, len(couples))
		for n, p := range couples {
			arguments[n] = p[i]
		}
		sides[i] = fmt.Sprintf(format, arguments...)
	}
	return sides[0], sides[1]
}

func couple(a, b string) [2]string { return [2]string{a, b} }

func (c claimer) bool(depth int) (string, string) {
	if depth == 0 {
		switch c.IntN(3) {
		case 0:
			return c.near("x", "y", "Bool.true")
		case 1:
			return c.near("y", "x")
		}
		return c.near("Bool.true", "Bool.false", "shown", "hidden", "(not Bool.false)")
	}
	below := func() [2]string { return couple(c.bool(depth - 1)) }
	switch c.IntN(21) {
	case 0:
		return both("(F %s)", below())
	case 1:
		a, b := below(), below()
		l, r := both("(G %s %s)", a, b)
		if c.IntN(8) == 0 { // by delta, right or wrong
			_, r = both([]string{"(swap %[2]s %[1]s)", "(swap %s %s)", "(G %[2]s %[1]s)"}[c.IntN(3)], a, b)
		}
		return l, r
	case 2:
		return both("(swap %s %s)", below(), below())
	case 3:
		u, v := c.level(2)
		return both("(twice.{%s} %s)", couple(u, v), below())
	case 4:
		return both("(H %s)", couple(c.function(depth-1)))
	case 5:
		return both("(OfP %s)", couple(c.near("h", "k")))
	case 6:
		return both("(OfU %s)", couple(c.near("v", "w", "U.u")))
	case 7:
		return both("(OfOne %s)", couple(c.one(depth-1)))
	case 8:
		return both("(OfTwo %s)", couple(c.two(depth-1)))
	case 9:
		return both("(OfSame %s)", couple(c.near("s", "Same.a", "Same.b")))
	case 10:
		return both("(OfLoop %s)", couple(c.near("l", "m", "(Loop.mk (proj Loop 0 l) (proj Loop 1 l))")))
	case 11:
		return both("(proj Two %s %s)", couple(c.near("0", "1")), couple(c.two(depth-1)))
	case 12:
		return both("(proj One 0 %s)", couple(c.one(depth-1)))
	case 13:
		return both("(At.{%s})", couple(c.level(3)))
	case 14:
		return both("(f %s)", below())
	case 15:
		a := below()
		l, r := both("((fun (z : Bool) => G z %s) %s)", below(), a)
		return l, r
	case 16:
		return both("(let z : Bool := %s; G z z)", below())
	case 17:
		return both("(Bool.rec.{1} (fun (z : Bool) => Bool) %s %s %s)", below(), below(), below())
	case 18:
		return both("(Two.rec.{1} (fun (z : Two) => Bool) (fun (a b : Bool) => G a b) %s)", couple(c.two(depth-1)))
	case 19:
		return both("(OfQ (Quot.mk.{1} Bool R %s))", below())
	default:
		return both("(OfType (%s → %s))", couple(c.near("Bool", "One", "A")), couple(c.near("U", "Bool", "A")))
	}
}

func (c claimer) function(depth int) (string, string) {
	switch c.IntN(4) {
	case 0:
		return c.near("f", "(fun (z : Bool) => f z)", "F")
	case 1:
		return c.near("F", "(fun (z : Bool) => F z)", "(fun (z : Bool) => F x)")
	case 2:
		return both("(G %s)", couple(c.bool(depth)))
	}
	return both("(fun (z : Bool) => G z %s)", couple(c.bool(depth)))
}

func (c claimer) one(depth int) (string, string) {
	if c.IntN(2) == 0 {
		return c.near("o", "(One.mk (proj One 0 o))", "(One.mk x)")
	}
	return both("(One.mk %s)", couple(c.bool(depth)))
}

func (c claimer) two(depth int) (string, string) {
	switch c.IntN(3) {
	case 0:
		return c.near("p", "(Two.mk (proj Two 0 p) (proj Two 1 p))", "(Two.mk (proj Two 0 p) x)", "(Two.mk x (proj Two 1 p))", "q")
	case 1:
		return c.near("q", "(Two.mk (proj Two 0 q) (proj Two 1 q))", "(Two.mk (proj Two 1 q) (proj Two 0 q))")
	}
	return both("(Two.mk %s %s)", couple(c.bool(depth)), couple(c.bool(depth)))
}

func (c claimer) level(depth int) (string, string) {
	if depth == 0 {
		return c.near([]string{"0", "a", "b", "1"}[c.IntN(4)], "a", "b", "0")
	}
	if c.IntN(4) == 0 {
		return both("(%s+1)", couple(c.level(depth-1)))
	}
	return both([]string{"(max %s %s)", "(imax %s %s)", "(imax %s %s)"}[c.IntN(3)], couple(c.level(depth-1)), couple(c.level(depth-1)))
}

// claims are the sides of one claim, from a seed.
func nearlyAlike(seed uint64) (left, right string) {
	c := claimer{rand.New(rand.NewPCG(seed, 99))}
	if seed%10 == 9 {
		return c.ofProposition()
	}
	return c.bool(3)
}

// ofProposition is what a proof must not give: data, or a case that is its own.
func (c claimer) ofProposition() (string, string) {
	switch l, r := c.bool(2); c.IntN(3) {
	case 0:
		return "(And.rec.{1} P P (fun (z : And P P) => Bool) (fun (i j : P) => " + l + ") c)", l
	case 1:
		return "(And.rec.{1} P P (fun (z : And P P) => Bool) (fun (i j : P) => " + l + ") c)", "(And.rec.{1} P P (fun (z : And P P) => Bool) (fun (i j : P) => " + r + ") c)"
	default:
		return "(G (proj Ex 0 e) " + l + ")", "(G (proj Ex 0 e) " + r + ")"
	}
}

// disagreesOnClaim says how the kernels differ on the claim of a seed; held says that they accept it.
func disagreesOnClaim(environment *emitter, seed uint64) (difference, claim string, held bool) {
	left, right := nearlyAlike(seed)
	claim = "theorem claim.{a, b} : ∀ " + claimBinders + ", Eq.{1} Bool " + left + " " + right + " := fun " + claimBinders + " => Eq.refl.{1} Bool " + left
	o := opinionsOn(environment.with(parse(claim)))
	return o.disagreement(), claim, o.plain.Accepted() && left != right
}

func claimEnvironment() *emitter { return (&File{Version: "4.99.0", Decls: parse(textClaims)}).emit() }

// The kernels agree on claims that are nearly alike.
func TestPlainKernelAgreesOnClaims(t *testing.T) {
	t.Parallel()
	environment, held, claims := claimEnvironment(), 0, sweep.Size(t, "CLAIM_SEEDS", 400, 4000)
	for seed := range uint64(claims) {
		difference, claim, holds := disagreesOnClaim(environment, seed)
		if difference != "" {
			t.Errorf("seed %d: %s\n%s", seed, difference, claim)
		}
		if holds {
			held++
		}
	}
	t.Logf("%d claims, %d hold between terms that differ", claims, held)
	if held < claims/50 {
		t.Errorf("only %d of %d claims hold between terms that differ: the hunter does not hunt", held, claims)
	}
}
