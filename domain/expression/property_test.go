package expression

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// trees draws trees as Parse can make them: canonical numbers, known and unknown heads of any arity, wherever they may stand.
func trees() *rapid.Generator[*Expr] {
	symbols := rapid.SampledFrom([]string{"x", "y", "Pi", "I", "Null", "All", "Less", "Equal", "α", "a`b", "$c", "Plus", "Derivative"})
	numbers := rapid.SampledFrom([]string{"0", "1", "-1", "2", "-2", "10", "123456789012345678901234567890", "1.5", "-0.5", "1.", "-0.",
		"1.5`20", "1.*^-7", "-2.5*^30", "1.5``3", "1.*^400"})
	atom := rapid.OneOf(
		rapid.Map(symbols, Sym),
		rapid.Map(numbers, func(text string) *Expr {
			if strings.ContainsAny(text, ".") {
				return &Expr{Kind: Real, Text: text}
			}
			return &Expr{Kind: Integer, Text: text}
		}),
		rapid.Map(rapid.StringN(0, 5, -1), Str),
	)
	heads := []string{"f", "List", "Association", "Rational", "Complex", "Derivative", "Slot", "SlotSequence", "Sequence",
		"Pattern", "Blank", "BlankSequence", "BlankNullSequence", "Optional", "Inequality", "Part", "Span", "Function", "Not",
		"Factorial", "Factorial2", "Plus", "Plus", "Times", "Times", "Times", "Power", "Power", "CompoundExpression", "Out",
		"MessageName", "Repeated"}
	heads = slices.AppendSeq(heads, maps.Keys(joiners))
	slices.Sort(heads)
	var tree func(depth int) *rapid.Generator[*Expr]
	tree = func(depth int) *rapid.Generator[*Expr] {
		if depth == 0 {
			return atom
		}
		return rapid.Custom(func(t *rapid.T) *Expr {
			if rapid.IntRange(0, 3).Draw(t, "atom") == 0 {
				return atom.Draw(t, "leaf")
			}
			below := tree(depth - 1)
			head := Sym(rapid.SampledFrom(heads).Draw(t, "head"))
			if rapid.IntRange(0, 9).Draw(t, "curried") == 0 {
				head = below.Draw(t, "head tree")
			}
			return Apply(head, rapid.SliceOfN(below, 0, 4).Draw(t, "args")...)
		})
	}
	return tree(4)
}

// TestRoundTrip: what either printer writes reads back to an equal tree.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := trees().Draw(t, "tree")
		for name, text := range map[string]string{"FullForm": e.FullForm(), "Source": e.Source()} {
			again, err := Parse(text)
			if err != nil {
				t.Fatalf("%s %s of %s: %v", name, text, e.FullForm(), err)
			}
			if !again.Equal(e) {
				t.Fatalf("%s %s of %s reads as %s", name, text, e.FullForm(), again.FullForm())
			}
		}
	})
}

// TestSourceOfCorpus: the same for every text of the comparison with the engine.
func TestSourceOfCorpus(t *testing.T) {
	for _, text := range inputs(t) {
		e, err := Parse(text)
		if err != nil {
			continue
		}
		for _, printed := range []string{e.Source(), e.FullForm()} {
			if again, err := Parse(printed); err != nil || !again.Equal(e) {
				t.Errorf("%s printed as %s reads as %s, %v", text, printed, again.FullForm(), err)
			}
		}
	}
}

func TestSource(t *testing.T) {
	for text, want := range map[string]string{
		"Integrate[x^2 Sin[x],x]": "Integrate[x^2*Sin[x], x]",
		"-x/(2y)-3":               "-x/(2*y) - 3",
		"a-(b-c)+ -2 d":           "a - (b - c) + -2*d",
		"a-b c/d":                 "a - b*c/d",
		"x^-1":                    "x^(-1)",
		"1/x":                     "1/x",
		"y''[x]==-y[x]":           "y''[x] == -y[x]",
		"f[x_,n_:2,_.]:=#^2&":     "f[x_, n_:2, _.] := #1^2 &",
		"!a&&b||c":                "!a && b || c",
		"a<b<=c":                  "a < b <= c",
		"x[[1;;2]]/.x->{1,2}":     "x[[1 ;; 2]] /. x -> {1, 2}",
		"<|a->1|>;(n!)!":          "<|a -> 1|>; (n!)!",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Source(); got != want {
			t.Errorf("%s is printed as %s, want %s", text, got, want)
		}
	}
}

