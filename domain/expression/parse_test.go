package expression

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseFullForm(t *testing.T) {
	for text, want := range map[string]string{
		"a-b":          "Plus[a, Times[-1, b]]",
		"a-2":          "Plus[a, -2]",
		"a-2x":         "Plus[a, Times[-1, 2, x]]",
		"a/b":          "Times[a, Power[b, -1]]",
		"a/b/c":        "Times[a, Power[b, -1], Power[c, -1]]",
		"1/2":          "Times[1, Power[2, -1]]",
		"-x":           "Times[-1, x]",
		"-2^2":         "Times[-1, Power[2, 2]]",
		"-(2)":         "Times[-1, 2]",
		"(-2)^2":       "Power[-2, 2]",
		"+x":           "Plus[x]",
		"(a+b)+c":      "Plus[Plus[a, b], c]",
		"Sqrt[x]":      "Sqrt[x]",
		"f''[x]":       "Derivative[2][f][x]",
		"2^f'[x]":      "Power[2, Derivative[1][f][x]]",
		"a<b<=c":       "Inequality[a, Less, b, LessEqual, c]",
		"a<b<c":        "Less[a, b, c]",
		"x_Integer:1":  "Optional[Pattern[x, Blank[Integer]], 1]",
		"x:a|b":        "Pattern[x, Alternatives[a, b]]",
		"a:b:c":        "Optional[Pattern[a, b], c]",
		"x_..":         "Repeated[Pattern[x, Blank[]]]",
		"x_y_":         "Times[Pattern[x, Blank[y]], Blank[]]",
		"a[[1]][2]":    "Part[a, 1][2]",
		"x[y[[z[1]]]]": "x[Part[y, z[1]]]",
		"x⟦1⟧":         "Part[x, 1]",
		`x\[LeftDoubleBracket]1\[RightDoubleBracket]`: "Part[x, 1]",
		"a;;b;;c":                     "Span[a, b, c]",
		";;":                          "Span[1, All]",
		"f/:g[f]=1":                   "TagSet[f, g[f], 1]",
		"f/:g[f]:=1":                  "TagSetDelayed[f, g[f], 1]",
		"f/:g[f]=.":                   "TagUnset[f, g[f]]",
		"x=.":                         "Unset[x]",
		"x=.5":                        "Set[x, 0.5]",
		"1/.5":                        "Times[1, Power[0.5, -1]]",
		"a;b;":                        "CompoundExpression[a, b, Null]",
		"a; ;b":                       "CompoundExpression[a, Null, b]",
		"f[,a]":                       "f[Null, a]",
		"<<a`b.m":                     `Get["a` + "`" + `b.m"]`,
		"x>>a/b.txt":                  `Put[x, "a/b.txt"]`,
		"Sin::argx":                   `MessageName[Sin, "argx"]`,
		"#name&":                      `Function[Slot["name"]]`,
		"%":                           "Out[]",
		"%%":                          "Out[-2]",
		"%12":                         "Out[12]",
		"System`Sin[x]":               "Sin[x]",
		"a(* x (* y *) *)b":           "Times[a, b]",
		`\[Alpha]+\[CapitalGamma]`:    "Plus[α, Γ]",
		`\[Pi]`:                       "Pi",
		`\[Pi]x`:                      "πx",
		`a\[Rule]b`:                   "Rule[a, b]",
		`a\[Equal]b`:                  "Equal[a, b]",
		`\[Not]a\[And]b`:              "And[Not[a], b]",
		"⌊x/2⌋":                       "Floor[Times[x, Power[2, -1]]]",
		"16^^ff.8":                    "255.5",
		"1.5`20*^3":                   "1.5`20*^3",
		"1.50000``20.50":              "1.5``20.5",
		"0.0000001":                   "1.*^-7",
		"12345678901234567.":          "1.2345678901234568*^16",
		"1*^-3":                       "Rational[1, 1000]",
		"5*^-1":                       "Rational[1, 2]",
		"10*^-1":                      "1",
		"\"a\\tb\\\\\\\"c\\[Alpha]\"": "\"a\\tb\\\\\\\"cα\"",
		"(a\nb)":                      "Times[a, b]",
		"{a,\n\nb}":                   "List[a, b]",
		"a+\nb":                       "Plus[a, b]",
		"#2[[1]]&/@x":                 "Map[Function[Part[Slot[2], 1]], x]",
		"x//f//g":                     "g[f[x]]",
		"a~f~b~g~c":                   "g[f[a, b], c]",
		"(-2)[x]":                     "(-2)[x]",
		"a!!!":                        "Factorial[Factorial2[a]]",
		"a.b.c":                       "Dot[a, b, c]",
		"a**b":                        "NonCommutativeMultiply[a, b]",
		"x|->x^2":                     "Function[x, Power[x, 2]]",
	} {
		if e, err := Parse(text); err != nil || e.FullForm() != want {
			t.Errorf("%s: %v, %v; want %s", text, e.FullForm(), err, want)
		}
	}
}

