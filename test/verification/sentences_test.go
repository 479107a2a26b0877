package verification

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

// Two numbers that a refutation says are different: as a reader takes them they differ. An integer and a fraction are exact, of a
// decimal the last digit is right to one unit, a part that is left out is less than that; what lies between two numbers is an interval.
func requireTrueSentence(t *testing.T, what, residual string) {
	t.Helper()
	claim := sentence.FindStringSubmatch(residual)
	if claim == nil || strings.Contains(claim[2], ", which is off by ") {
		return
	}
	expected, ok := readNumber(claim[1])
	given, too := readNumber(claim[2])
	if ok && too && expected.meets(given) {
		t.Errorf("NOT SEEN TO DIFFER %s: %s", what, residual)
	}
}

var (
	sentence    = regexp.MustCompile(`(?:^|: )([^:]*) is expected, the answer gives (.*?)(?: \((?:with|it) .*\))?$`)
	decimal     = `-?\d+(?:\.\d*)?(?:\*\^-?\d+)?`
	realNumber  = regexp.MustCompile(`^\(?(?:(-?\d+/\d+)|(` + decimal + `)|between (` + decimal + `) and (` + decimal + `))\)?$`)
	complexText = regexp.MustCompile(`^(.+?) ([+-]) (\S+|\(.*\))\*I$`)
)

// interval is middle ± radius; number has a real and an imaginary one.
type (
	interval struct{ middle, radius *big.Rat }
	number   [2]interval
)

func (n number) meets(other number) bool {
	for i := range n {
		gap := new(big.Rat).Sub(n[i].middle, other[i].middle)
		if gap.Abs(gap).Cmp(new(big.Rat).Add(n[i].radius, other[i].radius)) > 0 {
			return false
		}
	}
	return true
}

func readNumber(text string) (number, bool) {
	if alone, ok := strings.CutSuffix(text, "*I"); ok {
		if only, ok := readReal(alone); ok {
			return number{interval{new(big.Rat), only.radius}, only}, true
		}
	}
	if parts := complexText.FindStringSubmatch(text); parts != nil {
		re, ok := readReal(parts[1])
		im, too := readReal(parts[3])
		if parts[2] == "-" && too {
			im.middle.Neg(im.middle)
		}
		return number{re, im}, ok && too
	}
	re, ok := readReal(text)
	return number{re, interval{new(big.Rat), re.radius}}, ok // a part that is below the digits shown is left out
}

func readReal(text string) (interval, bool) {
	found := realNumber.FindStringSubmatch(text)
	switch {
	case found == nil:
		return interval{}, false
	case found[1] != "":
		value, ok := new(big.Rat).SetString(found[1])
		return interval{value, new(big.Rat)}, ok
	case found[2] != "":
		return readDecimal(found[2])
	}
	low, ok := readDecimal(found[3])
	high, too := readDecimal(found[4])
	if !ok || !too {
		return interval{}, false
	}
	half := big.NewRat(1, 2)
	middle, radius := new(big.Rat).Add(low.middle, high.middle), new(big.Rat).Sub(high.middle, low.middle)
	return interval{middle.Mul(middle, half), radius.Mul(radius, half)}, true
}

func readDecimal(text string) (interval, bool) {
	mantissa, power, scientific := strings.Cut(text, "*^")
	_, part, pointed := strings.Cut(mantissa, ".")
	if !scientific {
		power = "0"
	}
	value, ok := new(big.Rat).SetString(mantissa + "e" + power)
	unit, too := new(big.Rat).SetString("1e" + power)
	if !ok || !too {
		return interval{}, false
	}
	for range part {
		unit.Quo(unit, big.NewRat(10, 1))
	}
	if !pointed && !scientific {
		unit.SetInt64(0)
	}
	return interval{value, unit}, true
}

func TestReadingOfSentences(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		meets bool
	}{
		{"0.098388671875000000000", "403/4096", true},
		{"1.2309594173407746821", "123095941734077468213616013767/100000000000000000000000000000", true},
		{"1.5", "1.62", false},
		{"1.5", "8/5", true},
		{"2", "3", false},
		{"2.", "3", true},
		{"1.5*^-3", "0.0014", true},
		{"between 1.3 and 1.7", "1.9", false},
		{"between 1.3 and 1.7", "1.7", true},
		{"0.5 + (between 1 and 2)*I", "0.5 + 1.5*I", true},
		{"0.5 - 1.25*I", "1/2 - 5/4*I", true},
		{"0.5 - 1.25*I", "1/2 + 5/4*I", false},
		{"2.5*I", "-2.5*I", false},
	} {
		a, ok := readNumber(test.a)
		b, too := readNumber(test.b)
		if !ok || !too || a.meets(b) != test.meets {
			t.Errorf("%s and %s: %v %v, want meets %v", test.a, test.b, a, b, test.meets)
		}
	}
}
