package view

import (
	"strings"

	"reckon/domain/run"
	"reckon/domain/verification"
)

// BasisInWords says in words what a verdict rests on.
func BasisInWords(b run.Basis) string {
	switch b {
	case run.BasisExact:
		return "by exact arithmetic or algebra"
	case run.BasisNumeric:
		return "by enclosures with proved radii"
	case run.BasisCrossCheck:
		return "by a cross-check"
	}
	return string(b)
}

// ShownBy is the statement that a verdict of a rule is about, without the full stop; empty: there is no such rule.
func ShownBy(method string) string {
	for _, rule := range verification.Rules() {
		if d := rule.Declare(); d.Slug == method {
			first, _, _ := strings.Cut(d.Shows, ". ")
			return strings.TrimSuffix(first, ".")
		}
	}
	return ""
}
