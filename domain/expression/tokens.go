package expression

// Token is one word of a text, as Parse cuts it.
type Token struct {
	Name      string // of a symbol; otherwise empty
	Operator  string // of an operator or bracket; otherwise empty. Both empty: a number, a string, a slot or an Out
	Start     int    // byte offset of the first byte
	End       int    // byte offset after the last byte
	SpaceAway bool   // something stands between this token and the one before
}

// Tokens cuts a text into words, whether or not they make an expression. The error is a *SyntaxError; the words before it
// are returned with it.
func Tokens(src string) ([]Token, error) {
	p, err := newParser(src)
	if err != nil {
		return nil, err
	}
	var all []Token
	for {
		t, err := p.lex.next()
		if err != nil || t.kind == tokenEnd {
			return all, err
		}
		word := Token{Start: t.pos.Offset, End: p.lex.at.Offset, SpaceAway: t.space}
		switch t.kind {
		case tokenSymbol:
			word.Name = t.node.Text
		case tokenOperator:
			word.Operator = t.text
		}
		all = append(all, word)
	}
}
