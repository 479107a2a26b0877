package expression

import (
	"math/big"
	"strconv"
	"strings"
)

const (
	// maxConvertedDigits bounds a literal whose digits must be computed (16^^ff, 5*^9): conversion is not linear.
	maxConvertedDigits = 4096
	// maxComputedDigits bounds, over a whole text, the digits computed for literals shorter than their value (5*^9).
	maxComputedDigits = 1 << 20
	// machineDigits is the most significant digits a literal may have and still be a machine number.
	machineDigits = 17
)

// literal is a number as it stands in the text.
type literal struct {
	pos       Position
	base      int
	whole     string // digits before the point
	fraction  string // digits after it
	point     bool
	mark      string // "", "`" or "``"
	precision string // digits after the mark
	exponent  int    // after *^, a power of base
}

// number reads a number: 12, 1.5, .5, 16^^ff.8, 1.5`20, 1.5“20, 1.5*^-3.
func (l *lexer) number() (*Expr, error) {
	n := literal{pos: l.at, base: 10}
	n.whole = l.digits()
	if l.peekByte(0) == '^' && l.peekByte(1) == '^' {
		if err := l.basedNumber(&n); err != nil {
			return nil, err
		}
	} else if l.peekByte(0) == '.' && l.peekByte(1) != '.' {
		l.skipASCII(1)
		n.point, n.fraction = true, l.digits()
	}
	if err := l.precision(&n); err != nil {
		return nil, err
	}
	if err := l.exponent(&n); err != nil {
		return nil, err
	}
	if n.point || n.mark != "" {
		return n.real()
	}
	return l.integer(n)
}

// digits reads decimal digits.
func (l *lexer) digits() string {
	from := l.at.Offset
	for isDigit(rune(l.peekByte(0))) {
		l.skipASCII(1)
	}
	return l.src[from:l.at.Offset]
}

// basedNumber reads ^^digits[.digits] after the base.
func (l *lexer) basedNumber(n *literal) error {
	base := 0
	if len(n.whole) <= 2 {
		base, _ = strconv.Atoi(n.whole)
	}
	if base < 2 || base > 36 {
		return refuse(ReasonNumber, n.pos, "the base of a number must be from 2 to 36")
	}
	n.base = base
	l.skipASCII(2)
	var err error
	if n.whole, err = l.basedDigits(base); err != nil {
		return err
	}
	if n.whole == "" {
		return refuse(ReasonNumber, l.at, "digits of base %d must follow ^^", base)
	}
	if l.peekByte(0) == '.' && l.peekByte(1) != '.' {
		l.skipASCII(1)
		n.point = true
		n.fraction, err = l.basedDigits(base)
	}
	return err
}

func (l *lexer) basedDigits(base int) (string, error) {
	from := l.at.Offset
	for digit := digitValue(l.peekByte(0)); digit >= 0; digit = digitValue(l.peekByte(0)) {
		if digit >= base {
			return "", refuse(ReasonNumber, l.at, "%q is no digit of base %d", l.peekByte(0), base)
		}
		l.skipASCII(1)
	}
	return l.src[from:l.at.Offset], nil
}

// digitValue is the value of a digit of base 36 or less, -1 for anything else.
func digitValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'Z':
		return int(c-'A') + 10
	}
	return -1
}

