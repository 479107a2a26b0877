package environment

import "reckon/domain/lean/term"

// Stage is how much of its own inductive block a declaration sees.
type Stage uint8

// The stages of checking an inductive block, in order.
const (
	NothingVisible Stage = iota
	TypesVisible
	ConstructorsVisible
	RecursorsVisible
)

// View is the environment as the declaration at one place sees it: all earlier declarations, and of its own block as
// much as its stage says. It is the only way to a constant.
type View struct {
	env   *Environment
	unit  int
	stage Stage
}

// ViewAt is the view of the declaration with the given index; the number of declarations is the place after the last.
func (env *Environment) ViewAt(unit int) View { return View{env: env, unit: unit} }

// Unit is the place of the view.
func (v *View) Unit() int { return v.unit }

// SetStage shows more of the declaration's own block.
func (v *View) SetStage(stage Stage) { v.stage = stage }

// Find returns the constant called n if it is visible, or nil.
func (v *View) Find(n term.Name) *Constant {
	if int(n) >= len(v.env.byName) {
		return nil
	}
	i := v.env.byName[n]
	if i < 0 {
		return nil
	}
	k := &v.env.constants[i]
	if k.Unit < v.unit {
		return k
	}
	if k.Unit == v.unit && v.showsOwn(k.Kind) {
		return k
	}
	return nil
}

// showsOwn says whether a constant of the view's own declaration is visible yet.
func (v *View) showsOwn(kind Kind) bool {
	switch kind {
	case Inductive:
		return v.stage >= TypesVisible
	case Constructor:
		return v.stage >= ConstructorsVisible
	case Recursor:
		return v.stage >= RecursorsVisible
	}
	return false
}
