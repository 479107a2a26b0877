package statement

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	badToken tokenKind = iota
	endToken
	nameToken    // parts
	numberToken  // text is its digits
	fieldToken   // .i; text is its digits
	stringToken  // text is its value
	keywordToken // a reserved word
	symbolToken
)

type token struct {
	kind  tokenKind
	text  string
	parts []component
}

// lexer splits a text into tokens. What it does not understand is a badToken; nothing is read after that.
type lexer struct {
	text string
	at   int
}

// symbols, longer ones before their beginnings.
var symbols = []string{"#proj", "#", ".{", ":=", "=>", "(", ")", "{", "}", "⦃", "⦄", "[", "]", ",", ";", ":", "@", "∀", "∃", "→", "¬", "=", "≠", "∧", "∨", "↔", "+", "-", "*", "^", "≤", "<"}

func (l *lexer) rest() string { return l.text[l.at:] }

func (l *lexer) next() token {
	for strings.HasPrefix(l.rest(), " ") {
		l.at++
	}
	rest := l.rest()
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		return token{kind: endToken}
	case r == '«' || startsIdentifier(r):
		return l.name()
	case r >= '0' && r <= '9':
		return token{kind: numberToken, text: l.digits()}
	case r == '"':
		return l.string()
	case r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		l.at++
		return token{kind: fieldToken, text: l.digits()}
	}
	for _, symbol := range symbols {
		if strings.HasPrefix(rest, symbol) {
			l.at += len(symbol)
			return token{kind: symbolToken, text: symbol}
		}
	}
	return token{}
}

func (l *lexer) digits() string {
	start := l.at
	for l.at < len(l.text) && l.text[l.at] >= '0' && l.text[l.at] <= '9' {
		l.at++
	}
	return l.text[start:l.at]
}

// name reads components joined by dots.
func (l *lexer) name() token {
	var t token
	bare := 0 // components without «»
	for {
		if strings.HasPrefix(l.rest(), "«") {
			p, ok := l.quoted()
			if !ok {
				return token{}
			}
			t.parts = append(t.parts, p)
		} else {
			start := l.at
			for l.at < len(l.text) {
				r, size := utf8.DecodeRuneInString(l.rest())
				if !startsIdentifier(r) && !continuesIdentifier(r) {
					break
				}
				l.at += size
			}
			t.parts = append(t.parts, component{text: l.text[start:l.at]})
			bare++
			if !legible(l.text[start:l.at]) {
				return token{}
			}
		}
		after, dot := strings.CutPrefix(l.rest(), ".")
		r, _ := utf8.DecodeRuneInString(after)
		if !dot || r != '«' && !startsIdentifier(r) {
			break
		}
		l.at++
	}
	if len(t.parts) == 1 && bare == 1 && (reserved[t.parts[0].text] || levelWords[t.parts[0].text]) {
		return token{kind: keywordToken, text: t.parts[0].text}
	}
	if len(t.parts) == 1 && t.parts[0].numeric && t.parts[0].text == "" {
		t.parts = nil // the anonymous name
	}
	for _, p := range t.parts {
		if p.numeric && (p.text == "" || len(p.text) > 1 && p.text[0] == '0') {
			return token{}
		}
	}
	t.kind = nameToken
	return t
}

// quoted reads a component in «».
func (l *lexer) quoted() (component, bool) {
	l.at += len("«")
	if strings.HasPrefix(l.rest(), "#") {
		l.at++
		digits := l.digits()
		return component{digits, true}, l.take("»")
	}
	var b strings.Builder
	for {
		switch r, size := utf8.DecodeRuneInString(l.rest()); {
		case size == 0 || r == utf8.RuneError && size == 1 || r == '«':
			return component{}, false
		case r == '»':
			l.at += size
			return component{text: b.String()}, true
		case r == '\\':
			value, ok := l.escape("\\")
			if !ok {
				return component{}, false
			}
			b.WriteRune(value)
		default:
			l.at += size
			b.WriteRune(r)
		}
	}
}

// string reads a string literal.
func (l *lexer) string() token {
	l.at++
	var b strings.Builder
	for {
		switch r, size := utf8.DecodeRuneInString(l.rest()); {
		case size == 0 || r == utf8.RuneError && size == 1:
			return token{}
		case r == '"':
			l.at += size
			return token{kind: stringToken, text: b.String()}
		case r == '\\':
			value, ok := l.escape("\\\"ntr")
			if !ok {
				return token{}
			}
			b.WriteRune(value)
		default:
			l.at += size
			b.WriteRune(r)
		}
	}
}

// escape reads \u{…} in lower-case hexadecimal, or a backslash and one of the given characters.
func (l *lexer) escape(single string) (rune, bool) {
	l.at++
	if l.take("u{") {
		digits, _, ok := strings.Cut(l.rest(), "}")
		if !ok || len(digits) > 6 {
			return 0, false
		}
		value, err := strconv.ParseUint(digits, 16, 21)
		if err != nil || strconv.FormatUint(value, 16) != digits || !utf8.ValidRune(rune(value)) {
			return 0, false
		}
		l.at += len(digits) + 1
		return rune(value), true
	}
	if l.rest() == "" || !strings.Contains(single, l.rest()[:1]) {
		return 0, false
	}
	c := l.text[l.at]
	l.at++
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	}
	return rune(c), true
}

func (l *lexer) take(text string) bool {
	if !strings.HasPrefix(l.rest(), text) {
		return false
	}
	l.at += len(text)
	return true
}
