package export

import (
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the JSON of one line by RFC 8259. Its methods return nil or an
// Error without a line number.
type scanner struct {
	line  []byte
	pos   int
	depth int
	text  []byte // buffer for strings that have escapes
	max   int    // largest depth of nested values
}

func (s *scanner) reset(line []byte) { s.line, s.pos, s.depth = line, 0, 0 }

func (s *scanner) malformed(what string) *Error {
	return fail(BadJSON, "%s at column %d", what, s.pos+1)
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.line) {
		switch s.line[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *scanner) peek() byte {
	s.skipSpace()
	if s.pos < len(s.line) {
		return s.line[s.pos]
	}
	return 0
}

func (s *scanner) expect(c byte) *Error {
	if s.peek() != c {
		return s.malformed("expected '" + string(rune(c)) + "'")
	}
	s.pos++
	return nil
}

// object reads an object and calls field for each key, which has to read the value. The key is valid until then.
func (s *scanner) object(field func(key []byte) *Error) *Error {
	if err := s.openBracket('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.closeBracket()
	}
	for {
		key, err := s.string()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.closeBracket()
		default:
			return s.malformed("expected ',' or '}'")
		}
	}
}

// array reads an array and calls item for each element, which has to read it.
func (s *scanner) array(item func() *Error) *Error {
	if err := s.openBracket('['); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.closeBracket()
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.closeBracket()
		default:
			return s.malformed("expected ',' or ']'")
		}
	}
}

func (s *scanner) openBracket(c byte) *Error {
	if s.peek() != c {
		if s.pos < len(s.line) && (s.line[s.pos] == '{' || s.line[s.pos] == '[' || s.line[s.pos] == '"' || s.line[s.pos] == '-' ||
			s.line[s.pos] >= '0' && s.line[s.pos] <= '9' || s.line[s.pos] == 't' || s.line[s.pos] == 'f' || s.line[s.pos] == 'n') {
			return fail(BadRecord, "expected '%c' at column %d", c, s.pos+1)
		}
		return s.malformed("expected '" + string(rune(c)) + "'")
	}
	s.pos++
	s.depth++
	if s.depth > s.max {
		return fail(TooLarge, "values are nested deeper than %d", s.max)
	}
	return nil
}

func (s *scanner) closeBracket() *Error {
	s.pos++
	s.depth--
	return nil
}

// string reads a string. The result shares memory with the line or the scanner and is valid until the next string.
func (s *scanner) string() ([]byte, *Error) {
	if s.peek() != '"' {
		if c := s.peek(); c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n' {
			return nil, fail(BadRecord, "expected a string at column %d", s.pos+1)
		}
		return nil, s.malformed("expected a string")
	}
	s.pos++
	start := s.pos
	for s.pos < len(s.line) {
		switch c := s.line[s.pos]; {
		case c == '"':
			text := s.line[start:s.pos]
			s.pos++
			return text, nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return nil, s.malformed("control character in a string")
		default:
			s.pos++
		}
	}
	return nil, s.malformed("unterminated string")
}

// escaped reads the rest of a string that has escapes.
func (s *scanner) escaped(start int) ([]byte, *Error) {
	s.text = append(s.text[:0], s.line[start:s.pos]...)
	for s.pos < len(s.line) {
		c := s.line[s.pos]
		switch {
		case c == '"':
			s.pos++
			return s.text, nil
		case c < 0x20:
			return nil, s.malformed("control character in a string")
		case c != '\\':
			s.text = append(s.text, c)
			s.pos++
			continue
		}
		s.pos++
		if s.pos >= len(s.line) {
			break
		}
		c = s.line[s.pos]
		s.pos++
		switch c {
		case '"', '\\', '/':
			s.text = append(s.text, c)
		case 'b':
			s.text = append(s.text, '\b')
		case 'f':
			s.text = append(s.text, '\f')
		case 'n':
			s.text = append(s.text, '\n')
		case 'r':
			s.text = append(s.text, '\r')
		case 't':
			s.text = append(s.text, '\t')
		case 'u':
			r, ok := s.hex4()
			if !ok {
				return nil, s.malformed("bad \\u escape")
			}
			if utf16.IsSurrogate(r) {
				if s.pos+1 >= len(s.line) || s.line[s.pos] != '\\' || s.line[s.pos+1] != 'u' {
					return nil, s.malformed("lone surrogate")
				}
				s.pos += 2
				low, ok := s.hex4()
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					return nil, s.malformed("lone surrogate")
				}
			}
			s.text = utf8.AppendRune(s.text, r)
		default:
			return nil, s.malformed("bad escape")
		}
	}
	return nil, s.malformed("unterminated string")
}