func TestParseAll(t *testing.T) {
	all, err := ParseAll("x = 1;\ny\n+2\nf[a,\n b]\n(* end *)\n")
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	for _, e := range all {
		forms = append(forms, e.FullForm())
	}
	want := "CompoundExpression[Set[x, 1], Null] y Plus[2] f[a, b]"
	if got := strings.Join(forms, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPositions(t *testing.T) {
	e, err := Parse("(* α *) α +\n  Sin[β]")
	if err != nil {
		t.Fatal(err)
	}
	sin := e.Args[1]
	if e.Pos.String() != "1:9" || sin.Pos.String() != "2:3" || sin.Args[0].Pos.String() != "2:7" || sin.Pos.Offset != 16 {
		t.Errorf("sum %s, Sin %s at %d, β %s", e.Pos, sin.Pos, sin.Pos.Offset, sin.Args[0].Pos)
	}
}

func TestRefusals(t *testing.T) {
	deep := strings.Repeat
	for _, c := range []struct {
		text   string
		reason Reason
		at     string
	}{
		{"", ReasonEmpty, "1:1"},
		{" (* only *) ", ReasonEmpty, "1:13"},
		{"a\nb", ReasonSeveral, "2:1"},
		{"a+", ReasonSyntax, "1:3"},
		{"*a", ReasonSyntax, "1:1"},
		{"f[a", ReasonUnclosed, "1:4"},
		{"{a]", ReasonSyntax, "1:3"},
		{"a]", ReasonSyntax, "1:2"},
		{"()", ReasonSyntax, "1:2"},
		{"a (* b", ReasonUnclosed, "1:3"},
		{"a *) b", ReasonSyntax, "1:3"},
		{`"a`, ReasonUnclosed, "1:1"},
		{"a\xff", ReasonCharacter, "1:1"},
		{"a\x00", ReasonCharacter, "1:2"},
		{"a\u200bb", ReasonCharacter, "1:2"},
		{"a\u0301", ReasonCharacter, "1:2"},
		{"∂x", ReasonCharacter, "1:1"},
		{"37^^1", ReasonNumber, "1:1"},
		{"2^^12", ReasonNumber, "1:5"},
		{"16^^", ReasonNumber, "1:5"},
		{"1*^x", ReasonNumber, "1:4"},
		{"1*^99999", ReasonNumber, "1:1"},
		{"1``x", ReasonNumber, "1:4"},
		{"16^^ff.8`30", ReasonUnsupported, "1:1"},
		{"?Sin", ReasonSyntax, "1:1"},
		{"??Sin", ReasonUnsupported, "1:1"},
		{"1;;2;;3;;4", ReasonUnsupported, "1:8"},
		{"a~b", ReasonSyntax, "1:4"},
		{"f::", ReasonSyntax, "1:4"},
		{"x>> ", ReasonSyntax, "1:5"},
		{"a` b", ReasonSyntax, "1:3"},
		{deep("(", 100_000), ReasonTooDeep, "1:2049"},
		{deep("f[", 100_000), ReasonTooDeep, "1:4097"},
		{deep("{", 513) + deep("}", 513), ReasonTooDeep, "1:1025"},
		{deep("-", 100_000), ReasonTooDeep, ""},
		{deep("a^", 100_000) + "a", ReasonTooDeep, ""},
		{"a" + deep("[a]", 100_000), ReasonTooDeep, ""},
		{"a" + deep("//a", 100_000), ReasonTooDeep, ""},
		{deep("1,", MaxTokens), ReasonSyntax, "1:2"},
		{"{" + deep("1,", MaxTokens), ReasonTooMany, ""},
		{deep(" ", MaxBytes+1), ReasonTooLong, "1:1"},
		{"{" + deep("1*^4096,", 1000), ReasonNumber, ""},
	} {
		_, err := Parse(c.text)
		var refusal *SyntaxError
		name := c.text[:min(len(c.text), 30)]
		if !errors.As(err, &refusal) {
			t.Errorf("%q: %v, want %s", name, err, c.reason)
			continue
		}
		if refusal.Reason != c.reason || c.at != "" && refusal.Pos.String() != c.at {
			t.Errorf("%q: %s at %s (%s), want %s at %s", name, refusal.Reason, refusal.Pos, refusal.Message, c.reason, c.at)
		}
	}
}

// TestEscapes holds the ways to hide a name from a reader of the text. Each is resolved exactly or refused.
func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`\:0052un["ls"]`:       `Run["ls"]`,
		`\.52un["ls"]`:         `Run["ls"]`,
		`\122un["ls"]`:         `Run["ls"]`,
		`\|000052un["ls"]`:     `Run["ls"]`,
		`R\:0075n["ls"]`:       `Run["ls"]`,
		`Ru\.6e["ls"]`:         `Run["ls"]`,
		`\:03b1`:               "α",
		`x_\:0049nteger`:       "Pattern[x, Blank[Integer]]",
		"Ru\\\nn[\"ls\"]":      "refused: escape",
		"Ru\\\r\nn[\"ls\"]":    "refused: escape",
		`\[Ru]n["ls"]`:         "refused: escape",
		`\[R]un["ls"]`:         "refused: escape",
		`\:002b`:               "refused: escape",
		`a\.2ab`:               "refused: escape",
		`a\:000ab`:             "refused: escape",
		`\:d800`:               "refused: escape",
		`\|110000`:             "refused: escape",
		`\:12`:                 "refused: escape",
		`\ a`:                  "refused: escape",
		`\(x\)`:                "refused: escape",
		`\[Alpha`:              "refused: escape",
		`\!\(x\)`:              "refused: escape",
		"\"a\\\nb\"":           "refused: escape",
		`"\q"`:                 "refused: escape",
		`1]]];Run["ls"];f[[[1`: "refused: syntax",
	} {
		if _, got := ours(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestLinear counts the work of the parser on inputs that grow: it must grow no faster than they do.
func TestLinear(t *testing.T) {
	for name, make := range map[string]func(n int) string{
		"sum":        func(n int) string { return "a" + strings.Repeat("+a", n) },
		"difference": func(n int) string { return "a" + strings.Repeat("-2 a/b", n) },
		"quotient":   func(n int) string { return "a" + strings.Repeat("/a", n) },
		"product":    func(n int) string { return "a" + strings.Repeat(" a/b*-c", n) },
		"comparison": func(n int) string { return "a" + strings.Repeat("<a<=a", n) },
		"primes":     func(n int) string { return "f" + strings.Repeat("'", n) },
		"list":       func(n int) string { return "{" + strings.Repeat("f[x]^2,", n) + "}" },
		"statements": func(n int) string { return strings.Repeat("a=1;", n) },
		"lines":      func(n int) string { return strings.Repeat("a\n", n) },
		"comments":   func(n int) string { return strings.Repeat("(*", n) + strings.Repeat("*)", n) + "a" },
		"towers":     func(n int) string { return "{" + strings.Repeat("(a^(b^c)),", n) + "1}" },
		"string":     func(n int) string { return `"` + strings.Repeat(`\n`, n) + `"` },
		"number":     func(n int) string { return strings.Repeat("7", n) },
	} {
		work := func(n int) (steps, tokens int) {
			p, err := newParser(make(n))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.expressions(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return p.steps, p.lex.tokens
		}
		for _, n := range []int{100, 10_000, 20_000} {
			if steps, tokens := work(n); steps > 3*tokens+3 {
				t.Errorf("%s of %d: %d steps for %d words", name, n, steps, tokens)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		text := "{" + strings.Repeat("Sin[x]^2/(1+a x) - 3.5 b, ", n) + "1}"
		b.Run(fmt.Sprintf("%dkB", len(text)/1000), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
