package statement

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reckon/domain/lean/term"
)

// Names prints the names of one export as text and reads them back.
//
// A component is written as it is when it is an identifier of visible letters of one script. Everything else stands in
// «»: a numeric component as «#5», reserved words, texts that are no identifiers. Within «», \u{…} stands for a
// character that cannot be seen for what it is. A name that looks like one of Lean's own or like another declared one
// (equal skeletons by UTS #39), and is neither Lean's nor equal to it, has all its components in «» with the
// look-alike characters escaped. No name is empty, so the anonymous name is «#».
//
// Reading is exact: every rendered text stands for one name, and Read(Text(n)) is n.
type Names struct {
	store     *term.Store
	reference *Reference
	declared  map[uint64]term.Name // by look; Anonymous where several names have it
	params    map[uint64]term.Name // the same for universe parameters
	texts     map[term.Name]string
	looks     []uint64 // of the names of the store
}

// Reference holds the names of Lean's own library.
type Reference struct {
	names map[string][]component // by their components joined by dots
	texts map[string]bool        // as rendered
	looks map[uint64]bool
}

// NewReference returns the reference of names given with their components joined by dots; components of digits are
// numeric.
func NewReference(dotted []string) *Reference {
	r := &Reference{names: map[string][]component{}, texts: map[string]bool{}, looks: map[uint64]bool{}}
	for _, name := range dotted {
		var parts []component
		for part := range strings.SplitSeq(name, ".") {
			parts = append(parts, component{part, isDigits(part)})
		}
		r.names[name] = parts
		r.texts[plainText(parts)] = true
		r.looks[lookOf(parts)] = true
	}
	return r
}

// NamesIn maps the names of the store that are in the reference to their text. A component with a dot in it matches no
// name of the reference.
func (r *Reference) NamesIn(store *term.Store) map[term.Name]string {
	found := map[term.Name]string{}
	names := &Names{store: store}
	for dotted, parts := range r.names {
		if n, ok := names.lookup(parts); ok {
			found[n] = dotted
		}
	}
	return found
}

// NewNames returns the names of an export with the given declarations.
func NewNames(store *term.Store, declarations []term.Declaration, reference *Reference) *Names {
	names := &Names{store: store, reference: reference, declared: map[uint64]term.Name{}, params: map[uint64]term.Name{}, texts: map[term.Name]string{}}
	names.computeLooks()
	note := func(table map[uint64]term.Name, n term.Name) {
		key := names.looks[n]
		if other, ok := table[key]; ok && other != n {
			n = term.Anonymous
		}
		table[key] = n
	}
	header := func(n term.Name, params []term.Name) {
		note(names.declared, n)
		for _, p := range params {
			note(names.params, p)
		}
	}
	for i := range declarations {
		forEachName(&declarations[i], header)
	}
	return names
}

// computeLooks finds the looks of all names of the store, each from that of the prefix, which precedes it.
func (names *Names) computeLooks() {
	names.looks = make([]uint64, names.store.NameCount())
	names.looks[term.Anonymous] = noLook
	for i := 1; i < len(names.looks); i++ {
		n := term.Name(i)
		text, numeric := names.store.NameLast(n)
		names.looks[i] = extendLook(names.looks[names.store.NamePrefix(n)], component{text, numeric})
	}
}

// A look is a hash of the skeleton of what is seen of a name (FNV-1a). Names whose hashes agree by chance are just
// written in «».
const (
	noLook   = 14695981039346656037
	lookStep = 1099511628211
)

// extendLook is the look of a name with one more component.
func extendLook(look uint64, p component) uint64 {
	text := p.text
	if p.numeric || !isPlain(text, false) {
		var b strings.Builder
		quoteComponent(&b, p, never)
		text = b.String()
	}
	text = skeleton(text)
	for i := range len(text) {
		look = (look ^ uint64(text[i])) * lookStep
	}
	return (look ^ '.') * lookStep
}

func lookOf(parts []component) uint64 {
	look := uint64(noLook)
	for _, p := range parts {
		look = extendLook(look, p)
	}
	return look
}

// forEachName visits the names a declaration introduces, with their universe parameters.
func forEachName(d *term.Declaration, visit func(n term.Name, params []term.Name)) {
	if d.Kind != term.Inductive {
		visit(d.Name, d.LevelParams)
		return
	}
	for i := range d.Block.Types {
		visit(d.Block.Types[i].Name, d.Block.Types[i].LevelParams)
	}
	for i := range d.Block.Constructors {
		visit(d.Block.Constructors[i].Name, d.Block.Constructors[i].LevelParams)
	}
	for i := range d.Block.Recursors {
		visit(d.Block.Recursors[i].Name, d.Block.Recursors[i].LevelParams)
	}
}

// Text renders the name of a constant.
func (names *Names) Text(n term.Name) string {
	if text, ok := names.texts[n]; ok {
		return text
	}
	parts := names.components(n)
	text := plainText(parts)
	if !names.reference.texts[text] {
		if names.reference.looks[names.looks[n]] || names.hasLookAlike(names.declared, n) || looksReserved(parts) {
			text = quotedText(parts, looksAlike)
		}
	}
	names.texts[n] = text
	return text
}

// Param renders the name of a universe parameter.
func (names *Names) Param(n term.Name) string {
	parts := names.components(n)
	text := plainText(parts)
	if names.hasLookAlike(names.params, n) || looksReserved(parts) {
		return quotedText(parts, looksAlike)
	}
	return text
}

// Quoted renders a name with every component in «».
func (names *Names) Quoted(n term.Name) string { return quotedText(names.components(n), never) }