func (s *scanner) hex4() (rune, bool) {
	if s.pos+4 > len(s.line) {
		return 0, false
	}
	var r rune
	for _, c := range s.line[s.pos : s.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.pos += 4
	return r, true
}

// digits reads a natural number and returns its digits: no sign, fraction, exponent or leading zero.
func (s *scanner) digits() ([]byte, *Error) {
	if c := s.peek(); c < '0' || c > '9' {
		if c == '"' || c == '{' || c == '[' || c == '-' || c == 't' || c == 'f' || c == 'n' {
			return nil, fail(BadRecord, "expected a natural number at column %d", s.pos+1)
		}
		return nil, s.malformed("expected a number")
	}
	start := s.pos
	for s.pos < len(s.line) && s.line[s.pos] >= '0' && s.line[s.pos] <= '9' {
		s.pos++
	}
	text := s.line[start:s.pos]
	if len(text) > 1 && text[0] == '0' {
		return nil, s.malformed("number with a leading zero")
	}
	if s.pos < len(s.line) {
		switch s.line[s.pos] {
		case '.', 'e', 'E':
			return nil, fail(BadRecord, "expected a natural number at column %d", start+1)
		}
	}
	return text, nil
}

// beyond stands for every number that is not smaller. It is the index of nothing.
const beyond = 1<<63 - 1

// number reads a natural number; one beyond 63 bits is read as the constant beyond.
func (s *scanner) number() (uint64, *Error) {
	text, err := s.digits()
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, c := range text {
		if n > (beyond-9)/10 {
			return beyond, nil
		}
		n = n*10 + uint64(c-'0')
	}
	return n, nil
}

func (s *scanner) boolean() (bool, *Error) {
	switch s.peek() {
	case 't':
		return true, s.keyword("true")
	case 'f':
		return false, s.keyword("false")
	}
	return false, fail(BadRecord, "expected true or false at column %d", s.pos+1)
}

func (s *scanner) keyword(w string) *Error {
	if len(s.line)-s.pos < len(w) || string(s.line[s.pos:s.pos+len(w)]) != w {
		return s.malformed("unknown word")
	}
	s.pos += len(w)
	return nil
}

// skipValue reads any value and discards it.
func (s *scanner) skipValue() *Error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(func([]byte) *Error { return s.skipValue() })
	case c == '[':
		return s.array(s.skipValue)
	case c == '"':
		_, err := s.string()
		return err
	case c == 't':
		return s.keyword("true")
	case c == 'f':
		return s.keyword("false")
	case c == 'n':
		return s.keyword("null")
	case c == '-' || c >= '0' && c <= '9':
		return s.anyNumber()
	}
	return s.malformed("expected a value")
}

func (s *scanner) anyNumber() *Error {
	if s.line[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.line) && s.line[s.pos] == '0' {
		s.pos++
	} else if !s.digitRun() {
		return s.malformed("bad number")
	}
	if s.pos < len(s.line) && s.line[s.pos] == '.' {
		s.pos++
		if !s.digitRun() {
			return s.malformed("bad number")
		}
	}
	if s.pos < len(s.line) && (s.line[s.pos] == 'e' || s.line[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.line) && (s.line[s.pos] == '+' || s.line[s.pos] == '-') {
			s.pos++
		}
		if !s.digitRun() {
			return s.malformed("bad number")
		}
	}
	return nil
}

func (s *scanner) digitRun() bool {
	start := s.pos
	for s.pos < len(s.line) && s.line[s.pos] >= '0' && s.line[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// expectEnd refuses anything but white space after the value.
func (s *scanner) expectEnd() *Error {
	if s.peek() != 0 || s.pos < len(s.line) {
		return s.malformed("something follows the object")
	}
	return nil
}
