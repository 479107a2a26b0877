package leansource

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reckon/domain/lean/term"
)

// token is a word, a number, a string or a symbol of the text.
type token struct {
	kind tokenKind
	text string // of a string: its value
	at   int    // offset
}

type tokenKind uint8

const (
	endOfText tokenKind = iota
	word
	number
	quoted
	symbol
)

// failure unwinds the parser.
type failure struct{ error }

func (f *File) fail(format string, args ...any) {
	line := 1 + strings.Count(f.text[:min(f.token.at, len(f.text))], "\n")
	panic(failure{fmt.Errorf("line %d, at %q: %s", line, f.token.text, fmt.Sprintf(format, args...))})
}

// next reads the next token into f.token.
func (f *File) next() {
	f.skipBlanks()
	rest := f.text[f.at:]
	f.token = token{at: f.at}
	if rest == "" {
		return
	}
	c, _ := utf8.DecodeRuneInString(rest)
	length := 0
	switch {
	case unicode.IsDigit(c):
		f.token.kind = number
		length = strings.IndexFunc(rest, func(c rune) bool { return !unicode.IsDigit(c) })
		if length < 0 {
			length = len(rest)
		}
	case isWordStart(c):
		f.token.kind = word
		length = wordLength(rest)
	case c == '"':
		prefix, err := strconv.QuotedPrefix(rest)
		if err != nil {
			f.fail("a string has no end")
		}
		value, err := strconv.Unquote(prefix)
		if err != nil {
			f.fail("%v", err)
		}
		f.token.kind, f.token.text = quoted, value
		f.at += len(prefix)
		return
	default:
		f.token.kind, length = symbol, 1
		for _, s := range []string{":=", "->", "=>", ".{"} {
			if strings.HasPrefix(rest, s) {
				length = len(s)
			}
		}
	}
	f.token.text = rest[:length]
	f.at += length
}

func (f *File) skipBlanks() {
	for f.at < len(f.text) {
		switch c := f.text[f.at]; {
		case c == ' ' || c == '\n' || c == '\t':
			f.at++
		case strings.HasPrefix(f.text[f.at:], "--"):
			end := strings.IndexByte(f.text[f.at:], '\n')
			if end < 0 {
				end = len(f.text) - f.at
			}
			f.at += end
		default:
			return
		}
	}
}

func isWordStart(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// wordLength is the length of the dotted word that text starts with; a dot belongs to it when a letter or digit follows.
func wordLength(text string) int {
	dot := -1
	for i, c := range text {
		switch {
		case isWordStart(c), unicode.IsNumber(c), c == '\'' && dot != i-1:
		case c == '.' && dot != i-1:
			dot = i
		case dot == i-1 && dot >= 0:
			return dot
		default:
			return i
		}
	}
	if dot == len(text)-1 {
		return dot
	}
	return len(text)
}

func (f *File) is(text string) bool {
	return f.token.text == text && (f.token.kind == symbol || f.token.kind == word)
}

// accept reads past the given symbol or word if it is next.
func (f *File) accept(text string) bool {
	if !f.is(text) {
		return false
	}
	f.next()
	return true
}

func (f *File) expect(text string) {
	if !f.accept(text) {
		f.fail("expected %q", text)
	}
}

func (f *File) word() string {
	if f.token.kind != word {
		f.fail("expected a name")
	}
	text := f.token.text
	f.next()
	return text
}

// intern is the name a dotted word stands for. Components of digits are numeric.
func (f *File) intern(dotted string) term.Name {
	n := term.Anonymous
	for part := range strings.SplitSeq(dotted, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			n = f.Store.NameNum(n, part)
		} else {
			n = f.Store.NameStr(n, part)
		}
	}
	return n
}