// TestCanonical: writing the same expression otherwise gives the same canonical tree, another expression another one.
func TestCanonical(t *testing.T) {
	canonical := func(text string) *Expr {
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return Canonical(e)
	}
	for _, same := range [][2]string{
		{"a-b-c", "Plus[Plus[a, Times[-1, b]], Times[-1, c]]"},
		{"-a b/c", "Times[Times[-1, Times[a, b]], Power[c, -1]]"},
		{"1/2", "Rational[1, 2]"},
		{"-1/2", "Rational[-1, 2]"},
		{"a-2", "Plus[a, Times[-1, 2]]"},
		{"2-3I", "Complex[2, -3]"},
		{"-I", "Complex[0, -1]"},
		{"2.5I", "Complex[0., 2.5]"},
		{"2/3 + 1/2 I", "Complex[Rational[2, 3], Rational[1, 2]]"},
		{"(1+2I)(3-I)", "Complex[5, 5]"},
		{"-Infinity", "DirectedInfinity[-1]"},
		{"_Integer", "Pattern[Null, Blank[Integer]]"},
		{"a&&b&&c", "And[And[a, b], c]"},
		{"1.50000000000000000000", "1.5`20.176091259055681"},
		{"1.5``20", "1.5`20.17609125905568"},
		{"Times[]", "Times[]"},
	} {
		if a, b := canonical(same[0]), canonical(same[1]); !a.Equal(b) {
			t.Errorf("%s is %s, %s is %s", same[0], a.FullForm(), same[1], b.FullForm())
		}
	}
	for _, different := range [][2]string{
		{"a-b", "b-a"}, {"a/b", "b/a"}, {"-x^2", "(-x)^2"}, {"a/b c", "a/(b c)"}, {"1.5", "1.5`20"}, {"1", "1."},
		{"1+1", "2"}, {"a/f[x] y", "a/(f[x] y)"}, {"x_", "_"}, {"I", "1"}, {"{a,{b}}", "{a,b}"}, {"-3!", "(-3)!"},
		{"x^y^z", "(x^y)^z"}, {"a->b", "a:>b"}, {"a==b", "a===b"}, {"\"x\"", "x"},
	} {
		if a, b := canonical(different[0]), canonical(different[1]); a.Equal(b) {
			t.Errorf("%s and %s are both %s", different[0], different[1], a.FullForm())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		once := Canonical(trees().Draw(t, "tree"))
		if twice := Canonical(once); !twice.Equal(once) {
			t.Fatalf("%s becomes %s", once.FullForm(), twice.FullForm())
		}
	})
}

func TestSameAsEngine(t *testing.T) {
	e := NewCall("f", Str("a b"), Int(1))
	for text, want := range map[string]bool{
		`Hold[f[\"a b\", 1]]`:        true,
		`Hold[f[\"a b\", 2]]`:        false,
		`f[\"a b\", 1]`:              false,
		`Hold[f[\"a b\", 1], Run[]]`: false,
		`Hold[f[\"a" b\", 1]]`:       false,
		`Hold[f[\"a b\", 1]`:         false,
		"":                           false,
	} {
		if SameAsEngine(e, text) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}

func TestTree(t *testing.T) {
	e, err := Parse("Integrate[x Sin[x]^2, {x, 0, y}] + f[x][z]")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Symbols(), " "); got != "Plus Integrate Times x Power Sin List y f z" {
		t.Errorf("symbols %s", got)
	}
	if got := strings.Join(e.Heads(), " "); got != "Plus Integrate Times Power Sin List f" {
		t.Errorf("heads %s", got)
	}
	if e.FreeOf(Sym("x")) || !e.FreeOf(Sym("w")) || e.FreeOf(NewCall("Sin", Sym("x"))) {
		t.Error("FreeOf is wrong")
	}
	replaced := e.Replace(Sym("x"), NewCall("g", Sym("x")))
	if want := "Plus[Integrate[Times[g[x], Power[Sin[g[x]], 2]], List[g[x], 0, y]], f[g[x]][z]]"; replaced.FullForm() != want {
		t.Errorf("replaced %s", replaced.FullForm())
	}
	if e.Replace(Sym("w"), Int(1)) != e {
		t.Error("a replacement of nothing copied the tree")
	}
	if e.HeadName() != "Plus" || e.Args[1].HeadName() != "" || Int(3).HeadName() != "Integer" || !Int(3).IsInt(3) || Int(3).IsCall("Integer") {
		t.Error("heads are wrong")
	}
}

func TestDenied(t *testing.T) {
	denied := map[string]bool{"Run": true, "Get": true, "Put": true, "ToExpression": true}
	for text, want := range map[string]string{
		"Sin[x]": "", `Run["ls"]`: "Run", "r=Run;r[1]": "Run", "System`Run[1]": "Run", "foo`Run[1]": "Run", "<<file": "Get",
		"x>>file": "Put", `\:0052un[1]`: "Run", "f[Run]": "Run", "Run": "Run", `"Run"`: "", "Runner[1]": "", "x_Run": "Run",
		"ToExpression@\"1\"": "ToExpression",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		refusal := Denied(e, denied)
		if (refusal == nil) != (want == "") || refusal != nil && refusal.Name != want {
			t.Errorf("%s: %v, want %q", text, refusal, want)
		}
	}
}

