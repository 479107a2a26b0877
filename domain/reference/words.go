package reference

import (
	"math/bits"
	"strings"
	"unicode"
)

// wordsOf are the words of a text in small letters. With parts also those that capitals begin: NIntegrate is nintegrate, n and integrate.
func wordsOf(text string, parts bool) []string {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words = append(words, strings.ToLower(word))
		if pieces := pieces(word); parts && len(pieces) > 1 {
			words = append(words, pieces...)
		}
	}
	return words
}

// pieces cuts a name before each capital that begins a word: BesselJZero is bessel, j and zero.
func pieces(name string) []string {
	var all []string
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && !beginsPiece(runes, i) {
			continue
		}
		all = append(all, strings.ToLower(string(runes[start:i])))
		start = i
	}
	return all
}

func beginsPiece(runes []rune, i int) bool {
	switch {
	case unicode.IsDigit(runes[i]):
		return !unicode.IsDigit(runes[i-1])
	case !unicode.IsUpper(runes[i]) || unicode.IsDigit(runes[i-1]):
		return false
	}
	return !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// stopWords say nothing of what is looked for.
var stopWords = map[string]bool{
	"a": true, "an": true, "and": true, "are": true, "as": true, "by": true, "can": true, "do": true, "does": true, "for": true, "from": true, "how": true,
	"i": true, "in": true, "is": true, "it": true, "its": true, "my": true, "of": true, "on": true, "or": true, "that": true, "the": true, "to": true, "what": true,
	"with": true, "which": true, "get": true, "calculate": true, "compute": true, "find": true, "make": true, "function": true, "use": true,
}

var irregular = map[string]string{"matrices": "matrix", "vertices": "vertex", "indices": "index", "axes": "axis", "series": "series"}

// stem is a word without the ending of a plural or a form of a verb. Both the searched text and the query go through it.
func stem(word string) string {
	if one, ok := irregular[word]; ok {
		return one
	}
	for _, ending := range []struct{ cut, put string }{{"ies", "y"}, {"ations", "at"}, {"ation", "at"}, {"ing", ""}, {"ed", ""}, {"es", ""}, {"s", ""}, {"e", ""}} {
		rest, ok := strings.CutSuffix(word, ending.cut)
		if ok && len(rest) >= 3 && !(ending.cut == "s" && strings.HasSuffix(rest, "s")) {
			return rest + ending.put
		}
	}
	return word
}

// distance is the number of letters to add, remove, change or exchange with their neighbour to make b of a, each place at most once
// (optimal string alignment; F. J. Damerau, CACM 7, 1964); more than limit is limit+1.
func distance(a, b string, limit int) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > limit || len(b) > maxCompared {
		return limit + 1
	}
	var rows [3][maxCompared + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(a) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(b); i++ {
		now[0] = i
		least := i
		for j := 1; j <= len(a); j++ {
			cost := 1
			if a[j-1] == b[i-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[j-1] == b[i-2] && a[j-2] == b[i-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, now = last, now, before
	}
	return min(last[len(a)], limit+1)
}

// lettersOf is the set of letters of a word, a bit each; characters outside a to z and 0 to 9 share one.
func lettersOf(word string) uint64 {
	var set uint64
	for _, c := range []byte(word) {
		switch {
		case 'a' <= c && c <= 'z':
			set |= 1 << (c - 'a')
		case '0' <= c && c <= '9':
			set |= 1 << (c - '0' + 26)
		default:
			set |= 1 << 40
		}
	}
	return set
}

// tooFar tells whether two words cannot be within a distance, by their letters alone: a mistake takes one away and brings another.
func tooFar(a, b uint64, limit int) bool { return bits.OnesCount64(a^b) > 2*limit }

// maxCompared bounds the words that are compared letter by letter, in bytes.
const maxCompared = 48

// tolerated is the number of mistakes allowed in a word of so many bytes.
func tolerated(word string) int {
	switch {
	case len(word) < 4 || len(word) > maxCompared:
		return 0
	case len(word) < 8:
		return 1
	}
	return 2
}
