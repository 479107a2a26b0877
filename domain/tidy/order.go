package tidy

import (
	"cmp"
	"strings"
)

// compareTerms orders terms as the language does: numbers, then by the last factor first, so that 1 + x + x^2 and x^2 + x*y + y^2 come out.
func compareTerms(a, b term) int {
	for i := 1; i <= len(a.factors) && i <= len(b.factors); i++ {
		if c := compareFactors(a.factors[len(a.factors)-i], b.factors[len(b.factors)-i]); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(len(a.factors), len(b.factors)); c != 0 {
		return c
	}
	return compareNumbers(a.coefficient, b.coefficient)
}

func compareFactors(a, b factor) int {
	if c := compareBases(a.base, b.base); c != 0 {
		return c
	}
	return compareSums(a.exponent, b.exponent)
}

func compareBases(a, b base) int {
	if c := cmp.Compare(a.kind, b.kind); c != 0 {
		return c
	}
	if a.kind == whole {
		if c := cmp.Compare(len(a.atom.Text), len(b.atom.Text)); c != 0 {
			return c
		}
	}
	if c := strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key)); c != 0 {
		return c
	}
	return strings.Compare(a.key, b.key)
}

func compareSums(a, b sum) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if c := compareTerms(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareNumbers(a, b number) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}
