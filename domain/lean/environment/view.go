package environment

import "reckon/domain/lean/term"

// Stage says which constants of its own inductive block a declaration sees.
type Stage uint8

// The stages of checking an inductive block, in order.
const (
	NothingVisible Stage = iota
	TypesVisible
	ConstructorsVisible
	RecursorsVisible
)

// View is the environment as one declaration sees it: the constants of all earlier declarations, and those of its own
// block that its stage shows.
type View struct {
	env   *Environment
	unit  int
	stage Stage
}

// ViewAt returns the view of the declaration with index unit, at stage NothingVisible. With unit = Len it shows every
// declaration.
func (env *Environment) ViewAt(unit int) View { return View{env: env, unit: unit} }

// Unit is the index of the declaration whose view this is.
func (v *View) Unit() int { return v.unit }

// SetStage sets which constants of the declaration's own block are visible.
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
