package expression

import (
	"strings"
	"unicode/utf8"
)

// tokenKind tells the lexer's tokens apart.
type tokenKind uint8

const (
	tokenEnd      tokenKind = iota + 1
	tokenAtom               // node holds a number, a string, a slot or an Out
	tokenSymbol             // node holds a symbol
	tokenOperator           // text holds the operator's spelling
)

// token is one word of the text.
type token struct {
	kind    tokenKind
	text    string
	node    *Expr
	pos     Position
	space   bool // something stands between this token and the one before
	newline bool // a line ends between this token and the one before
}

// is reports whether t is the operator of that spelling.
func (t token) is(spelling string) bool { return t.kind == tokenOperator && t.text == spelling }

// lexer cuts a text into tokens, one at a time, without backtracking: it reads each byte a bounded number of times.
type lexer struct {
	src            string
	at             Position // of the next byte not yet read
	tokens         int
	computedDigits int  // digits made that the text does not hold, see number.go
	engineFmt      bool // strings are delimited as the engine's FullForm does it, see ParseFullForm
}

// rest is the text not yet read.
func (l *lexer) rest() string { return l.src[l.at.Offset:] }

// peekByte is the byte n places ahead, 0 beyond the end.
func (l *lexer) peekByte(n int) byte {
	if i := l.at.Offset + n; i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// skipASCII moves over n bytes that are known to be ASCII and no line ends.
func (l *lexer) skipASCII(n int) {
	l.at.Offset += n
	l.at.Column += n
}

// skipRune moves over one character of the text, counting lines.
func (l *lexer) skipRune() {
	r, size := utf8.DecodeRuneInString(l.rest())
	l.at.Offset += size
	if r == '\n' || r == '\r' && l.peekByte(0) != '\n' {
		l.at.Line++
		l.at.Column = 1
		return
	}
	l.at.Column++
}

// next reads one token.
func (l *lexer) next() (token, error) {
	space, newline, err := l.skipBlank()
	if err != nil {
		return token{}, err
	}
	t := token{pos: l.at, space: space, newline: newline}
	if l.at.Offset == len(l.src) {
		t.kind = tokenEnd
		return t, nil
	}
	if l.tokens++; l.tokens > MaxTokens {
		return t, refuse(ReasonTooMany, l.at, "the text has more than %d words: shorten it", MaxTokens)
	}
	switch c := l.peekByte(0); {
	case isDigit(rune(c)) || c == '.' && isDigit(rune(l.peekByte(1))):
		t.kind = tokenAtom
		t.node, err = l.number()
	case c == '"':
		t.kind = tokenAtom
		t.node, err = l.stringLiteral()
	case c == '\\' && l.engineFmt && l.peekByte(1) == '"':
		t.kind = tokenAtom
		t.node, err = l.engineString()
	case c == '#':
		t.kind = tokenAtom
		t.node, err = l.slot()
	case c == '%':
		t.kind = tokenAtom
		t.node, err = l.outReference()
	case c == '`':
		err = l.symbol(&t)
	case c < utf8.RuneSelf && c != '\\' && !isLetter(rune(c)):
		err = l.asciiOperator(&t)
	default:
		err = l.letterOrOperator(&t)
	}
	return t, err
}

// skipBlank moves over spaces, line ends and comments.
func (l *lexer) skipBlank() (space, newline bool, err error) {
	for l.at.Offset < len(l.src) {
		switch c := l.peekByte(0); {
		case c == ' ' || c == '\t':
			l.skipASCII(1)
		case c == '\n' || c == '\r':
			l.skipRune()
			newline = true
		case c == '(' && l.peekByte(1) == '*':
			if err := l.skipComment(); err != nil {
				return space, newline, err
			}
		default:
			return space, newline, nil
		}
		space = true
	}
	return space, newline, nil
}

// skipComment moves over a comment and those nested in it. A line end inside a comment does not end an expression.
func (l *lexer) skipComment() error {
	start := l.at
	for depth := 0; l.at.Offset < len(l.src); {
		switch two := l.rest(); {
		case strings.HasPrefix(two, "(*"):
			depth++
			l.skipASCII(2)
		case strings.HasPrefix(two, "*)"):
			l.skipASCII(2)
			if depth--; depth == 0 {
				return nil
			}
		default:
			l.skipRune()
		}
	}
	return refuse(ReasonUnclosed, start, "the comment that begins here never ends: close it with *)")
}

// asciiOperator reads the longest ASCII operator.
func (l *lexer) asciiOperator(t *token) error {
	t.kind = tokenOperator
	rest := l.rest()
	n := 1
	for size := min(3, len(rest)); size > 1; size-- {
		// An operator ending in a point gives it up to a number: 1/.5 divides.
		if longLexemes[rest[:size]] && !(rest[size-1] == '.' && size < len(rest) && isDigit(rune(rest[size])) && rest[:2] != "..") {
			n = size
			break
		}
	}
	t.text = rest[:n]
	// x_.. is a repeated blank, not an optional one.
	if t.text == "_." && l.peekByte(2) == '.' {
		n, t.text = 1, "_"
	}
	switch {
	case t.text == "*" && l.peekByte(1) == ')':
		return refuse(ReasonSyntax, l.at, "*) ends a comment that was never begun")
	case t.text == "??":
		return refuse(ReasonUnsupported, l.at, "?? asks for information about a symbol, which is not an expression")
	case t.text[0] < ' ' || t.text[0] == 0x7F:
		return refuse(ReasonCharacter, l.at, "control character U+%04X: remove it", t.text[0])
	}
	l.skipASCII(n)
	return nil
}

// letterOrOperator reads a symbol, or an operator that is not ASCII or is written as an escape.
func (l *lexer) letterOrOperator(t *token) error {
	r, size, err := l.character()
	if err != nil {
		return err
	}
	if isLetter(r) {
		return l.symbol(t)
	}
	spelling, ok := operatorSpelling[r]
	if !ok {
		spelling = string(r)
	}
	if !isOperator(spelling) {
		return refuse(ReasonCharacter, l.at, "the character %q (U+%04X) has no meaning here", r, r)
	}
	t.kind, t.text = tokenOperator, spelling
	l.skipCharacter(size)
	return nil
}

// isOperator reports whether a spelling that is not ASCII, or its ASCII replacement, is an operator or bracket.
func isOperator(spelling string) bool {
	_, infix := infixOperators[spelling]
	_, prefix := prefixOperators[spelling]
	_, opens := groups[spelling]
	return infix || prefix || opens || closers[spelling]
}

// closers are the closing brackets.
var closers = map[string]bool{")": true, "]": true, "}": true, "|>": true, "⌋": true, "⌉": true, "⟧": true, "〛": true}

// character looks at the next character with an escape resolved; size is its length in the text in bytes.
func (l *lexer) character() (r rune, size int, err error) {
	if l.at.Offset >= len(l.src) {
		return 0, 0, nil
	}
	if l.peekByte(0) == '\\' {
		return l.escape()
	}
	r, size = utf8.DecodeRuneInString(l.rest())
	return r, size, nil
}

// skipCharacter moves over a character of size bytes, given by character(); an escape is ASCII.
func (l *lexer) skipCharacter(size int) {
	if l.peekByte(0) == '\\' {
		l.skipASCII(size)
		return
	}
	l.skipRune()
}

// maxNameBytes bounds the name in \[Name]; the longest of the language has fewer.
const maxNameBytes = 64

// escape resolves a backslash sequence outside a string: a named character, or a letter or digit by its code. Everything
// else is refused, line continuations among it, so that no symbol can hide from a reader of the text.
func (l *lexer) escape() (rune, int, error) {
	r, size, err := l.codedCharacter()
	if err != nil {
		return 0, 0, err
	}
	if size > 0 {
		if l.peekByte(1) != '[' && !isNameRune(r) {
			return 0, 0, refuse(ReasonEscape, l.at, "outside strings an escape may stand for a letter or a digit only: write the character itself")
		}
		return r, size, nil
	}
	return 0, 0, refuse(ReasonEscape, l.at, "a backslash outside a string is read in \\[Name], \\:hhhh, \\.hh, \\|hhhhhh and \\ooo only: remove it")
}

// codedCharacter resolves the escapes common to strings and names: \[Name], \:hhhh, \.hh, \|hhhhhh, \ooo. A size of 0 means
// that the backslash begins none of them.
func (l *lexer) codedCharacter() (r rune, size int, err error) {
	switch c := l.peekByte(1); {
	case c == '[':
		return l.namedCharacter()
	case c == ':':
		return l.codePoint(2, 4, 16)
	case c == '.':
		return l.codePoint(2, 2, 16)
	case c == '|':
		return l.codePoint(2, 6, 16)
	case '0' <= c && c <= '7':
		return l.codePoint(1, 3, 8)
	}
	return 0, 0, nil
}

// codePoint reads exactly n digits after a prefix of that many bytes.
func (l *lexer) codePoint(prefix, n, base int) (rune, int, error) {
	value := 0
	for i := prefix; i < prefix+n; i++ {
		digit := digitValue(l.peekByte(i))
		if digit < 0 || digit >= base {
			return 0, 0, refuse(ReasonEscape, l.at, "this escape needs exactly %d digits of base %d", n, base)
		}
		value = value*base + digit
	}
	if value == 0 || value > utf8.MaxRune || 0xD800 <= value && value < 0xE000 {
		return 0, 0, refuse(ReasonEscape, l.at, "the escape stands for no character")
	}
	return rune(value), prefix + n, nil
}

// namedCharacter reads \[Name]. Operators come back as their code points; escape() passes them on.
func (l *lexer) namedCharacter() (rune, int, error) {
	rest := l.rest()
	end := strings.IndexByte(rest[:min(len(rest), maxNameBytes)], ']')
	if end < 0 {
		return 0, 0, refuse(ReasonEscape, l.at, "\\[ begins the name of a character: close it with ]")
	}
	name := rest[2:end]
	if r, ok := letterNamed(name); ok {
		return r, end + 1, nil
	}
	if r, ok := namedOperators[name]; ok {
		return r, end + 1, nil
	}
	return 0, 0, refuse(ReasonEscape, l.at, "no character named %q is known here: write the character itself", name)
}

// symbol reads a name with its contexts. System` is left out, since every name is looked up there first.
func (l *lexer) symbol(t *token) error {
	var name strings.Builder
	for {
		if l.peekByte(0) == '`' {
			name.WriteByte('`')
			l.skipASCII(1)
		}
		letters, err := l.namePart(&name)
		if err != nil {
			return err
		}
		if letters == 0 {
			return refuse(ReasonSyntax, l.at, "a ` in a symbol must be followed by a letter")
		}
		if l.peekByte(0) != '`' {
			break
		}
	}
	text := strings.TrimPrefix(name.String(), "System`")
	if meaning, ok := letterSymbols[text]; ok {
		text = meaning
	}
	t.kind, t.node = tokenSymbol, &Expr{Kind: Symbol, Text: text, Pos: t.pos}
	return nil
}

// namePart reads letters and digits, the first a letter, and tells how many.
func (l *lexer) namePart(name *strings.Builder) (int, error) {
	for count := 0; ; count++ {
		r, size, err := l.character()
		if err != nil {
			return 0, err
		}
		if size == 0 || !isNameRune(r) || count == 0 && !isLetter(r) {
			return count, nil
		}
		name.WriteRune(r)
		l.skipCharacter(size)
	}
}

// slot reads #, #2, #name, #"name", ## and ##2.
func (l *lexer) slot() (*Expr, error) {
	start := l.at
	head := "Slot"
	l.skipASCII(1)
	if l.peekByte(0) == '#' {
		head = "SlotSequence"
		l.skipASCII(1)
	}
	made := func(arg *Expr) *Expr {
		arg.Pos = start
		return callAt(start, head, arg)
	}
	switch c := l.peekByte(0); {
	case isDigit(rune(c)):
		return made(&Expr{Kind: Integer, Text: trimZeros(l.digits())}), nil
	case head == "Slot" && c == '"':
		name, err := l.stringLiteral()
		if err != nil {
			return nil, err
		}
		return made(name), nil
	case head == "Slot" && c < utf8.RuneSelf && isLetter(rune(c)):
		var name strings.Builder
		if _, err := l.namePart(&name); err != nil {
			return nil, err
		}
		return made(Str(name.String())), nil
	}
	return made(Int(1)), nil
}

// outReference reads %, %% and so on, and %5.
func (l *lexer) outReference() (*Expr, error) {
	start := l.at
	count := 0
	for l.peekByte(0) == '%' {
		count++
		l.skipASCII(1)
	}
	switch {
	case count == 1 && isDigit(rune(l.peekByte(0))):
		return callAt(start, "Out", &Expr{Kind: Integer, Text: trimZeros(l.digits()), Pos: start}), nil
	case count == 1:
		return callAt(start, "Out"), nil
	}
	back := Int(-int64(count))
	back.Pos = start
	return callAt(start, "Out", back), nil
}

// callAt makes name[args...] at a position.
func callAt(pos Position, name string, args ...*Expr) *Expr {
	return &Expr{Kind: Call, Head: &Expr{Kind: Symbol, Text: name, Pos: pos}, Args: args, Pos: pos}
}

// stringLiteral reads "text" and resolves its escapes.
func (l *lexer) stringLiteral() (*Expr, error) {
	start := l.at
	l.skipASCII(1)
	var text strings.Builder
	for l.at.Offset < len(l.src) {
		switch c := l.peekByte(0); c {
		case '"':
			l.skipASCII(1)
			return &Expr{Kind: String, Text: text.String(), Pos: start}, nil
		case '\\':
			if err := l.stringEscape(&text); err != nil {
				return nil, err
			}
		default:
			from := l.at.Offset
			l.skipRune()
			text.WriteString(l.src[from:l.at.Offset])
		}
	}
	return nil, refuse(ReasonUnclosed, start, "the string that begins here never ends: close it with \"")
}

// stringEscapes are the backslash sequences of one letter.
var stringEscapes = map[byte]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

func (l *lexer) stringEscape(text *strings.Builder) error {
	if c, ok := stringEscapes[l.peekByte(1)]; ok {
		text.WriteByte(c)
		l.skipASCII(2)
		return nil
	}
	r, size, err := l.codedCharacter()
	if err != nil {
		return err
	}
	if size == 0 {
		return refuse(ReasonEscape, l.at, "unknown escape in a string: write \\\\ for a backslash")
	}
	text.WriteRune(r)
	l.skipASCII(size)
	return nil
}

// engineString reads \"text\", which is how the engine's FullForm prints a string: raw text between marks that the text
// may hold itself. One that does hold a quote or a backslash is refused, because its end is ambiguous.
func (l *lexer) engineString() (*Expr, error) {
	start := l.at
	l.skipASCII(2)
	from := l.at.Offset
	for l.at.Offset < len(l.src) {
		switch l.peekByte(0) {
		case '"':
			return nil, refuse(ReasonEscape, l.at, "the engine printed a string with a quote in it, which cannot be read back")
		case '\\':
			if l.peekByte(1) != '"' {
				return nil, refuse(ReasonEscape, l.at, "the engine printed a string with a backslash in it, which cannot be read back")
			}
			text := l.src[from:l.at.Offset]
			l.skipASCII(2)
			return &Expr{Kind: String, Text: text, Pos: start}, nil
		}
		l.skipRune()
	}
	return nil, refuse(ReasonUnclosed, start, "the string that begins here never ends")
}

// fileName reads what follows << and >>: a string, or a bare name up to the next space or bracket.
func (l *lexer) fileName() (*Expr, error) {
	for l.peekByte(0) == ' ' || l.peekByte(0) == '\t' {
		l.skipASCII(1)
	}
	if l.peekByte(0) == '"' {
		return l.stringLiteral()
	}
	start := l.at
	for c := l.peekByte(0); c < utf8.RuneSelf && (isLetter(rune(c)) || isDigit(rune(c)) || c != 0 && strings.IndexByte("`/.!-_:*~?", c) >= 0); c = l.peekByte(0) {
		l.skipASCII(1)
	}
	if l.at == start {
		return nil, refuse(ReasonSyntax, start, "a file name must follow")
	}
	return &Expr{Kind: String, Text: l.src[start.Offset:l.at.Offset], Pos: start}, nil
}
