package workbench

import (
	"fmt"
	"html/template"
	"math"
	"math/big"
	"reflect"
	"strconv"

	"golang.org/x/text/currency"
)

// Numbers stand in a page as they are, with their value, so that the script writes them in the reader's own form (Intl.NumberFormat).

// number is a value with its text, and how the script is to write it: count, duration (of milliseconds), bytes or price.
func number(as, value, text string) template.HTML {
	return template.HTML(`<data data-as="` + as + `" value="` + template.HTMLEscapeString(value) + `">` + template.HTMLEscapeString(text) + `</data>`) //nolint:gosec // escaped
}

// integer is a whole number of any type, or its digits, as headers have them.
func integer(value any) (int64, bool) {
	switch v := reflect.Indirect(reflect.ValueOf(value)); {
	case v.CanInt():
		return v.Int(), true
	case v.Kind() == reflect.String:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// count is a number of things. What is no whole number stands as it is.
func count(value any) template.HTML {
	n, is := integer(value)
	if !is {
		return template.HTML(template.HTMLEscapeString(fmt.Sprint(value))) //nolint:gosec // escaped
	}
	digits := strconv.FormatInt(n, 10)
	return number("count", digits, digits)
}

// duration is a time that something took or may take, in milliseconds.
func duration(ms int64) template.HTML {
	return number("duration", strconv.FormatInt(ms, 10), spanInWords(ms))
}

// bytesInWords is a size in bytes.
func bytesInWords(n int64) template.HTML {
	digits := strconv.FormatInt(n, 10)
	return number("bytes", digits, digits+" bytes")
}

// price is an amount in the currency's smallest unit, which is a hundredth, a thousandth or the unit itself (ISO 4217).
func price(minor int64, code string) template.HTML {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return count(minor) + template.HTML(template.HTMLEscapeString(" of the smallest unit of "+code)) //nolint:gosec // escaped
	}
	digits, _ := currency.Standard.Rounding(unit)
	value := big.NewRat(minor, int64(math.Pow10(digits))).FloatString(digits)
	return template.HTML(`<data data-as="price" data-currency="` + unit.String() + `" value="` + value + `">` + value + " " + unit.String() + `</data>`) //nolint:gosec // a known currency and digits
}

// spanInWords is a time in milliseconds.
func spanInWords(ms int64) string {
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " s"
	case ms < 3_600_000:
		return besides(ms/60_000, "min", ms/1000%60, "s")
	}
	return besides(ms/3_600_000, "h", ms/60_000%60, "min")
}

// besides is a number of units, and of smaller ones where there are any.
func besides(n int64, unit string, rest int64, smaller string) string {
	words := strconv.FormatInt(n, 10) + " " + unit
	if rest > 0 {
		words += " " + strconv.FormatInt(rest, 10) + " " + smaller
	}
	return words
}
