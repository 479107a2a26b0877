package statement

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// confusablesFile is an excerpt of Unicode's table; its head says of which version.
//
//go:embed confusables.txt
var confusablesFile string

// prototypes maps a character to what looks like it (UTS #39, section 4, "Confusable Detection").
var prototypes = sync.OnceValue(func() map[rune]string {
	table := map[rune]string{}
	for line := range strings.Lines(confusablesFile) {
		source, target, ok := strings.Cut(line, ";")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		var b strings.Builder
		for _, digits := range strings.Fields(target) {
			b.WriteRune(hexRune(digits))
		}
		table[hexRune(strings.TrimSpace(source))] = b.String()
	}
	return table
})

func hexRune(digits string) rune {
	n, err := strconv.ParseUint(digits, 16, 21)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return rune(n)
}

// skeleton replaces every character by its prototype. Texts with equal skeletons can look alike. Decompositions are
// not taken: characters that have one of their own are never written unescaped, precomposed Latin excepted.
func skeleton(text string) string { return replaceLooks(text, looksAlike) }

// variableLook is the skeleton of the name of a bound variable: α and a may be bound beside each other.
func variableLook(text string) string {
	return replaceLooks(text, func(r rune) bool { return looksAlike(r) && !isDistinct(r) })
}

// replaceLooks replaces the chosen characters by their prototypes.
func replaceLooks(text string, chosen func(rune) bool) string {
	if !strings.ContainsFunc(text, chosen) {
		return text
	}
	table := prototypes()
	var b strings.Builder
	for _, r := range text {
		if chosen(r) {
			b.WriteString(table[r])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// asciiAlike says which characters of ASCII have a prototype: nearly all characters of names are asked about.
var asciiAlike = sync.OnceValue(func() *[unicode.MaxASCII + 1]bool {
	var table [unicode.MaxASCII + 1]bool
	for r := range prototypes() {
		if r <= unicode.MaxASCII {
			table[r] = true
		}
	}
	return &table
})

// looksAlike says whether a character has a prototype that is another.
func looksAlike(r rune) bool {
	if r >= 0 && r <= unicode.MaxASCII {
		return asciiAlike()[r]
	}
	_, ok := prototypes()[r]
	return ok
}

// script is a writing system whose letters are written unescaped.
type script uint8

const (
	noScript script = iota
	common          // may stand beside any script
	latin
	greek
	cyrillic
	han
	kana
	hangul
)

// distinct are the Greek and letter-like characters of Lean's own style that are not mistaken for Latin ones.
const distinct = "αβγδεζηθικμνξπρςστφχψωΓΔΘΛΞΦΨΩℂℍℕℙℚℝℤℓ"

// scriptOf is the script of a character that may be written unescaped, or noScript: what is invisible, combining,
// unassigned, written from right to left, for compatibility only, or of a script not listed here is always escaped.
func scriptOf(r rune) script {
	switch {
	case r < unicode.MaxASCII:
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return latin
		}
		if r >= ' ' {
			return common
		}
	case isDistinct(r) || isSubscript(r):
		return common
	case r >= 0x00C0 && r <= 0x024F && unicode.IsLetter(r):
		return latin
	case r >= 0x0370 && r <= 0x03E1 && unicode.Is(unicode.Greek, r) && unicode.IsLetter(r) && r != 0x037A:
		return greek
	case r >= 0x0400 && r <= 0x045F:
		return cyrillic
	case r >= 0x4E00 && r <= 0x9FA5:
		return han
	case r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FA:
		return kana
	case r >= 0xAC00 && r <= 0xD7A3:
		return hangul
	}
	return noScript
}

func isDistinct(r rune) bool {
	return r >= 0x1D49C && r <= 0x1D59F && unicode.IsLetter(r) || r > unicode.MaxASCII && strings.ContainsRune(distinct, r)
}

// isSubscript says whether r is a digit or letter below the line, as Lean has them in names.
func isSubscript(r rune) bool {
	return r >= '₀' && r <= '₉' || r >= 'ₐ' && r <= 'ₜ' || r >= 'ᵢ' && r <= 'ᵪ'
}

// legible says whether a text can be written as it is: it has visible characters only and is readable.
func legible(text string) bool {
	for _, r := range text {
		if scriptOf(r) == noScript {
			return false
		}
	}
	return readable(text)
}

// readable says whether the visible characters of a text can be taken for what they are: they are of one script or of
// a usual combination (UTS #39, section 5.2, "Highly Restrictive"), and do not all look like ASCII.
func readable(text string) bool {
	var seen [hangul + 1]bool
	foreign := false
	for _, r := range text {
		s := scriptOf(r)
		seen[s] = true
		foreign = foreign || s > common && r > unicode.MaxASCII
	}
	if !foreign {
		return true
	}
	switch {
	case seen[greek], seen[cyrillic]:
		if seen[greek] && seen[cyrillic] || seen[latin] || seen[han] || seen[kana] || seen[hangul] {
			return false
		}
	case seen[kana] && seen[hangul]:
		return false
	}
	return !isASCII(skeleton(text))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}
