package expression

import (
	"math/rand/v2"
	"strings"
)

// generator makes random texts of the language: operators without parentheses next to each other, so that precedence,
// associativity and missing operators are what is compared. The same seed makes the same texts.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0))} }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) symbol() string {
	return g.pick("x", "y", "a", "b", "n", "Pi", "E", "alpha", "x1", "$t")
}

// number is a literal that stands among operators; literal is any, which stands alone.
func (g generator) number() string {
	return g.pick("0", "1", "2", "3", "10", "007", "123456789012345678901234567890", "1.5", "0.25")
}

func (g generator) literal() string {
	return g.pick(".5", "2.", "1.5`20", "2.5`", "1.5*^3", "2.*^-3", "1*^5", "1*^-3", "16^^ff", "16^^ff.8", "2^^1011",
		"36^^Zz", "1.23456789012345678901", "1.5`20.5*^7", "-1.25", "-7", "0.0000001", "1234567.5", "1.5*^300")
}

// atom is an operand that needs no parentheses anywhere.
func (g generator) atom(depth int) string {
	if depth <= 0 {
		return g.pick(g.symbol(), g.symbol(), g.number())
	}
	switch g.IntN(12) {
	case 0:
		return g.pick("Sin", "Cos", "f", "g", "Log", "Gamma", "Exp", "Sqrt") + "[" + g.math(depth-1) + "]"
	case 1:
		return g.pick("f", "Log", "Mod") + "[" + g.math(depth-1) + g.pick(",", ", ") + g.math(depth-1) + "]"
	case 2:
		return "(" + g.math(depth-1) + ")"
	case 3:
		return "{" + g.math(depth-1) + "," + g.math(depth-1) + "}"
	case 4:
		return g.pick("y", "f") + g.pick("'", "''", "'''") + "[" + g.math(depth-1) + "]"
	case 5:
		return g.symbol() + "[[" + g.math(depth-1) + "]]"
	case 6:
		return "f[" + g.literal() + "]"
	case 7, 8, 9:
		return g.number()
	}
	return g.symbol()
}

// math is common mathematics. Factorials stand first, and x^2 in a product without * last: what the engine makes of them
// elsewhere is in engine_differences.tsv.
func (g generator) math(depth int) string {
	if g.IntN(10) == 0 {
		return g.pick("x", "n", "f[x]", "(a+b)") + g.pick("!", "!!") + g.pick("+", " - ", "*", "/") + g.sum(depth)
	}
	return g.sum(depth)
}

func (g generator) sum(depth int) string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "-") + g.atom(depth-1))
	for range g.IntN(4) {
		b.WriteString(g.pick("+", "-", "*", "/", "^", " + ", " - ", " * ", " / ", "^-", "*-", "+", "-") + g.atom(depth-1))
	}
	if g.IntN(4) == 0 {
		b.WriteString(g.pick("+", "-", "*", " + ", " - ") + g.pick("2 ", "x ", "3", "a b ", "2 Pi ") + g.pick("x", "y", "Pi", "Sin[x]", "x^2", "(x+1)"))
	}
	return b.String()
}

// relation is mathematics with comparisons, logic and rules.
func (g generator) relation(depth int) string {
	operators := []string{"==", "!=", "<", "<=", ">", ">=", "&&", "||", "->", "/.", "//.", "==", "&&", "||"}
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "", "!a && ", "!f[x] || ", "x = ", "y := "))
	b.WriteString(g.sum(depth - 1))
	for range g.IntN(4) {
		b.WriteString(" " + operators[g.IntN(len(operators))] + " " + g.sum(depth-1))
	}
	return b.String()
}

// single is mathematics with one operator that the engine does not read among others.
func (g generator) single(depth int) string {
	return g.sum(depth-1) + g.pick("===", "=!=", "/;", ":>", " === ", " :> ") + g.sum(depth-1)
}

