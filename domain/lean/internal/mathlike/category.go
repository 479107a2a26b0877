package main

import (
	"fmt"
	"strings"
)

// category is a module of universe-polymorphic structures: categories, functors and their composition, opposites, and
// theorems that bring random bracketings of a composite to the same form.
func (g *generator) category(name string) string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("Cat", name+".Cat", "Functor", name+".Functor").Replace(categoryText))
	for i := range 10 {
		g.associate(&b, name, i)
	}
	return b.String()
}

const categoryText = `
inductive Cat.{v, u} (C : Type u) : Type (max u (v+1))
| mk (hom : C -> C -> Type v) (one : (X : C) -> hom X X) (comp : (X Y Z : C) -> hom X Y -> hom Y Z -> hom X Z)
  (idl : (X Y : C) -> (f : hom X Y) -> Eq.{v+1} (hom X Y) (comp X X Y (one X) f) f)
  (idr : (X Y : C) -> (f : hom X Y) -> Eq.{v+1} (hom X Y) (comp X Y Y f (one Y)) f)
  (assoc : (W X Y Z : C) -> (f : hom W X) -> (g : hom X Y) -> (h : hom Y Z) ->
    Eq.{v+1} (hom W Z) (comp W Y Z (comp W X Y f g) h) (comp W X Z f (comp X Y Z g h))) : Cat.{v, u} C
abbrev Cat.hom.{v, u} (C : Type u) (s : Cat.{v, u} C) : C -> C -> Type v := proj Cat 0 s
abbrev Cat.one.{v, u} (C : Type u) (s : Cat.{v, u} C) : (X : C) -> Cat.hom.{v, u} C s X X := proj Cat 1 s
abbrev Cat.comp.{v, u} (C : Type u) (s : Cat.{v, u} C) : (X Y Z : C) -> Cat.hom.{v, u} C s X Y -> Cat.hom.{v, u} C s Y Z -> Cat.hom.{v, u} C s X Z := proj Cat 2 s
theorem Cat.idl.{v, u} (C : Type u) (s : Cat.{v, u} C) (X Y : C) (f : Cat.hom.{v, u} C s X Y) :
  Eq.{v+1} (Cat.hom.{v, u} C s X Y) (Cat.comp.{v, u} C s X X Y (Cat.one.{v, u} C s X) f) f := proj Cat 3 s X Y f
theorem Cat.idr.{v, u} (C : Type u) (s : Cat.{v, u} C) (X Y : C) (f : Cat.hom.{v, u} C s X Y) :
  Eq.{v+1} (Cat.hom.{v, u} C s X Y) (Cat.comp.{v, u} C s X Y Y f (Cat.one.{v, u} C s Y)) f := proj Cat 4 s X Y f
theorem Cat.assoc.{v, u} (C : Type u) (s : Cat.{v, u} C) (W X Y Z : C) (f : Cat.hom.{v, u} C s W X) (g : Cat.hom.{v, u} C s X Y) (h : Cat.hom.{v, u} C s Y Z) :
  Eq.{v+1} (Cat.hom.{v, u} C s W Z) (Cat.comp.{v, u} C s W Y Z (Cat.comp.{v, u} C s W X Y f g) h)
    (Cat.comp.{v, u} C s W X Z f (Cat.comp.{v, u} C s X Y Z g h)) := proj Cat 5 s W X Y Z f g h
def Cat.op.{v, u} (C : Type u) (s : Cat.{v, u} C) : Cat.{v, u} C := Cat.mk.{v, u} C (fun (X Y : C) => Cat.hom.{v, u} C s Y X)
  (fun (X : C) => Cat.one.{v, u} C s X)
  (fun (X Y Z : C) (f : Cat.hom.{v, u} C s Y X) (g : Cat.hom.{v, u} C s Z Y) => Cat.comp.{v, u} C s Z Y X g f)
  (fun (X Y : C) (f : Cat.hom.{v, u} C s Y X) => Cat.idr.{v, u} C s Y X f)
  (fun (X Y : C) (f : Cat.hom.{v, u} C s Y X) => Cat.idl.{v, u} C s Y X f)
  (fun (W X Y Z : C) (f : Cat.hom.{v, u} C s X W) (g : Cat.hom.{v, u} C s Y X) (h : Cat.hom.{v, u} C s Z Y) =>
    Eq.symm.{v+1} (Cat.hom.{v, u} C s Z W) (Cat.comp.{v, u} C s Z X W (Cat.comp.{v, u} C s Z Y X h g) f)
      (Cat.comp.{v, u} C s Z Y W h (Cat.comp.{v, u} C s Y X W g f)) (Cat.assoc.{v, u} C s Z Y X W h g f))
theorem Cat.op_op.{v, u} (C : Type u) (s : Cat.{v, u} C) : Eq.{max (u+1) (v+2)} (Cat.{v, u} C) (Cat.op.{v, u} C (Cat.op.{v, u} C s)) s :=
  Eq.refl.{max (u+1) (v+2)} (Cat.{v, u} C) s
def Cat.types.{u} : Cat.{u, u+1} (Type u) := Cat.mk.{u, u+1} (Type u) (fun (X Y : Type u) => X -> Y) (fun (X : Type u) (x : X) => x)
  (fun (X Y Z : Type u) (f : X -> Y) (g : Y -> Z) (x : X) => g (f x))
  (fun (X Y : Type u) (f : X -> Y) => Eq.refl.{u+1} (X -> Y) f) (fun (X Y : Type u) (f : X -> Y) => Eq.refl.{u+1} (X -> Y) f)
  (fun (W X Y Z : Type u) (f : W -> X) (g : X -> Y) (h : Y -> Z) => Eq.refl.{u+1} (W -> Z) (fun (w : W) => h (g (f w))))
inductive Functor.{v, u} (C D : Type u) (s : Cat.{v, u} C) (t : Cat.{v, u} D) : Type (max u v)
| mk (obj : C -> D) (map : (X Y : C) -> Cat.hom.{v, u} C s X Y -> Cat.hom.{v, u} D t (obj X) (obj Y))
  (one : (X : C) -> Eq.{v+1} (Cat.hom.{v, u} D t (obj X) (obj X)) (map X X (Cat.one.{v, u} C s X)) (Cat.one.{v, u} D t (obj X)))
  (comp : (X Y Z : C) -> (f : Cat.hom.{v, u} C s X Y) -> (g : Cat.hom.{v, u} C s Y Z) ->
    Eq.{v+1} (Cat.hom.{v, u} D t (obj X) (obj Z)) (map X Z (Cat.comp.{v, u} C s X Y Z f g))
      (Cat.comp.{v, u} D t (obj X) (obj Y) (obj Z) (map X Y f) (map Y Z g))) : Functor.{v, u} C D s t
def Functor.comp.{v, u} (C D E : Type u) (s : Cat.{v, u} C) (t : Cat.{v, u} D) (r : Cat.{v, u} E) (F : Functor.{v, u} C D s t) (G : Functor.{v, u} D E t r) :
    Functor.{v, u} C E s r :=
  share obj := fun (X : C) => proj Functor 0 G (proj Functor 0 F X);
  share map := fun (X Y : C) (f : Cat.hom.{v, u} C s X Y) => proj Functor 1 G (proj Functor 0 F X) (proj Functor 0 F Y) (proj Functor 1 F X Y f);
  Functor.mk.{v, u} C E s r obj map
    (fun (X : C) => Eq.trans.{v+1} (Cat.hom.{v, u} E r (obj X) (obj X)) (map X X (Cat.one.{v, u} C s X))
      (proj Functor 1 G (proj Functor 0 F X) (proj Functor 0 F X) (Cat.one.{v, u} D t (proj Functor 0 F X))) (Cat.one.{v, u} E r (obj X))
      (congrArg.{v+1, v+1} (Cat.hom.{v, u} D t (proj Functor 0 F X) (proj Functor 0 F X)) (Cat.hom.{v, u} E r (obj X) (obj X))
        (proj Functor 1 F X X (Cat.one.{v, u} C s X)) (Cat.one.{v, u} D t (proj Functor 0 F X))
        (proj Functor 1 G (proj Functor 0 F X) (proj Functor 0 F X)) (proj Functor 2 F X))
      (proj Functor 2 G (proj Functor 0 F X)))
    (fun (X Y Z : C) (f : Cat.hom.{v, u} C s X Y) (g : Cat.hom.{v, u} C s Y Z) =>
      Eq.trans.{v+1} (Cat.hom.{v, u} E r (obj X) (obj Z)) (map X Z (Cat.comp.{v, u} C s X Y Z f g))
        (proj Functor 1 G (proj Functor 0 F X) (proj Functor 0 F Z)
          (Cat.comp.{v, u} D t (proj Functor 0 F X) (proj Functor 0 F Y) (proj Functor 0 F Z) (proj Functor 1 F X Y f) (proj Functor 1 F Y Z g)))
        (Cat.comp.{v, u} E r (obj X) (obj Y) (obj Z) (map X Y f) (map Y Z g))
        (congrArg.{v+1, v+1} (Cat.hom.{v, u} D t (proj Functor 0 F X) (proj Functor 0 F Z)) (Cat.hom.{v, u} E r (obj X) (obj Z))
          (proj Functor 1 F X Z (Cat.comp.{v, u} C s X Y Z f g))
          (Cat.comp.{v, u} D t (proj Functor 0 F X) (proj Functor 0 F Y) (proj Functor 0 F Z) (proj Functor 1 F X Y f) (proj Functor 1 F Y Z g))
          (proj Functor 1 G (proj Functor 0 F X) (proj Functor 0 F Z)) (proj Functor 3 F X Y Z f g))
        (proj Functor 3 G (proj Functor 0 F X) (proj Functor 0 F Y) (proj Functor 0 F Z) (proj Functor 1 F X Y f) (proj Functor 1 F Y Z g)))
theorem Functor.assoc.{v, u} (C : Type u) (s : Cat.{v, u} C) (F G H : Functor.{v, u} C C s s) : Eq.{(max u v)+1} (Functor.{v, u} C C s s)
    (Functor.comp.{v, u} C C C s s s (Functor.comp.{v, u} C C C s s s F G) H) (Functor.comp.{v, u} C C C s s s F (Functor.comp.{v, u} C C C s s s G H)) :=
  Eq.refl.{(max u v)+1} (Functor.{v, u} C C s s) (Functor.comp.{v, u} C C C s s s F (Functor.comp.{v, u} C C C s s s G H))
`