func TestAllowlisted(t *testing.T) {
	allowed := map[string]bool{}
	for _, name := range strings.Fields("DSolve Derivative Plus Times Power Sin Cos Integrate List Rule Equal Solve D Pi E I Infinity Factorial") {
		allowed[name] = true
	}
	for text, want := range map[string]string{
		"Integrate[x^2 Sin[x], {x, 0, Pi}]":      "",
		"Solve[x^2==a, x]":                       "",
		"α + 1/π":                                "",
		"5!":                                     "",
		"1+1\n2+2":                               "",
		"Sin[x]\nRun[1]":                         "Run",
		"Run[1]":                                 "Run",
		"{Run}":                                  "Run",
		"x+$Version":                             "$Version",
		"f[x]":                                   "f",
		"D[y'[x],x]":                             "Derivative[1][y]",
		"Sin[x][y]":                              "Sin[x]",
		"(Sin)[x]":                               "",
		"(x+1)[2]":                               "Plus[x, 1]",
		"System`Sin[x]":                          "",
		"a`Sin[x]":                               "a`Sin",
		"{a`b}":                                  "a`b",
		"Sin/@{1,2}":                             "Map",
		"#&":                                     "Function",
		"x=1":                                    "Set",
		"%":                                      "Out",
		"<<a":                                    "Get",
		"Sin::a":                                 "MessageName",
		"x_Run":                                  "Pattern",
		"ɐ+1":                                    "ɐ",
		`"a"`:                                    "String",
		`f["a"]`:                                 "f",
		`Sin["a`:                                 "unclosed",
		`Limit[1/x,x->0,Direction->"FromAbove"]`: "Limit",
		`Solve["FromAbove",x]`:                   "",
		"Sin'[x]":                                "",
		`\:0053in[x]`:                            `\`,
		`Sin[\[Alpha]]`:                          `\`,
		"1(*x*)":                                 "(*",
		"DSolve[y''[x]+y[x]==0,y[x],x]":          "",
		"DSolve[{y'[x]==z[x],z'[x]==-y[x]},{y,z},x]": "",
		"DSolve[y'[x]==f[x],y[x],x]":                 "f",
		"DSolve[Run'[x]==0,Run[x],x]":                "Derivative[1][Run]",
		"DSolve[y'[x]==0,y[x],x]+y[1]":               "y",
		"Derivative[Run][y][x]":                      "Derivative[Run][y]",
		"Sin[":                                       "unclosed",
		"":                                           "empty",
		"x\xff":                                      "character",
	} {
		_, err := Allowlisted(text, allowed)
		got := ""
		var refusal *Refusal
		var syntax *SyntaxError
		switch {
		case errors.As(err, &refusal):
			got = refusal.Name
		case errors.As(err, &syntax):
			got = string(syntax.Reason)
		}
		if got != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: no text panics, work is in proportion to the words, and what was read is printed so that it reads the same.
func FuzzParse(f *testing.F) {
	content, err := os.ReadFile("testdata/inputs.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range strings.Split(string(content), "\n") {
		f.Add(text)
	}
	f.Add("(((((")
	f.Add(`\[Alpha]\:0041"\.41`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := newParser(text)
		if err != nil {
			return
		}
		all, err := p.expressions()
		if p.steps > 3*p.lex.tokens+3 || p.lex.tokens > len(text)+1 {
			t.Fatalf("%d steps for %d words of %d bytes", p.steps, p.lex.tokens, len(text))
		}
		var refusal *SyntaxError
		if err != nil && (!errors.As(err, &refusal) || refusal.Pos.Line < 1 || refusal.Pos.Column < 1 || refusal.Pos.Offset > len(text)) {
			t.Fatalf("a refusal without a place: %v", err)
		}
		for _, e := range all {
			for _, printed := range []string{e.FullForm(), e.Source()} {
				again, err := Parse(printed)
				if err != nil || !again.Equal(e) {
					t.Fatalf("%q reads as %q, and that as %v, %v", text, printed, again.FullForm(), err)
				}
			}
			once := Canonical(e)
			if !Canonical(once).Equal(once) {
				t.Fatalf("%q: the canonical form of %s changes again", text, once.FullForm())
			}
		}
		_, _ = Allowlisted(text, map[string]bool{"Plus": true})
		_, _ = ParseFullForm(text)
	})
}
