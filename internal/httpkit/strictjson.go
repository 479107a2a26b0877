package httpkit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxJSONDepth bounds how deep a body may nest; nothing the service takes is deeper than five.
const maxJSONDepth = 64

// JSONError says why bytes are refused as a request body.
type JSONError struct {
	OffsetBytes int64
	Reason      string
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("%s (at byte %d)", e.Reason, e.OffsetBytes)
}

// CheckJSON accepts exactly one JSON value (RFC 8259) that means the same to
// every reader (RFC 7493, I-JSON): UTF-8 without a byte order mark, no lone
// surrogates, no U+0000, no key twice in one object, nothing after it, and no
// deeper than maxJSONDepth. It never recurses and stops at the first fault.
func CheckJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &JSONError{0, "the body starts with a byte order mark; send UTF-8 without one"}
	}
	// jsontext refuses repeated keys, invalid UTF-8 and lone surrogates by default.
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	for values := 0; ; {
		token, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case err != nil:
			return jsonError(data, decoder, err)
		case decoder.StackDepth() > maxJSONDepth:
			return &JSONError{decoder.InputOffset(), fmt.Sprintf("the body nests deeper than %d levels", maxJSONDepth)}
		case token.Kind() == '"' && strings.Contains(token.String(), "\x00"):
			return &JSONError{decoder.InputOffset(), `the character \u0000 is not accepted`}
		}
		if decoder.StackDepth() == 0 {
			if values++; values > 1 {
				return &JSONError{decoder.InputOffset(), "the body is not one JSON value: another one follows it"}
			}
		}
	}
}

// jsonError says in our own words what the decoder refused.
func jsonError(data []byte, decoder *jsontext.Decoder, err error) error {
	fault, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok: // it ended before anything began
		return &JSONError{decoder.InputOffset(), "the body is not one JSON value: it is empty"}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &JSONError{fault.ByteOffset, fmt.Sprintf("the key %q stands twice in one object", truncate(fault.JSONPointer.LastToken()))}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &JSONError{fault.ByteOffset, "the body is cut short: something in it has no end"}
	case strings.Contains(fault.Err.Error(), "surrogate"):
		return &JSONError{fault.ByteOffset, "the body is not one JSON value: a string has half of a surrogate pair"}
	}
	at := min(max(fault.ByteOffset, 0), int64(len(data)))
	switch r, size := utf8.DecodeRune(data[at:]); {
	case r == utf8.RuneError && size == 1 || strings.Contains(fault.Err.Error(), "UTF-8"):
		return &JSONError{fault.ByteOffset, "the body is not UTF-8"}
	case size == 0:
		return &JSONError{fault.ByteOffset, "the body is cut short"}
	case r == '\\':
		return &JSONError{fault.ByteOffset, `the body is not one JSON value: an escape in a string is none of \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits`}
	case r < ' ':
		return &JSONError{fault.ByteOffset, fmt.Sprintf("the body is not one JSON value: the control character U+%04X must be written \\u%04x in a string, and is not wanted outside one", r, r)}
	default:
		return &JSONError{fault.ByteOffset, fmt.Sprintf("the body is not one JSON value: %q is not wanted here", r)}
	}
}

// truncate keeps foreign text short enough to repeat in an answer.
func truncate(s string) string { return shorten(s, 64) }

// shorten keeps at most most bytes of s, and an ellipsis where that is not all.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// maxIntegerDigits is how many digits an integer of 64 bits has at most.
const maxIntegerDigits = 19

// writeIntegersPlainly returns data, which CheckJSON accepts, with each integer of at most
// maxIntegerDigits digits written without fraction and exponent. 1.0 and 1e3 are integers
// (RFC 8259 §6), which encoding/json refuses to decode into one.
func writeIntegersPlainly(data []byte) []byte {
	if !bytes.ContainsAny(data, ".eE") {
		return data
	}
	plain := make([]byte, 0, len(data))
	for len(data) > 0 {
		end := 1
		switch c := data[0]; {
		case c == '"':
			for ; data[end] != '"'; end++ {
				if data[end] == '\\' {
					end++
				}
			}
			end++
			plain = append(plain, data[:end]...)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(data) && strings.IndexByte("+-.eE0123456789", data[end]) >= 0 {
				end++
			}
			plain = append(plain, plainInteger(string(data[:end]))...)
		default:
			plain = append(plain, c)
		}
		data = data[end:]
	}
	return plain
}

// plainInteger writes a JSON number without fraction and exponent. One that is no integer,
// or has more than maxIntegerDigits digits, is returned as it is.
func plainInteger(number string) string {
	unsigned, negative := strings.CutPrefix(strings.ToLower(number), "-")
	mantissa, exponent, _ := strings.Cut(unsigned, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil || max(power, -power) > MaxJSONBytes { // out of the range of every number in a body
		return number
	}
	all := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(all, "0")
	zeros := power - len(fraction) + len(all) - len(digits) // to write after the digits; negative: some are behind the point
	switch {
	case digits == "":
		digits, zeros = "0", 0
	case zeros < 0 || len(digits)+zeros > maxIntegerDigits:
		return number
	}
	if negative {
		digits = "-" + digits
	}
	return digits + strings.Repeat("0", zeros)
}
