package expression

import (
	"strings"
	"unicode"
)

// namedOperators gives the code points of the named characters that are operators or brackets: \[Name] and the character
// itself mean the same. Code points are Wolfram's (guide/ListingOfNamedCharacters); those from U+F100 up are its private use.
var namedOperators = map[string]rune{
	"Not": 0x00AC, "PlusMinus": 0x00B1, "CenterDot": 0x00B7, "Times": 0x00D7, "Divide": 0x00F7,
	"LeftArrow": 0x2190, "RightArrow": 0x2192, "LeftRightArrow": 0x2194,
	"Element": 0x2208, "NotElement": 0x2209, "Minus": 0x2212, "MinusPlus": 0x2213, "SmallCircle": 0x2218,
	"Sqrt": 0x221A, "And": 0x2227, "Or": 0x2228,
	"NotEqual": 0x2260, "LessEqual": 0x2264, "GreaterEqual": 0x2265,
	"Subset": 0x2282, "Superset": 0x2283, "SubsetEqual": 0x2286, "SupersetEqual": 0x2287,
	"CirclePlus": 0x2295, "CircleMinus": 0x2296, "CircleTimes": 0x2297, "CircleDot": 0x2299,
	"Xor": 0x22BB, "Nand": 0x22BC, "Nor": 0x22BD, "Wedge": 0x22C0, "Vee": 0x22C1,
	"Intersection": 0x22C2, "Union": 0x22C3, "Diamond": 0x22C4, "Star": 0x22C6,
	"LeftCeiling": 0x2308, "RightCeiling": 0x2309, "LeftFloor": 0x230A, "RightFloor": 0x230B,
	"Equivalent": 0x29E6, "LessSlantEqual": 0x2A7D, "GreaterSlantEqual": 0x2A7E,
	"LeftDoubleBracket": 0x301A, "RightDoubleBracket": 0x301B,
	"LeftAssociation": 0xF113, "RightAssociation": 0xF114, "TwoWayRule": 0xF120,
	"Transpose": 0xF3C7, "Conjugate": 0xF3C8, "ConjugateTranspose": 0xF3C9,
	"Distributed": 0xF3D2, "Conditioned": 0xF3D3, "UndirectedEdge": 0xF3D4, "DirectedEdge": 0xF3D5,
	"TensorProduct": 0xF3DA, "TensorWedge": 0xF3DB, "Equal": 0xF431, "Cross": 0xF4A0, "Function": 0xF4A1,
	"RuleDelayed": 0xF51F, "Rule": 0xF522, "Implies": 0xF523,
}

// operatorSpelling gives the ASCII spelling of the characters that have one; the rest go by themselves.
var operatorSpelling = map[rune]string{
	0x00AC: "!not", 0x00D7: "*", 0x00F7: "/", 0x2212: "-", 0x2227: "&&", 0x2228: "||", 0x2260: "!=", 0x2264: "<=",
	0x2265: ">=", 0x2A7D: "<=", 0x2A7E: ">=", 0xF113: "<|", 0xF114: "|>", 0xF120: "<->", 0xF431: "==", 0xF4A1: "|->",
	0xF51F: ":>", 0xF522: "->",
}

// namedLetters gives the code points of the named characters that are letters, except the alphabets of letterNamed.
var namedLetters = map[string]rune{
	"Degree": 0x00B0, "Micro": 0x00B5, "DotlessI": 0x0131, "FinalSigma": 0x03C2, "CurlyPhi": 0x03C6,
	"CurlyTheta": 0x03D1, "CurlyCapitalUpsilon": 0x03D2, "Phi": 0x03D5, "CurlyPi": 0x03D6, "CurlyKappa": 0x03F0,
	"CurlyRho": 0x03F1, "Epsilon": 0x03F5, "CurlyEpsilon": 0x03B5, "ScriptL": 0x2113, "HBar": 0x210F,
	"Aleph": 0x2135, "Bet": 0x2136, "Gimel": 0x2137, "Dalet": 0x2138, "EmptySet": 0x2205, "Infinity": 0x221E,
	"Angstrom": 0x212B, "ExponentialE": 0xF74D, "ImaginaryI": 0xF74E, "ImaginaryJ": 0xF74F,
}

// greek is the alphabet as Unicode orders it from U+03B1, by the names the language gives its letters; the capitals stand
// 0x20 lower. "" stands for a letter whose plain name means another code point, listed in namedLetters.
var greek = []string{
	"Alpha", "Beta", "Gamma", "Delta", "", "Zeta", "Eta", "Theta", "Iota", "Kappa", "Lambda", "Mu", "Nu", "Xi", "Omicron",
	"Pi", "Rho", "", "Sigma", "Tau", "Upsilon", "", "Chi", "Psi", "Omega",
}

// greekCapitals completes greek for the three letters whose capital is plainly named.
var greekCapitals = map[string]rune{"Epsilon": 0x0395, "Phi": 0x03A6}

// letterNamed resolves the name of a letterlike character.
func letterNamed(name string) (rune, bool) {
	if r, ok := namedLetters[name]; ok {
		return r, true
	}
	base, capital := strings.CutPrefix(name, "Capital")
	if r, ok := greekCapitals[base]; ok && capital {
		return r, true
	}
	for i, letter := range greek {
		if letter == base && letter != "" {
			if capital {
				return rune(0x0391 + i), true
			}
			return rune(0x03B1 + i), true
		}
	}
	return formalLetter(name)
}

// formalLetter resolves \[FormalA] to \[FormalZ] and \[FormalCapitalA] to \[FormalCapitalZ].
func formalLetter(name string) (rune, bool) {
	letter, ok := strings.CutPrefix(name, "Formal")
	if !ok {
		return 0, false
	}
	letter, capital := strings.CutPrefix(letter, "Capital")
	if len(letter) != 1 || letter[0] < 'A' || letter[0] > 'Z' {
		return 0, false
	}
	if capital {
		return 0xF81A + rune(letter[0]-'A'), true
	}
	return 0xF800 + rune(letter[0]-'A'), true
}

// letterSymbols are the letters that mean a symbol of another name when they stand alone.
var letterSymbols = map[string]string{
	"π": "Pi", "∞": "Infinity", "°": "Degree", "\uF74D": "E", "ⅇ": "E", "\uF74E": "I", "ⅈ": "I", "\uF74F": "I", "ⅉ": "I",
}

// isLetter reports whether r may start a symbol's name. Combining marks and invisible characters may not: two names that
// look the same should be the same.
func isLetter(r rune) bool {
	switch {
	case r < 0x80:
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '$'
	case r == 0x00B0, r == 0x221E, r == 0x2205, 0xF74D <= r && r <= 0xF74F, 0xF800 <= r && r <= 0xF833:
		return true
	}
	return unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lt, unicode.Lo)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isNameRune(r rune) bool { return isLetter(r) || isDigit(r) }
