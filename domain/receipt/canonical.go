package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what Canonical reads: bytes of the text, and nested objects and arrays.
const (
	MaxCanonicalBytes = 8 << 20
	MaxCanonicalDepth = 64
)

// NotCanonicalisableError says why bytes have no canonical form.
type NotCanonicalisableError struct{ Reason string }

func (e *NotCanonicalisableError) Error() string { return "no canonical form: " + e.Reason }

func refuse(format string, args ...any) error {
	return &NotCanonicalisableError{Reason: fmt.Sprintf(format, args...)}
}

// Canonical returns the canonical serialization of one JSON value (interface §2.6):
// keys sorted by code point, no whitespace, everything outside printable ASCII
// escaped as lower-case \uXXXX. Duplicate keys, lone surrogates and bytes that
// are not UTF-8 are refused, because two readers could disagree on them.
func Canonical(raw []byte) ([]byte, error) {
	if len(raw) > MaxCanonicalBytes {
		return nil, refuse("longer than %d bytes", MaxCanonicalBytes)
	}
	if !utf8.Valid(raw) {
		return nil, refuse("not UTF-8")
	}
	if err := refuseLoneSurrogates(raw); err != nil {
		return nil, err
	}
	c := canonicaliser{in: json.NewDecoder(bytes.NewReader(raw))}
	c.in.UseNumber()
	if err := c.value(0); err != nil {
		return nil, err
	}
	if _, err := c.in.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse("more than one JSON value")
	}
	return c.out, nil
}

// CanonicalOf is Canonical of a Go value's JSON.
func CanonicalOf(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Canonical(raw)
}

type canonicaliser struct {
	in  *json.Decoder
	out []byte
}

func (c *canonicaliser) value(depth int) error {
	if depth > MaxCanonicalDepth {
		return refuse("nested deeper than %d", MaxCanonicalDepth)
	}
	token, err := c.in.Token()
	if err != nil {
		return refuse("not JSON: %v", err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return c.object(depth)
		}
		return c.array(depth)
	case string:
		c.out = appendString(c.out, t)
	case json.Number:
		number, err := canonicalNumber(t.String())
		if err != nil {
			return err
		}
		c.out = append(c.out, number...)
	case bool:
		c.out = strconv.AppendBool(c.out, t)
	case nil:
		c.out = append(c.out, "null"...)
	}
	return nil
}

func (c *canonicaliser) array(depth int) error {
	c.out = append(c.out, '[')
	for first := true; c.in.More(); first = false {
		if !first {
			c.out = append(c.out, ',')
		}
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
	if _, err := c.in.Token(); err != nil {
		return refuse("not JSON: %v", err)
	}
	c.out = append(c.out, ']')
	return nil
}

func (c *canonicaliser) object(depth int) error {
	type member struct {
		key   string
		value []byte
	}
	var members []member
	outer := c.out
	for c.in.More() {
		token, err := c.in.Token()
		if err != nil {
			return refuse("not JSON: %v", err)
		}
		c.out = nil
		if err := c.value(depth + 1); err != nil {
			return err
		}
		members = append(members, member{token.(string), c.out})
	}
	if _, err := c.in.Token(); err != nil {
		return refuse("not JSON: %v", err)
	}
	// Byte order of UTF-8 is code point order.
	sort.Slice(members, func(i, j int) bool { return members[i].key < members[j].key })
	c.out = append(outer, '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return refuse("key %q twice", m.key)
			}
			c.out = append(c.out, ',')
		}
		c.out = appendString(c.out, m.key)
		c.out = append(c.out, ':')
		c.out = append(c.out, m.value...)
	}
	c.out = append(c.out, '}')
	return nil
}

// appendString writes s as Python's json.dumps does with ensure_ascii.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		out = append(out, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\b':
			out = append(out, `\b`...)
		case r == '\f':
			out = append(out, `\f`...)
		case r >= ' ' && r < 0x7f:
			out = append(out, byte(r))
		case r <= 0xffff:
			unit(r)
		default:
			r -= 0x10000
			unit(0xd800 + r>>10)
			unit(0xdc00 + r&0x3ff)
		}
	}
	return append(out, '"')
}

// canonicalNumber writes a number as Python's json.loads followed by json.dumps
// would: integers of any size as they are, others as float.__repr__. The service's own
// records hold integers only; other numbers occur in records of other services.
func canonicalNumber(literal string) (string, error) {
	if !strings.ContainsAny(literal, ".eE") {
		n, ok := new(big.Int).SetString(literal, 10)
		if !ok {
			return "", refuse("number %q", literal)
		}
		return n.String(), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		return "", refuse("number %q is outside double precision", literal)
	}
	return pythonFloat(f), nil
}

// pythonFloat is repr() of a finite float: shortest digits that round-trip,
// exponent form below 1e-4 and from 1e16.
func pythonFloat(f float64) string {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// refuseLoneSurrogates looks at the escapes of raw JSON, which encoding/json
// would replace silently.
func refuseLoneSurrogates(raw []byte) error {
	pendingHigh := false
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			if pendingHigh {
				return refuse("a lone surrogate escape")
			}
			continue
		}
		if raw[i+1] != 'u' || i+6 > len(raw) {
			if pendingHigh {
				return refuse("a lone surrogate escape")
			}
			i++
			continue
		}
		u, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		if err != nil {
			return refuse("a malformed \\u escape")
		}
		high, low := u >= 0xd800 && u < 0xdc00, u >= 0xdc00 && u < 0xe000
		if low != pendingHigh {
			return refuse("a lone surrogate escape")
		}
		pendingHigh = high
		i += 5
	}
	if pendingHigh {
		return refuse("a lone surrogate escape")
	}
	return nil
}