// hasLookAlike reports whether the table has a name other than n that looks like n.
func (names *Names) hasLookAlike(table map[uint64]term.Name, n term.Name) bool {
	other, ok := table[names.looks[n]]
	return ok && other != n
}

// Read finds the name that a text stands for, written as Text, Param or Quoted write it or with other components in
// «» than they choose.
func (names *Names) Read(text string) (term.Name, bool) {
	l := lexer{text: text}
	t := l.next()
	if t.kind != nameToken || l.next().kind != endToken {
		return term.Anonymous, false
	}
	return names.lookup(t.parts)
}

// lookup finds a name of the store.
func (names *Names) lookup(parts []component) (n term.Name, ok bool) {
	for _, p := range parts {
		if p.numeric {
			n, ok = names.store.LookupNum(n, p.text)
		} else {
			n, ok = names.store.LookupStr(n, p.text)
		}
		if !ok {
			return term.Anonymous, false
		}
	}
	return n, true
}

// component is one part of a name.
type component struct {
	text    string // decimal digits when numeric
	numeric bool
}

func (names *Names) components(n term.Name) []component {
	var parts []component
	for ; n != term.Anonymous; n = names.store.NamePrefix(n) {
		text, numeric := names.store.NameLast(n)
		parts = append(parts, component{text, numeric})
	}
	slices.Reverse(parts)
	return parts
}

// plainText writes a name by its own look alone.
func plainText(parts []component) string {
	if len(parts) == 0 {
		return "«#»"
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		if !p.numeric && isPlain(p.text, len(parts) == 1) {
			b.WriteString(p.text)
		} else {
			quoteComponent(&b, p, never)
		}
	}
	return b.String()
}

// quotedText writes a name with every component in «», and the characters that escape chooses escaped.
func quotedText(parts []component, escape func(rune) bool) string {
	if len(parts) == 0 {
		return "«#»"
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		quoteComponent(&b, p, escape)
	}
	return b.String()
}

func never(rune) bool { return false }

func quoteComponent(b *strings.Builder, p component, escape func(rune) bool) {
	b.WriteString("«")
	if p.numeric {
		b.WriteString("#" + p.text)
	} else {
		plain := readable(p.text)
		last := rune(-1)
		end := len(p.text)
		for i, r := range p.text {
			outer := i == 0 || i+utf8.RuneLen(r) == end || last == ' '
			switch {
			case r == '\\':
				b.WriteString(`\\`)
			case i == 0 && r == '#', r == '«', r == '»', r == ' ' && outer, escape(r),
				scriptOf(r) == noScript, r > 127 && !plain && !isDistinct(r):
				writeEscape(b, r)
			default:
				b.WriteRune(r)
			}
			last = r
		}
	}
	b.WriteString("»")
}

func writeEscape(b *strings.Builder, r rune) {
	b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + "}")
}

// isPlain says whether a component is written without «»; alone says that it is a whole name.
func isPlain(text string, alone bool) bool {
	return isIdentifier(text) && !reserved[text] && !(alone && levelWords[text]) && legible(text)
}

// reserved are the words that are no names: those of the notation, and more that Lean has.
var reserved = map[string]bool{"_": true, "_root_": true, "fun": true, "λ": true, "let": true, "in": true, "have": true, "show": true, "from": true,
	"forall": true, "exists": true, "Prop": true, "Type": true, "Sort": true, "nat_lit": true, "if": true, "then": true, "else": true,
	"match": true, "with": true, "do": true, "by": true, "at": true, "where": true}

// levelWords are the functions of universe levels; they are reserved where levels stand.
var levelWords = map[string]bool{"max": true, "imax": true}

// reservedSkeletons are the skeletons of reserved words.
var reservedSkeletons = func() map[string]string {
	out := map[string]string{}
	for _, words := range []map[string]bool{reserved, levelWords} {
		for word := range words {
			out[skeleton(word)] = word
		}
	}
	return out
}()

// looksReserved says whether a component looks like a reserved word, or a name of one component like a number.
func looksReserved(parts []component) bool {
	for _, p := range parts {
		if word, ok := reservedSkeletons[skeleton(p.text)]; ok && !p.numeric && word != p.text {
			return true
		}
	}
	if len(parts) != 1 || parts[0].numeric || parts[0].text == "" {
		return false
	}
	for _, r := range skeleton(parts[0].text) {
		if (r < '0' || r > '9') && r != 'l' && r != 'O' {
			return false
		}
	}
	return true
}

// isIdentifier says whether a text reads as one name: a letter or underscore, then letters, digits, _ ! ? '.
func isIdentifier(text string) bool {
	for i, r := range text {
		if !startsIdentifier(r) && (i == 0 || !continuesIdentifier(r)) {
			return false
		}
	}
	return text != ""
}

func startsIdentifier(r rune) bool {
	if r <= 127 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
	}
	return scriptOf(r) != noScript && !isSubscript(r) && r != 'λ' && r != 'Π' && r != 'Σ'
}

func continuesIdentifier(r rune) bool {
	return startsIdentifier(r) || r >= '0' && r <= '9' || r == '\'' || r == '!' || r == '?' || isSubscript(r)
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// quote writes a string literal: quotes, backslashes and what cannot be seen for what it is escaped.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	plain := readable(text)
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString("\\n")
		case r == '\t':
			b.WriteString("\\t")
		case r == '\r':
			b.WriteString("\\r")
		case scriptOf(r) == noScript, r > 127 && !plain && !isDistinct(r):
			writeEscape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
