package expression

import (
	"slices"
	"strings"
)

// Explicit writes out what the engine reads otherwise where it is left to precedence, and changes nothing else of a text: a * in front of
// a factor that has none (1/Sin[x] Cos[x], x/(a b) y, 2 x^2^y, f[x] y[[1]]), a space between a sign and a number with a factorial (-3!),
// and parentheses around a factorial in front of an operator that begins with = (n! == 6). In the language both texts are the same
// expressions, which is made sure of; a text that is refused is answered as it is.
func Explicit(src string) string {
	p, err := newParser(src)
	if err != nil {
		return src
	}
	p.explicit = &insertions{}
	before, err := p.expressions()
	if err != nil || len(p.explicit.all) == 0 {
		return src
	}
	text := p.explicit.into(src)
	after, err := ParseAll(text)
	if err != nil || !slices.EqualFunc(before, after, (*Expr).Equal) {
		return src
	}
	return text
}

// insertion is a text to put in at a byte offset.
type insertion struct {
	offset int
	text   string
}

// insertions are noted by a parser in the order in which it reads; nil if the caller does not need them.
type insertions struct{ all []insertion }

func (i *insertions) add(offset int, text string) {
	if i != nil {
		i.all = append(i.all, insertion{offset, text})
	}
}

// factorial notes what a ! needs: at is the operand's place, end the offset after the !, next the token that follows.
func (i *insertions) factorial(src string, left operand, end int, next token) {
	start := left.e.Pos.Offset
	if left.chain == chainLiteral && start > 0 && src[start-1] == '-' {
		i.add(start, " ")
	}
	if next.kind == tokenOperator && strings.HasPrefix(next.text, "=") {
		i.add(start, "(")
		i.add(end, ")")
	}
}

// into puts all of them into a text; those at one offset in the order in which they were noted.
func (i *insertions) into(src string) string {
	slices.SortStableFunc(i.all, func(a, b insertion) int { return a.offset - b.offset })
	var text strings.Builder
	at := 0
	for _, one := range i.all {
		text.WriteString(src[at:one.offset])
		text.WriteString(one.text)
		at = one.offset
	}
	return text.String() + src[at:]
}
