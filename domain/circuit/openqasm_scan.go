package circuit

import (
	"strconv"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenHardware // $0
	tokenSymbol
)

type token struct {
	kind tokenKind
	text string
	line int
}

func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the program"
	case tokenString:
		return strconv.Quote(clipText(t.text))
	}
	return clipText(t.text)
}

func itoa(i int) string { return strconv.Itoa(i) }

// scanOpenQASM splits source into tokens, without comments; the last one is tokenEnd.
func scanOpenQASM(source []byte) ([]token, error) {
	if !utf8.Valid(source) {
		return nil, refuse(CodeMalformed, "the program is not UTF-8 text")
	}
	s := scanner{text: string(source), line: 1}
	var tokens []token
	for {
		t, err := s.token()
		if err != nil {
			return nil, atLine(err, s.line)
		}
		tokens = append(tokens, t)
		if t.kind == tokenEnd {
			return tokens, nil
		}
	}
}

type scanner struct {
	text string
	at   int
	line int
}

func (s *scanner) byte(ahead int) byte {
	if s.at+ahead < len(s.text) {
		return s.text[s.at+ahead]
	}
	return 0
}

func (s *scanner) token() (token, error) {
	if err := s.skipSpace(); err != nil {
		return token{}, err
	}
	if s.at == len(s.text) {
		return token{kind: tokenEnd, line: s.line}, nil
	}
	start, c := s.at, s.byte(0)
	switch {
	case isLetter(c) || c >= utf8.RuneSelf:
		for isLetter(s.byte(0)) || isDigit(s.byte(0)) || s.byte(0) >= utf8.RuneSelf {
			s.at++
		}
		return s.tokenFrom(tokenName, start), nil
	case isDigit(c) || c == '.' && isDigit(s.byte(1)):
		s.number()
		return s.tokenFrom(tokenNumber, start), nil
	case c == '$' && isDigit(s.byte(1)):
		for s.at++; isDigit(s.byte(0)); s.at++ {
		}
		return s.tokenFrom(tokenHardware, start), nil
	case c == '"' || c == '\'':
		for s.at++; s.byte(0) != c; s.at++ {
			if s.at >= len(s.text) || s.byte(0) == '\n' {
				return token{}, refuse(CodeMalformed, "a string does not end on its line")
			}
		}
		s.at++
		return token{kind: tokenString, text: s.text[start+1 : s.at-1], line: s.line}, nil
	case c == '-' && s.byte(1) == '>', c == '*' && s.byte(1) == '*':
		s.at += 2
		return s.tokenFrom(tokenSymbol, start), nil
	}
	const symbols = "[](){};,=+-*/@:^"
	for i := range len(symbols) {
		if symbols[i] == c {
			s.at++
			return s.tokenFrom(tokenSymbol, start), nil
		}
	}
	return token{}, refuse(CodeMalformed, "unexpected character %s", strconv.QuoteRune(rune(c)))
}

func (s *scanner) tokenFrom(kind tokenKind, start int) token {
	return token{kind: kind, text: s.text[start:s.at], line: s.line}
}

// number reads digits with an optional fraction and exponent; underscores separate digits.
func (s *scanner) number() {
	digits := func() {
		for isDigit(s.byte(0)) || s.byte(0) == '_' && isDigit(s.byte(1)) {
			s.at++
		}
	}
	digits()
	if s.byte(0) == '.' {
		s.at++
		digits()
	}
	if c := s.byte(0); c == 'e' || c == 'E' {
		sign := 1
		if c := s.byte(1); c == '+' || c == '-' {
			sign = 2
		}
		if isDigit(s.byte(sign)) {
			s.at += sign
			digits()
		}
	}
}

func (s *scanner) skipSpace() error {
	for s.at < len(s.text) {
		switch c := s.byte(0); {
		case c == '\n':
			s.line++
			s.at++
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case c == '/' && s.byte(1) == '/':
			for s.at < len(s.text) && s.byte(0) != '\n' {
				s.at++
			}
		case c == '/' && s.byte(1) == '*':
			for s.at += 2; s.byte(0) != '*' || s.byte(1) != '/'; s.at++ {
				if s.at >= len(s.text) {
					return refuse(CodeMalformed, "a comment does not end")
				}
				if s.byte(0) == '\n' {
					s.line++
				}
			}
			s.at += 2
		default:
			return nil
		}
	}
	return nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
