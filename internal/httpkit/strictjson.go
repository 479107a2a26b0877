package httpkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
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
// deeper than maxJSONDepth. It looks at the raw bytes first, because a decoder
// would silently replace what it cannot represent.
func CheckJSON(data []byte) error {
	if err := checkText(data); err != nil {
		return err
	}
	return checkStructure(data)
}

// checkText refuses bytes that are not UTF-8 and escapes that are not characters.
func checkText(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &JSONError{0, "the body starts with a byte order mark; send UTF-8 without one"}
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return &JSONError{int64(i), "the body is not UTF-8"}
		}
		i += size
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++ // what follows a backslash is never itself the start of an escape
		if i >= len(data) || data[i] != 'u' {
			continue
		}
		unit, ok := hexUnit(data, i+1)
		if !ok {
			continue // not JSON at all: the structure check says where
		}
		switch {
		case unit == 0:
			return &JSONError{int64(i - 1), `the character \u0000 is not accepted`}
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return &JSONError{int64(i - 1), "a low surrogate stands alone"}
		case unit >= 0xD800 && unit <= 0xDBFF:
			low, paired := lowSurrogate(data, i+5)
			if !paired {
				return &JSONError{int64(i - 1), "a high surrogate stands alone"}
			}
			i = low
		}
	}
	return nil
}

// lowSurrogate reports whether \uDC00..\uDFFF starts at i, and the index of its last byte.
func lowSurrogate(data []byte, i int) (last int, ok bool) {
	if i+5 >= len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return 0, false
	}
	unit, ok := hexUnit(data, i+2)
	return i + 5, ok && unit >= 0xDC00 && unit <= 0xDFFF
}

// hexUnit reads four hexadecimal digits.
func hexUnit(data []byte, i int) (unit uint16, ok bool) {
	if i+4 > len(data) {
		return 0, false
	}
	for _, c := range data[i : i+4] {
		unit <<= 4
		switch {
		case c >= '0' && c <= '9':
			unit |= uint16(c - '0')
		case c >= 'a' && c <= 'f':
			unit |= uint16(c-'a') + 10
		case c >= 'A' && c <= 'F':
			unit |= uint16(c-'A') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}

// level is one open object or array.
type level struct {
	keys      map[string]bool // nil in an array
	expectKey bool
}

// checkStructure refuses what is not one JSON value, then walks its tokens
// without recursion for depth and repeated keys.
func checkStructure(data []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return structureError(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var open []level
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return structureError(err)
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == '}' || t == ']' {
				open = open[:top]
				continue
			}
			if top >= 0 {
				open[top].valueSeen()
			}
			if len(open) == maxJSONDepth {
				return &JSONError{decoder.InputOffset(), fmt.Sprintf("the body nests deeper than %d levels", maxJSONDepth)}
			}
			open = append(open, newLevel(t))
		case string:
			if top < 0 {
				continue
			}
			if !open[top].expectKey {
				open[top].valueSeen()
				continue
			}
			if open[top].keys[t] {
				return &JSONError{decoder.InputOffset(), fmt.Sprintf("the key %q stands twice in one object", clip(t))}
			}
			open[top].keys[t] = true
			open[top].expectKey = false
		default:
			if top >= 0 {
				open[top].valueSeen()
			}
		}
	}
}

func newLevel(delim json.Delim) level {
	if delim == '{' {
		return level{keys: map[string]bool{}, expectKey: true}
	}
	return level{}
}

// valueSeen: after a value an object expects a key again.
func (l *level) valueSeen() { l.expectKey = l.keys != nil }

func structureError(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &JSONError{syntax.Offset, "the body is not one JSON value: " + syntax.Error()}
	}
	return &JSONError{0, "the body is not one JSON value: " + err.Error()}
}

// clip keeps foreign text short enough to repeat in an answer.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
