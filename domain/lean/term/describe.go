package term

import (
	"math/big"
	"strconv"
	"strings"
)

// describeBudget bounds the text of Describe, in nodes.
const describeBudget = 60

// Describe renders e for an error message: explicit, unambiguous about structure, cut short when large. Statements
// for people are rendered by package check.
func (s *Store) Describe(e Expr) string {
	d := describer{store: s, left: describeBudget}
	d.expr(e, false)
	return d.out.String()
}

type describer struct {
	store *Store
	out   strings.Builder
	left  int
}

func (d *describer) expr(e Expr, atom bool) {
	d.left--
	if d.left < 0 {
		if d.left == -1 {
			d.out.WriteString("…")
		}
		return
	}
	n := d.store.Node(e)
	switch n.Kind {
	case KindBVar:
		d.out.WriteString("#" + strconv.Itoa(int(n.A)))
		return
	case KindLocal:
		d.out.WriteString("x" + strconv.Itoa(int(n.A)))
		return
	case KindConst:
		d.out.WriteString(d.store.NameString(Name(n.A)))
		if ls := d.store.LevelsOf(Levels(n.B)); len(ls) > 0 {
			d.out.WriteString(".{")
			for i, l := range ls {
				if i > 0 {
					d.out.WriteString(", ")
				}
				d.out.WriteString(d.store.DescribeLevel(l))
			}
			d.out.WriteString("}")
		}
		return
	case KindNat:
		d.out.WriteString(describeNat(d.store.NatValue(e)))
		return
	case KindStr:
		d.out.WriteString(strconv.Quote(shorten(d.store.StrValue(e))))
		return
	}
	if atom {
		d.out.WriteString("(")
		defer d.out.WriteString(")")
	}
	switch n.Kind {
	case KindSort:
		d.out.WriteString("Sort " + d.store.DescribeLevel(Level(n.A)))
	case KindApp:
		d.expr(Expr(n.A), d.store.Kind(Expr(n.A)) != KindApp)
		d.out.WriteString(" ")
		d.expr(Expr(n.B), true)
	case KindLam, KindPi:
		if n.Kind == KindLam {
			d.out.WriteString("fun ")
		}
		d.out.WriteString("(_ : ")
		d.expr(Expr(n.A), false)
		d.out.WriteString(") → ")
		d.expr(Expr(n.B), false)
	case KindLet:
		d.out.WriteString("let _ : ")
		d.expr(Expr(n.A), false)
		d.out.WriteString(" := ")
		d.expr(Expr(n.B), false)
		d.out.WriteString("; ")
		d.expr(Expr(n.C), false)
	case KindProj:
		d.expr(Expr(n.C), true)
		d.out.WriteString("." + d.store.NameString(Name(n.A)) + "." + strconv.Itoa(int(n.B)+1))
	}
}

// DescribeLevel renders l, cut short when large.
func (s *Store) DescribeLevel(l Level) string {
	if s.levels[l].Size > 40 {
		return "…"
	}
	return s.levelText(l)
}

func (s *Store) levelText(l Level) string {
	if n, ok := s.numeral(l); ok {
		return strconv.Itoa(n)
	}
	switch n := s.levels[l]; n.Kind {
	case LevelSucc:
		return s.levelText(Level(n.A)) + "+1"
	case LevelMax:
		return "(max " + s.levelText(Level(n.A)) + " " + s.levelText(Level(n.B)) + ")"
	case LevelIMax:
		return "(imax " + s.levelText(Level(n.A)) + " " + s.levelText(Level(n.B)) + ")"
	default:
		return s.NameString(Name(n.A))
	}
}

// describeNat writes a number in decimal, a long one by its size: finding its digits would take long.
func describeNat(v *big.Int) string {
	if bits := v.BitLen(); bits > 1<<10 {
		return "(a number of " + strconv.Itoa(bits) + " bits)"
	}
	return shorten(v.String())
}

func shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