// pattern is a left side of a definition.
func (g generator) pattern(depth int) string {
	name := g.pick("x", "y", "n")
	switch g.IntN(10) {
	case 0:
		return name + g.pick("_", "__", "___")
	case 1:
		return name + g.pick("_", "__", "___") + g.pick("Integer", "Real", "List", "h")
	case 2:
		return g.pick("_", "__", "___") + g.pick("", "Integer", "h")
	case 3:
		return name + "_" + g.pick("", "Integer") + ":" + g.atom(0)
	case 4:
		return name + "_."
	case 5:
		return name + "_" + g.pick("", "Integer") + "?" + g.pick("NumberQ", "EvenQ", "(#>1&)")
	case 6:
		return name + ":" + g.pick("a|b", "{_,_}", "f[_]", "_h")
	case 7:
		return name + "_/;" + name + g.pick(">", "<", "==") + g.atom(depth-1)
	case 8:
		return "f[" + g.pattern(depth-1) + "," + g.pattern(depth-1) + "]"
	}
	return g.pick("a", "b", "_") + "|" + g.atom(depth-1) + g.pick("", "|c")
}

// function is functional notation.
func (g generator) function(depth int) string {
	f := g.pick("f", "g", "Total", "#&", "#^2&", "(#+1)&", "f[#1,#2]&")
	x := g.pick("x", "{1,2,3}", "h[x]", "Range[5]")
	switch g.IntN(9) {
	case 0:
		return g.pick("f", "g", "Sin") + "@" + x
	case 1:
		return f + "/@" + x
	case 2:
		return f + "@@" + x
	case 3:
		return f + "@@@" + x
	case 4:
		return x + "//" + g.pick("f", "Total", "Length")
	case 5:
		return x + "~" + g.pick("f", "Join", "Mod") + "~" + g.pick("y", "{4}", "3")
	case 6:
		return g.pick("f", "g") + "/@" + g.pick("f", "g") + "/@" + x
	case 7:
		return "Function[{x},x^2][" + g.math(depth-1) + "]"
	}
	return g.pick("i++", "i--", "++i", "--i", "i+=1", "i-=x", "i*=2", "i/=2", "f@g@x", "x|->x^2", "a@*b", "a/*b", "a=.")
}

// other is the rest: spans, associations, strings, programs, comments.
func (g generator) other(depth int) string {
	switch g.IntN(10) {
	case 0:
		return "x[[" + g.pick(";;", "1;;2", ";;3", "2;;", "1;;-1", "1;;9;;2", ";;;;2", "1,;;", "{1,2},All") + "]]"
	case 1:
		return "<|" + g.pick("", `"a"->1`, "a->1,b->"+g.atom(depth-1)) + "|>"
	case 2:
		return g.pick(`"abc"`, `""`, `"hello world"`, `"naïve"`) + g.pick("", `<>"x"`, `<>"x"<>y`)
	case 3:
		return g.relation(depth-1) + ";" + g.math(depth-1) + g.pick("", ";")
	case 4:
		return g.math(depth-1) + "(* note (* nested *) *)" + g.pick("+", "*") + g.atom(depth-1)
	case 5:
		return "f[" + g.pattern(depth-1) + "]:=" + g.math(depth-1)
	case 6:
		return "Integrate[" + g.math(depth-1) + ",{x," + g.atom(0) + "," + g.pick("Infinity", "-Infinity", "1", "Pi") + "}]"
	case 7:
		return "Module[{a=" + g.math(depth-1) + "},a]"
	case 8:
		return g.pick("α", "π", "∞", `\[Alpha]`, `\[Pi]`, `\[Beta]x`, "√2", "I", "3I", "2+3I", "2-I", "x I") + g.pick("", "+1", "*x", "^2")
	}
	return g.pick("a", "{1,2}") + "." + g.pick("b", "{3,4}") + g.pick("", ".c", "+d")
}

// text makes one text of any kind.
func (g generator) text() string {
	kinds := []func(int) string{g.math, g.math, g.math, g.relation, g.relation, g.single, g.pattern, g.function, g.other}
	return kinds[g.IntN(len(kinds))](3)
}

// texts makes n different texts.
func (g generator) texts(n int) []string {
	seen := map[string]bool{}
	var made []string
	for len(made) < n {
		if text := g.text(); !seen[text] {
			seen[text] = true
			made = append(made, text)
		}
	}
	return made
}
