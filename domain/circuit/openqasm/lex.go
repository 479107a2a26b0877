package openqasm

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenInteger
	tokenFloat
	tokenTiming    // 10ns
	tokenImaginary // 2im
	tokenString
	tokenHardware // $0
	tokenPragma   // to the end of its line
	tokenSymbol
)

type token struct {
	kind tokenKind
	text string
	at   int // byte offset
}

func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the program"
	case tokenString:
		return strconv.Quote(clip(t.text))
	}
	return clip(t.text)
}

// lexer splits a program into tokens, on demand: nothing is kept, so a large program costs no memory here.
type lexer struct {
	text string
	at   int
}

// symbols by length, longest first.
var symbols = [...][]string{
	{"<<=", ">>=", "**="},
	{"->", "++", "**", "||", "&&", "==", "!=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "%=", ">=", "<=", ">>", "<<"},
}

const singleSymbols = "[](){}:;.,=+-*/%|&^@~!<>"

func (l *lexer) byte(ahead int) byte {
	if l.at+ahead < len(l.text) {
		return l.text[l.at+ahead]
	}
	return 0
}

func (l *lexer) next() token {
	l.skipSpace()
	start := l.at
	if start == len(l.text) {
		return token{kind: tokenEnd, at: start}
	}
	c := l.byte(0)
	switch {
	case isDigit(c) || c == '.' && isDigit(l.byte(1)):
		return l.from(l.number(), start)
	case c == '$' && isDigit(l.byte(1)):
		for l.at++; isDigit(l.byte(0)); l.at++ {
		}
		return l.from(tokenHardware, start)
	case c == '"' || c == '\'':
		return l.quoted(c)
	case strings.HasPrefix(l.text[start:], "#dim"):
		l.at += len("#dim")
		return l.from(tokenSymbol, start)
	case c == '#':
		if !strings.HasPrefix(l.text[start:], "#pragma") {
			fail(CodeMalformed, start, "unexpected character '#'")
		}
		l.toLineEnd()
		return l.from(tokenPragma, start)
	}
	if r, size := utf8.DecodeRuneInString(l.text[start:]); isNameStart(r) {
		l.at += size
		for r, size = utf8.DecodeRuneInString(l.text[l.at:]); isNameStart(r) || r >= '0' && r <= '9'; r, size = utf8.DecodeRuneInString(l.text[l.at:]) {
			l.at += size
		}
		if l.text[start:l.at] == "pragma" {
			l.toLineEnd()
			return l.from(tokenPragma, start)
		}
		return l.from(tokenName, start)
	}
	return l.symbol()
}

func (l *lexer) from(kind tokenKind, start int) token {
	return token{kind, l.text[start:l.at], start}
}

func (l *lexer) symbol() token {
	start := l.at
	for i, group := range symbols {
		for _, s := range group {
			if strings.HasPrefix(l.text[start:], s) {
				l.at += 3 - i
				return token{tokenSymbol, s, start}
			}
		}
	}
	if strings.IndexByte(singleSymbols, l.text[start]) < 0 {
		r, _ := utf8.DecodeRuneInString(l.text[start:])
		fail(CodeMalformed, start, "unexpected character %s", strconv.QuoteRune(r))
	}
	l.at++
	return l.from(tokenSymbol, start)
}

func (l *lexer) quoted(quote byte) token {
	start := l.at
	for l.at++; l.byte(0) != quote; l.at++ {
		if l.at >= len(l.text) || l.byte(0) == '\n' {
			fail(CodeMalformed, start, "a string does not end on its line")
		}
	}
	l.at++
	return token{tokenString, l.text[start+1 : l.at-1], start}
}

// number reads an integer of any base, a real number, a duration or an imaginary number. Underscores separate digits.
func (l *lexer) number() tokenKind {
	start := l.at
	if l.byte(0) == '0' && strings.IndexByte("bBoOxX", l.byte(1)) >= 0 && l.byte(1) != 0 {
		for l.at += 2; isDigit(l.byte(0)) || isLetter(l.byte(0)) || l.byte(0) == '_'; l.at++ {
		}
		return tokenInteger
	}
	kind := tokenInteger
	l.digits()
	if l.byte(0) == '.' {
		kind = tokenFloat
		l.at++
		l.digits()
	}
	if c := l.byte(0); c == 'e' || c == 'E' {
		sign := 1
		if c := l.byte(1); c == '+' || c == '-' {
			sign = 2
		}
		if isDigit(l.byte(sign)) {
			kind = tokenFloat
			l.at += sign
			l.digits()
		}
	}
	end := l.at
	for l.byte(0) == ' ' || l.byte(0) == '\t' {
		l.at++
	}
	unit := l.at
	for isLetter(l.byte(0)) || isDigit(l.byte(0)) || l.byte(0) >= utf8.RuneSelf {
		l.at++
	}
	switch word := l.text[unit:l.at]; {
	case word == "im":
		return tokenImaginary
	case word == "dt" || word == "ns" || word == "us" || word == "µs" || word == "μs" || word == "ms" || word == "s":
		return tokenTiming
	case word == "j" && unit == end:
		fail(CodeUnsupported, start, "%s is no number of OpenQASM%s", clip(l.text[start:l.at]), insteadOfInitialize)
	case word != "" && unit == end:
		fail(CodeMalformed, start, "%s is neither a number nor a name", clip(l.text[start:l.at]))
	}
	l.at = end
	return kind
}

func (l *lexer) digits() {
	for isDigit(l.byte(0)) || l.byte(0) == '_' && isDigit(l.byte(1)) {
		l.at++
	}
}

func (l *lexer) toLineEnd() {
	for l.at < len(l.text) && l.text[l.at] != '\n' {
		l.at++
	}
}

func (l *lexer) skipSpace() {
	for l.at < len(l.text) {
		switch c := l.byte(0); {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			l.at++
		case c == '/' && l.byte(1) == '/':
			l.toLineEnd()
		case c == '/' && l.byte(1) == '*':
			end := strings.Index(l.text[l.at+2:], "*/")
			if end < 0 {
				fail(CodeMalformed, l.at, "a comment does not end")
			}
			l.at += end + 4
		default:
			return
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isNameStart follows the specification's "Identifiers": letters, letter numbers and the underscore.
func isNameStart(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r))
}