// associate proves that a random bracketing of f0 … fn equals the one to the right.
func (g *generator) associate(b *strings.Builder, name string, index int) {
	count := 4 + g.Intn(6)
	var binders, shares strings.Builder
	fmt.Fprintf(&binders, "(C : Type u) (s : %s.Cat.{v, u} C) (", name)
	for i := range count + 1 {
		fmt.Fprintf(&binders, "X%d ", i)
	}
	binders.WriteString(": C)")
	for i := range count {
		fmt.Fprintf(&binders, " (f%d : %s.Cat.hom.{v, u} C s X%d X%d)", i, name, i, i+1)
	}
	shared := 0
	share := func(text string) string {
		shared++
		fmt.Fprintf(&shares, "  share t%d := %s;\n", shared, text)
		return fmt.Sprint("t", shared)
	}
	hom := func(i, j int) string { return fmt.Sprintf("(%s.Cat.hom.{v, u} C s X%d X%d)", name, i, j) }
	comp := func(i, j, k int, f, g string) string {
		return fmt.Sprintf("(%s.Cat.comp.{v, u} C s X%d X%d X%d %s %s)", name, i, j, k, f, g)
	}
	// right is the composite of f_i … f_(j-1) bracketed to the right, followed by rest from X_j to X_k.
	var random func(i, j int) *bracket
	random = func(i, j int) *bracket {
		if j == i+1 {
			return &bracket{i: i, j: j}
		}
		m := i + 1 + g.Intn(j-i-1)
		return &bracket{i: i, j: j, left: random(i, m), right: random(m, j)}
	}
	var text func(t *bracket) string
	text = func(t *bracket) string {
		if t.left == nil {
			return fmt.Sprint("f", t.i)
		}
		return comp(t.i, t.left.j, t.j, text(t.left), text(t.right))
	}
	// prove gives the normal form of t and a proof that t equals it.
	var normal func(t *bracket) (*bracket, string)
	eq := func(t *bracket) string { return hom(t.i, t.j) }
	normal = func(t *bracket) (*bracket, string) {
		if t.left == nil {
			return t, share(fmt.Sprintf("Eq.refl.{v+1} %s f%d", eq(t), t.i))
		}
		if t.left.left != nil {
			rotated := &bracket{i: t.i, j: t.j, left: t.left.left, right: &bracket{i: t.left.left.j, j: t.j, left: t.left.right, right: t.right}}
			result, proof := normal(rotated)
			step := fmt.Sprintf("(%s.Cat.assoc.{v, u} C s X%d X%d X%d X%d %s %s %s)", name, t.i, t.left.left.j, t.left.j, t.j,
				text(t.left.left), text(t.left.right), text(t.right))
			return result, share(fmt.Sprintf("Eq.trans.{v+1} %s %s %s %s %s %s", eq(t), text(t), text(rotated), text(result), step, proof))
		}
		inner, proof := normal(t.right)
		result := &bracket{i: t.i, j: t.j, left: t.left, right: inner}
		return result, share(fmt.Sprintf("congrArg.{v+1, v+1} %s %s %s %s (%s.Cat.comp.{v, u} C s X%d X%d X%d f%d) %s", eq(t.right), eq(t),
			text(t.right), text(inner), name, t.i, t.left.j, t.j, t.i, proof))
	}
	t := random(0, count)
	result, proof := normal(t)
	fmt.Fprintf(b, "theorem %s.associate%d.{v, u} %s : Eq.{v+1} %s %s %s :=\n%s  %s\n", name, index, binders.String(), eq(t), text(t), text(result),
		shares.String(), proof)
}

// bracket is a composite of the morphisms i … j-1.
type bracket struct {
	i, j        int
	left, right *bracket
}