// precision reads `20, “20 or a bare `.
func (l *lexer) precision(n *literal) error {
	if l.peekByte(0) != '`' {
		return nil
	}
	n.mark = "`"
	l.skipASCII(1)
	if l.peekByte(0) == '`' {
		n.mark = "``"
		l.skipASCII(1)
	}
	if c := l.peekByte(0); (c == '-' || c == '+') && isDigit(rune(l.peekByte(1))) {
		return refuse(ReasonNumber, l.at, "a sign right after ` could belong to the precision or be an operator: put a space before it")
	}
	if !isDigit(rune(l.peekByte(0))) {
		if n.mark == "``" {
			return refuse(ReasonNumber, l.at, "a number of digits must follow ``")
		}
		return nil
	}
	text := l.digits()
	if l.peekByte(0) == '.' && l.peekByte(1) != '.' {
		l.skipASCII(1)
		text += "." + l.digits()
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > 32 {
		return refuse(ReasonNumber, l.at, "the precision of a number must be a plain number of digits")
	}
	n.precision = strconv.FormatFloat(value, 'f', -1, 64)
	return nil
}

// exponent reads *^-3.
func (l *lexer) exponent(n *literal) error {
	if l.peekByte(0) != '*' || l.peekByte(1) != '^' {
		return nil
	}
	l.skipASCII(2)
	sign := ""
	if c := l.peekByte(0); c == '-' || c == '+' {
		sign = string(c)
		l.skipASCII(1)
	}
	text := l.digits()
	value, err := strconv.Atoi(sign + text)
	if text == "" || err != nil || len(trimZeros(text)) > 15 {
		return refuse(ReasonNumber, l.at, "a whole number of at most 15 digits must follow *^")
	}
	n.exponent = value
	return nil
}

// integer gives an Integer, or Rational[p, q] for a negative exponent.
func (l *lexer) integer(n literal) (*Expr, error) {
	if n.base == 10 && n.exponent == 0 {
		return &Expr{Kind: Integer, Text: trimZeros(n.whole), Pos: n.pos}, nil
	}
	size := n.exponent
	if size < 0 {
		size = -size
	}
	if len(n.whole) > maxConvertedDigits || size > maxConvertedDigits {
		return nil, refuse(ReasonNumber, n.pos, "a number in another base or with an exponent may have %d digits at most", maxConvertedDigits)
	}
	value, ok := new(big.Int).SetString(n.whole, n.base)
	if !ok {
		return nil, refuse(ReasonNumber, n.pos, "not a number of base %d", n.base)
	}
	scale := new(big.Int).Exp(big.NewInt(int64(n.base)), big.NewInt(int64(size)), nil)
	var made *Expr
	if n.exponent >= 0 {
		made = &Expr{Kind: Integer, Text: value.Mul(value, scale).String(), Pos: n.pos}
		l.computedDigits += len(made.Text)
	} else if ratio := new(big.Rat).SetFrac(value, scale); ratio.IsInt() {
		made = &Expr{Kind: Integer, Text: ratio.Num().String(), Pos: n.pos}
	} else {
		made = callAt(n.pos, "Rational",
			&Expr{Kind: Integer, Text: ratio.Num().String(), Pos: n.pos},
			&Expr{Kind: Integer, Text: ratio.Denom().String(), Pos: n.pos})
		l.computedDigits += len(made.Args[0].Text) + len(made.Args[1].Text)
	}
	if l.computedDigits > maxComputedDigits {
		return nil, refuse(ReasonNumber, n.pos, "the numbers up to here have more than %d digits when written out", maxComputedDigits)
	}
	return made, nil
}

// real gives a Real. Machine numbers become the shortest decimal that reads back as the same 64-bit number; others keep
// their digits, precision mark and exponent.
func (n literal) real() (*Expr, error) {
	text := ""
	significant := len(strings.TrimLeft(n.whole+n.fraction, "0"))
	machine := n.precision == "" && (n.mark == "`" || significant <= machineDigits)
	if n.base != 10 {
		if !machine || len(n.whole)+len(n.fraction) > maxConvertedDigits {
			return nil, refuse(ReasonUnsupported, n.pos, "a number in another base is read as an integer or a machine number only: leave the precision off")
		}
		value, err := n.basedValue()
		if err != nil {
			return nil, err
		}
		text = machineReal(value)
	} else {
		text = n.canonicalReal(machine)
	}
	return &Expr{Kind: Real, Text: text, Pos: n.pos}, nil
}

// basedValue is the machine number nearest to a literal of another base.
func (n literal) basedValue() (float64, error) {
	digits, ok := new(big.Int).SetString(n.whole+n.fraction, n.base)
	power := n.exponent - len(n.fraction)
	size := max(power, -power)
	if !ok || size > maxConvertedDigits {
		return 0, refuse(ReasonNumber, n.pos, "a number in another base may have %d digits at most", maxConvertedDigits)
	}
	scale := new(big.Int).Exp(big.NewInt(int64(n.base)), big.NewInt(int64(size)), nil)
	ratio := new(big.Rat).SetInt(digits)
	if power < 0 {
		ratio.SetFrac(digits, scale)
	} else {
		ratio.SetInt(digits.Mul(digits, scale))
	}
	value, _ := ratio.Float64()
	if value-value != 0 {
		return 0, refuse(ReasonNumber, n.pos, "the number is too large for a machine number")
	}
	return value, nil
}

// canonicalReal is the text of a decimal Real. Two literals that denote the same number to the same precision get the
// same text, and the text reads back as itself:
//   - a machine number: its shortest decimal, as 1.5, 1. or 1.5*^20;
//   - with an explicit precision or accuracy: digits without superfluous zeros, as 1.5`20 or 1.5“20*^3;
//   - with more than 17 digits and no mark: the digits as written.
func (n literal) canonicalReal(machine bool) string {
	whole, fraction := trimZeros(n.whole), n.fraction
	exponent := ""
	if n.exponent != 0 {
		exponent = "*^" + strconv.Itoa(n.exponent)
	}
	if machine {
		power := "e" + strconv.Itoa(n.exponent)
		value, err := strconv.ParseFloat(whole+"."+fraction+power, 64)
		vanished := value == 0 && strings.Trim(whole+fraction, "0") != ""
		if err == nil && !vanished {
			return machineReal(value)
		}
		return whole + "." + strings.TrimRight(fraction, "0") + n.mark + exponent
	}
	if n.mark == "" {
		return whole + "." + fraction + exponent
	}
	return whole + "." + strings.TrimRight(fraction, "0") + n.mark + n.precision + exponent
}

// machineReal is the shortest decimal of a machine number: plain near one, with *^ elsewhere.
func machineReal(value float64) string {
	scientific := strconv.FormatFloat(value, 'e', -1, 64)
	mantissa, power, _ := strings.Cut(scientific, "e")
	exponent, _ := strconv.Atoi(power)
	if value == 0 || -6 < exponent && exponent < 16 {
		return withPoint(strconv.FormatFloat(value, 'f', -1, 64))
	}
	return withPoint(mantissa) + "*^" + strconv.Itoa(exponent)
}

func withPoint(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + "."
}

// trimZeros drops leading zeros but the last digit.
func trimZeros(digits string) string {
	trimmed := strings.TrimLeft(digits, "0")
	if trimmed == "" {
		return "0"
	}
	return trimmed
}
