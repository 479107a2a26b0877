package slips

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"reckon/domain/reference"
)

// vocabulary is the function reference's list of names, shared with the suggestions.
type vocabulary struct {
	known  map[string]bool   // functions that the engine has
	folded map[string]string // lower case → name, aliases among them
}

var names = sync.OnceValue(func() vocabulary {
	v := vocabulary{known: map[string]bool{}, folded: maps.Clone(reference.Aliases)}
	for _, name := range reference.Implemented() {
		v.known[name] = true
		if lower := strings.ToLower(name); v.folded[lower] == "" { // derivative[x^2, x] is D, as people mean it
			v.folded[lower] = name
		}
	}
	return v
})

// known tells whether the engine has a function of this name.
func known(name string) bool { return names().known[name] }

// constants are not functions: a product with them is a product.
var constants = map[string]bool{
	"Pi": true, "E": true, "I": true, "Infinity": true, "Degree": true, "EulerGamma": true, "GoldenRatio": true, "Catalan": true, "Khinchin": true,
	"Glaisher": true, "ComplexInfinity": true, "Indeterminate": true, "True": true, "False": true, "None": true, "All": true, "Automatic": true, "Null": true,
	"Integers": true, "Reals": true, "Rationals": true, "Complexes": true, "Primes": true, "Booleans": true,
}

// written are constants as other languages write them, in lower case. e and i are constants only in places where they cannot be variables.
var written = map[string]string{"pi": "Pi", "null": "Null", "nan": "Indeterminate", "today": "Today", "now": "Now", "tomorrow": "Tomorrow", "yesterday": "Yesterday",
	"inf": "Infinity", "infinity": "Infinity", "infty": "Infinity", "true": "True", "false": "False"}

// elementary are the functions that people write without brackets.
var elementary = map[string]bool{
	"Sin": true, "Cos": true, "Tan": true, "Cot": true, "Sec": true, "Csc": true, "ArcSin": true, "ArcCos": true, "ArcTan": true, "Sinh": true,
	"Cosh": true, "Tanh": true, "Log": true, "Exp": true, "Sqrt": true, "Abs": true,
}

// functionFor is the function that a name stands for when its case and other languages' names do not count; "" for none.
// Any other name of one letter stands for itself.
func functionFor(name string) string {
	if name == "N" || name == "D" { // no variables: the language protects them
		return name
	}
	if len(name) < 2 || strings.Contains(name, "`") {
		return ""
	}
	if strings.EqualFold(name, "list") || name == "c" || name == "p" { // list[0], list(…): a name of theirs
		return ""
	}
	if known(name) {
		if constants[name] {
			return ""
		}
		return name
	}
	meant := names().folded[strings.ToLower(name)]
	if constants[meant] {
		return ""
	}
	return meant
}

// The shortest names that are compared with the known ones: shorter ones resemble too many, and small letters are those of variables.
const (
	minMisspelt      = 4
	minLowerMisspelt = 6
)

// misspelt is the known function that differs from a name by one letter left out, added or changed or two exchanged; "" when there is none or
// several. Of a name in small letters the case does not count, and other languages' names are known too.
func misspelt(name string) string {
	capital := name != "" && unicode.IsUpper(rune(name[0]))
	if len(name) < minMisspelt || !capital && len(name) < minLowerMisspelt || known(name) || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	var found []string
	for _, candidate := range neighbours(name) {
		if !capital {
			candidate = names().folded[candidate]
		}
		if known(candidate) && !constants[candidate] && !slices.Contains(found, candidate) {
			found = append(found, candidate)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	for _, candidate := range found { // Sinn resembles Sin, Sinc and Sinh: one that people write without thinking is meant
		if elementary[candidate] {
			return candidate
		}
	}
	return ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// neighbours are the texts one edit away from name (F. J. Damerau, "A technique for computer detection and correction of spelling
// errors", CACM 7, 1964). The first letter stays.
func neighbours(name string) []string {
	var all []string
	for i := 1; i <= len(name); i++ {
		if i < len(name) {
			all = append(all, name[:i]+name[i+1:])
		}
		if i+1 < len(name) {
			all = append(all, name[:i]+string(name[i+1])+string(name[i])+name[i+2:])
		}
		for _, letter := range letters {
			all = append(all, name[:i]+string(letter)+name[i:])
			if i < len(name) {
				all = append(all, name[:i]+string(letter)+name[i+1:])
			}
		}
	}
	return all
}
