package slips

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// nameList holds the functions that the engine has, one a line. TestNames of runners/engine compares it with the engine.
//
//go:embed names.txt
var nameList string

var (
	known  = knownNames()  // the engine's functions
	folded = foldedNames() // lower case → name, aliases among them
)

func knownNames() map[string]bool {
	set := map[string]bool{}
	for _, name := range Names() {
		set[name] = true
	}
	return set
}

func foldedNames() map[string]string {
	all := maps.Clone(aliases)
	for _, name := range Names() {
		all[strings.ToLower(name)] = name
	}
	return all
}

// Names are the functions that the engine has.
func Names() []string { return strings.Fields(nameList) }

// aliases are names that mathematics and other languages use, in lower case.
var aliases = map[string]string{
	"ln": "Log", "asin": "ArcSin", "acos": "ArcCos", "atan": "ArcTan", "arcsec": "ArcSec", "tg": "Tan", "ctg": "Cot", "cotg": "Cot", "cosec": "Csc",
	"sh": "Sinh", "ch": "Cosh", "th": "Tanh", "asinh": "ArcSinh", "acosh": "ArcCosh", "atanh": "ArcTanh", "arsinh": "ArcSinh", "arcosh": "ArcCosh",
	"artanh": "ArcTanh", "integral": "Integrate", "int": "Integrate", "diff": "D", "deriv": "D", "derivative": "D", "lim": "Limit", "fact": "Factorial",
	"nintegral": "NIntegrate", "ncr": "Binomial", "choose": "Binomial", "ceil": "Ceiling", "signum": "Sign", "sgn": "Sign", "determinant": "Det",
	"inv": "Inverse", "eig": "Eigenvalues", "cbrt": "CubeRoot", "avg": "Mean", "average": "Mean", "std": "StandardDeviation", "isprime": "PrimeQ",
	"arctg": "ArcTan", "arcctg": "ArcCot", "primefactors": "FactorInteger", "length": "Length", "len": "Length", "rand": "RandomReal", "dsolve": "DSolve", "nroots": "NSolve",
	"mode": "Commonest", "stdev": "StandardDeviation", "stddev": "StandardDeviation", "stdv": "StandardDeviation", "var": "Variance", "rref": "RowReduce", "fib": "Fibonacci",
	"pow": "Power", "rem": "Mod", "transp": "Transpose", "eigenvals": "Eigenvalues", "factorint": "FactorInteger", "lg": "Log10", "differentiate": "D",
}

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
	if known[name] {
		if constants[name] {
			return ""
		}
		return name
	}
	meant := folded[strings.ToLower(name)]
	if constants[meant] {
		return ""
	}
	return meant
}

// minMisspelt is the shortest name that is compared with the known ones: shorter ones resemble too many.
const minMisspelt = 4

// misspelt is the known function that differs from a capitalised name by one letter left out, added or changed or two exchanged;
// "" when there is none or several.
func misspelt(name string) string {
	if len(name) < minMisspelt || !unicode.IsUpper(rune(name[0])) || known[name] || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	var found []string
	for _, candidate := range neighbours(name) {
		if known[candidate] && !slices.Contains(found, candidate) {
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
