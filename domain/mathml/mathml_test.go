package mathml

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/cmplx"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/expression"
)

// linear is markup as a line: fractions as {a}/{b}, powers as a^{b}, indices as a_{b}.
func linear(t testing.TB, markup string) string {
	t.Helper()
	root := tree(t, markup)
	return root.linear()
}

// node is an element of the markup, or a text.
type node struct {
	name     string
	text     string
	children []*node
}

// tree reads markup, and fails for what is not well formed, or not of the elements and attributes that are promised.
func tree(t testing.TB, markup string) *node {
	t.Helper()
	allowed := regexp.MustCompile(`^(math|mrow|mi|mn|mo|mtext|mfrac|msqrt|mroot|msup|msub|msubsup|munder|mover|munderover|mtable|mtr|mtd|mspace)$`)
	attributes := regexp.MustCompile(`^(display|mathvariant|lspace|rspace|separator|fence|form|stretchy|linethickness|movablelimits|accent|width)$`)
	values := regexp.MustCompile(`^(block|normal|true|false|prefix|postfix|0|[0-9.]+em)$`)
	counts := map[string]int{"mfrac": 2, "msup": 2, "msub": 2, "mroot": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
	decoder := xml.NewDecoder(strings.NewReader(markup))
	open := []*node{{}}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, markup)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			if !allowed.MatchString(token.Name.Local) {
				t.Fatalf("element %s in %s", token.Name.Local, markup)
			}
			for _, a := range token.Attr {
				if !attributes.MatchString(a.Name.Local) || !values.MatchString(a.Value) {
					t.Fatalf("attribute %s=%q in %s", a.Name.Local, a.Value, markup)
				}
			}
			made := &node{name: token.Name.Local}
			last.children = append(last.children, made)
			open = append(open, made)
		case xml.EndElement:
			if want, ok := counts[last.name]; ok && len(last.children) != want {
				t.Fatalf("%s has %d parts in %s", last.name, len(last.children), markup)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if !regexp.MustCompile(`^(mi|mn|mo|mtext)$`).MatchString(last.name) {
				t.Fatalf("text %q in %s of %s", token, last.name, markup)
			}
			last.text += string(token)
		default:
			t.Fatalf("%T in %s", token, markup)
		}
	}
	if len(open) != 1 || len(open[0].children) != 1 || open[0].children[0].name != "math" {
		t.Fatalf("%s is not one formula", markup)
	}
	return open[0].children[0]
}

func (n *node) linear() string {
	parts := make([]string, len(n.children))
	for i, child := range n.children {
		parts[i] = child.linear()
	}
	switch n.name {
	case "mfrac":
		return "{" + parts[0] + "}/{" + parts[1] + "}"
	case "msup":
		return parts[0] + "^{" + parts[1] + "}"
	case "msub", "munder":
		return parts[0] + "_{" + parts[1] + "}"
	case "msubsup", "munderover":
		return parts[0] + "_{" + parts[1] + "}^{" + parts[2] + "}"
	case "mover":
		return parts[0] + parts[1]
	case "msqrt":
		return "√{" + strings.Join(parts, "") + "}"
	case "mroot":
		return "√[" + parts[1] + "]{" + parts[0] + "}"
	case "mtr":
		return strings.Join(parts, " & ") + ";"
	}
	text := strings.NewReplacer(multiplied, " ", applied, "", "\u00a0", " ").Replace(n.text)
	return text + strings.Join(parts, "")
}

func TestNotations(t *testing.T) {
	for text, want := range map[string]string{
		"a+b-c":                        "a+b−c",
		"a-(b-c)":                      "a−(b−c)",
		"-a+b":                         "−a+b",
		"-(a+b)":                       "−(a+b)",
		"a-2":                          "a−2",
		"a*(b+c)":                      "a·(b+c)",
		"2*(b+c)":                      "2 (b+c)",
		"(a+b)*(c+d)":                  "(a+b) (c+d)",
		"2*3^x":                        "2·3^{x}",
		"2*x":                          "2 x",
		"x*2":                          "x·2",
		"sin*x":                        "sin·x",
		"x*sin":                        "x·sin",
		"2*sin":                        "2·sin",
		"log*(x+1)":                    "log·(x+1)",
		"f*(x+1)":                      "f·(x+1)",
		"sin^2*x":                      "sin^{2}·x",
		"lim!*x":                       "lim!·x",
		"a*Sin[x]":                     "a sin(x)",
		"sin*Integrate[f[x],x]":        "sin·∫f(x)dx",
		"-sin*x":                       "−sin·x",
		"sin*x/y":                      "{sin·x}/{y}",
		"f[x]*(a+b)":                   "f(x)·(a+b)",
		"x*(a+b)^2":                    "x·(a+b)^{2}",
		"1/2":                          "{1}/{2}",
		"-1/12*Pi^2":                   "−{π^{2}}/{12}",
		"x^2/2":                        "{x^{2}}/{2}",
		"a/b/c":                        "{a}/{b c}",
		"a/(b/c)":                      "{a}/{{b}/{c}}",
		"x^(-2)":                       "{1}/{x^{2}}",
		"x^(1/2)":                      "√{x}",
		"x^(-1/2)":                     "{1}/{√{x}}",
		"x^(1/3)":                      "x^{1/3}",
		"x^(-2/3)":                     "{1}/{x^{2/3}}",
		"E^(-x^2)":                     "e^{−x^{2}}",
		"Exp[-x]":                      "e^{−x}",
		"(x^y)^z":                      "(x^{y})^{z}",
		"x^y^z":                        "x^{y^{z}}",
		"(-2)^x":                       "(−2)^{x}",
		"-2^x":                         "−2^{x}",
		"(a/b)^2":                      "({a}/{b})^{2}",
		"(a b)^2":                      "(a b)^{2}",
		"Sin[x]^2":                     "sin^{2}(x)",
		"Sin[x]^(-1)":                  "{1}/{sin(x)}",
		"ArcSin[x]^2":                  "arcsin(x)^{2}",
		"Log[x]":                       "log(x)",
		"Log[2,x]":                     "log_{2}(x)",
		"Gamma[n+1]":                   "Γ(n+1)",
		"Sqrt[x+1]":                    "√{x+1}",
		"Surd[x,3]":                    "√[3]{x}",
		"n!":                           "n!",
		"(n+1)!":                       "(n+1)!",
		"(n!)^2":                       "(n!)^{2}",
		"(n^2)!":                       "(n^{2})!",
		"(n!)!":                        "(n!)!",
		"3+4*I":                        "3+4 i",
		"α+\\[Beta]":                   "α+β",
		"Infinity":                     "∞",
		"-Infinity":                    "−∞",
		"{1,x,y}":                      "{1,x,y}",
		"{}":                           "{}",
		"{{1,2},{3,4}}":                "(1 & 2;3 & 4;)",
		"{{a},{b}}":                    "(a;b;)",
		"{{1,2},{3}}":                  "{{1,2},{3}}",
		"{{x->2},{x->3}}":              "{{x→2},{x→3}}",
		"{x->2,y->z+1}":                "{x→2,y→z+1}",
		"x==2||x==3":                   "x=2∨x=3",
		"a<b<=c":                       "a<b≤c",
		"a<b<c":                        "a<b<c",
		"x!=0&&y>=1":                   "x≠0∧y≥1",
		"!(a&&b)":                      "¬(a∧b)",
		"(a==b)==c":                    "(a=b)=c",
		"Element[C[1],Integers]":       "C_{1}∈ℤ",
		"ConditionalExpression[x,x>0]": "x if x>0",
		"{x->ConditionalExpression[2*Pi*C[1],Element[C[1],Integers]]}": "{x→2 π C_{1} if C_{1}∈ℤ}",
		"Integrate[f[x],x]":                "∫f(x)dx",
		"Integrate[a+x,{x,0,1}]":           "∫_{0}^{1}(a+x)dx",
		"Integrate[x*y,{x,0,1},{y,0,x}]":   "∫_{0}^{1}∫_{0}^{x}x ydydx",
		"2*Integrate[f[x],x]":              "2 ∫f(x)dx",
		"Integrate[f[x],x]*y":              "(∫f(x)dx) y",
		"Integrate[f[x],x]^2":              "(∫f(x)dx)^{2}",
		"Sum[1/k^2,{k,1,n}]":               "∑_{k=1}^{n}{1}/{k^{2}}",
		"Sum[k,{k,n}]+a":                   "∑_{k=1}^{n}k+a",
		"Sum[k+a,{k,n}]":                   "∑_{k=1}^{n}(k+a)",
		"Sum[k,{k,1,n,2}]":                 "Sum(k,{k,1,n,2})",
		"Product[k,{k,2,n}]":               "∏_{k=2}^{n}k",
		"Limit[f[x],x->0]":                 "lim_{x→0}f(x)",
		"D[f[x],x]":                        "{∂}/{∂x}f(x)",
		"D[f[x],{x,2}]":                    "{∂^{2}}/{∂x^{2}}f(x)",
		"y'[x]":                            "y^{′}(x)",
		"y''[x]":                           "y^{′′}(x)",
		"Derivative[1,0][f][x,y]":          "f^{(1,0)}(x,y)",
		"Piecewise[{{x,x>0},{-x,x<0}},0]":  "{x & if x>0;−x & if x<0;0 & otherwise;",
		`"a<b"`:                            `"a<b"`,
		`f["a b"]`:                         `f("a b")`,
		"<|a->1|>":                         "⟨a→1⟩",
		"1.5*^-7":                          "1.5×10^{−7}",
		"-1.5*^-10*x":                      "−1.5×10^{−10} x",
		"1.5`20":                           "1.5_{`20}",
		"1.5`20*x":                         "1.5_{`20} x",
		"f[g][x]":                          "f(g)(x)",
		"(a+b)[x]":                         "(a+b)(x)",
		"Mod[a,b]+1":                       "(amodb)+1",
		"2*Mod[a,b]":                       "2 (amodb)",
		"a.b":                              "Dot(a,b)",
		"(a+b).c":                          "Dot(a+b,c)",
		"(a.b)*c":                          "Dot(a,b) c",
		"Binomial[n,k]":                    "({n}/{k})",
		"Abs[x]":                           "|x|",
		"Floor[x/2]":                       "⌊{x}/{2}⌋",
		"BesselJ[0,x]":                     "J_{0}(x)",
		"x^2&":                             "x^2 &",
		"f[#^2&]":                          "f(#1^2 &)",
		"x_+y":                             "(x_)+y",
		"a=b":                              "a = b",
		"m[[1,2]]":                         "m⟦1,2⟧",
		"SeriesData[x,0,{1,0,1/6},-1,4,1]": "{1}/{x}+{x}/{6}+O(x^{4})",
		"SeriesData[x,1,{1,2},0,2,1]":      "1+2 (x−1)+O((x−1)^{2})",
		"SeriesData[x,Infinity,{1},0,2,1]": "SeriesData(x,∞,{1},0,2,1)",
		strings.Repeat("9", 70):            "99999999999999999999…99999999999999999999_{70 digits}",
	} {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		markup, ok := Write(e)
		if !ok {
			t.Errorf("%s is not written", text)
			continue
		}
		if got := linear(t, markup); got != want {
			t.Errorf("%s\n got  %s\n want %s", text, got, want)
		}
	}
}

// TestWhatIsNotTypeset: what a formula shows no better, what is no expression, and what is too large.
func TestWhatIsNotTypeset(t *testing.T) {
	for _, text := range []string{"2", "x", `"text"`, "-Graphics-", "", "f[", "1.5", "True", strings.Repeat("1+", MaxNodes) + "1", strings.Repeat("f[", MaxLevels) + "x" + strings.Repeat("]", MaxLevels), strings.Repeat(" ", MaxTextBytes) + "a+b", "a\nb"} {
		if markup, ok := Of(text); ok {
			t.Errorf("%.40q: %.200s", text, markup)
		}
	}
	for _, text := range []string{"Pi", "1/2", "f[x]", strings.Repeat("1+", 900) + "1", strings.Repeat("f[", MaxLevels-2) + "x" + strings.Repeat("]", MaxLevels-2)} {
		if _, ok := Of(text); !ok {
			t.Errorf("%.40q", text)
		}
	}
}

// TestForeignTextIsText: characters of names and texts are characters, and those that are not seen are named.
func TestForeignTextIsText(t *testing.T) {
	for _, text := range []string{`f["</mtext><script>alert(1)</script>"]`, `f["&lt;"]`, "f[\"a\u202eb\u200b\"]", `f["\\unicode{}"]`, "f[\"\U000E0001\ufe0f\ue000\"]"} {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		markup, _ := Write(e)
		shown := linear(t, markup)
		if strings.Contains(text, "script") && !strings.Contains(shown, "<script>alert(1)</script>") || strings.ContainsFunc(shown, unseen) || strings.Contains(text, "&lt;") && !strings.Contains(shown, "&lt;") {
			t.Errorf("%q is shown as %q", text, shown)
		}
	}
}

// FuzzOf: for every text the markup is well formed, of the promised elements, and of a size in proportion to the text.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"a+b", "x^(-1/2)", "Integrate[x,{x,0,1},{y}]", "Piecewise[{{1,x},2}]", "Inequality[a,Less,b,c,d]", "D[f,{x,n}]", "SeriesData[x,x,{1,2},0,3,1]", "Times[]", "Plus[]", "Power[a]", "Rational[1]", "Complex[a]",
		"Derivative[][f][x]", "Subscript[a,b]", "a!!", "Times[-1,-2]", "Times[Times[-1,2],3]", `"\[Alpha]<"`, "f''''[x]", "{{}}", "{{a}}", "<|1|>", "Sum[Sum[k,{k}],{k,{k}}]", "1`5*^7", "Rational[-1,2]^x", "Rational[Rational[-1,2],3]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		e, err := expression.Parse(text)
		if err != nil {
			return
		}
		markup, ok := Write(e)
		if !ok {
			return
		}
		tree(t, markup)
		nodes := 0
		within(e, MaxLevels, &nodes)
		if most := 1000*nodes + 10*len(text) + 20_000; len(markup) > most {
			t.Errorf("%d bytes of markup for %d nodes and %d bytes", len(markup), nodes, len(text))
		}
	})
}

// TestNestedShapesTakeLinearTime: for each notation with a shape that it refuses, nested as deep as it may be.
func TestNestedShapesTakeLinearTime(t *testing.T) {
	for _, shape := range []string{"Integrate[%,{%}]", "Sum[1,{%,1,2,3}]", "Piecewise[{{%,1},2}]", "Inequality[%,Less,b,c,%]", "D[f,{x,%}]", "Limit[%,x]", "SeriesData[%,0,{1,1,1},0,2,1]", "SeriesData[x,%,{1,1,1},0,2,1]", "Derivative[1][%][x]", "(%)!", "(%)^(1/2)", "-(%)", "Surd[%]", "Mod[%]", "Log[1,2,%]", "Rational[-%,2]", "Complex[%,1]", "(%)/(%)"} {
		text := "x"
		for range 25 {
			text = strings.Replace(shape, "%", text, 1)
		}
		text = strings.ReplaceAll(text, "%", "y")
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(shape, err)
		}
		if markup, ok := Write(e); ok && len(markup) > 400_000 {
			t.Errorf("%s: %d bytes", shape, len(markup))
		}
	}
}

// TestFormulasMeanWhatTheyAreOf: a reader of the printed form, which knows the conventions of mathematics and nothing of the language,
// comes to the same value as the expression has.
func TestFormulasMeanWhatTheyAreOf(t *testing.T) {
	variables := map[string]complex128{"x": 1.3, "y": 0.7, "z": -0.4}
	rapid.Check(t, func(r *rapid.T) {
		e := arithmetic(r, 4)
		markup, ok := Write(e)
		if !ok {
			r.Skip("too large")
		}
		want := value(e, variables)
		if cmplx.IsNaN(want) {
			r.Skip("no value")
		}
		reader := &printed{t: t, variables: variables}
		got := reader.node(tree(t, markup))
		if cmplx.Abs(got-want) > 1e-6*(1+cmplx.Abs(want)) {
			r.Fatalf("%s is %v, printed as %s it is %v", e.FullForm(), want, linear(t, markup), got)
		}
	})
}

// arithmetic draws an expression of sums, products, powers and functions, in every nesting and with signs everywhere.
func arithmetic(r *rapid.T, levels int) *expression.Expr {
	if levels == 0 || rapid.IntRange(0, 4).Draw(r, "leaf") == 0 {
		switch rapid.IntRange(0, 4).Draw(r, "atom") {
		case 0, 1:
			return expression.Sym(rapid.SampledFrom([]string{"x", "y", "z", "Pi", "E", "I"}).Draw(r, "name"))
		case 2:
			return &expression.Expr{Kind: expression.Real, Text: rapid.SampledFrom([]string{"1.5", "-0.25", "2."}).Draw(r, "real")}
		case 3:
			return expression.NewCall("Rational", expression.Int(rapid.Int64Range(-3, 3).Draw(r, "p")), expression.Int(rapid.Int64Range(1, 4).Draw(r, "q")))
		}
		return expression.Int(rapid.Int64Range(-4, 4).Draw(r, "integer"))
	}
	some := func(least, most int) []*expression.Expr {
		args := make([]*expression.Expr, rapid.IntRange(least, most).Draw(r, "arguments"))
		for i := range args {
			args[i] = arithmetic(r, levels-1)
		}
		return args
	}
	switch rapid.IntRange(0, 6).Draw(r, "call") {
	case 0, 1:
		return expression.NewCall("Plus", some(2, 3)...)
	case 2, 3:
		return expression.NewCall("Times", some(2, 4)...)
	case 4:
		exponent := rapid.SampledFrom([]*expression.Expr{expression.Int(2), expression.Int(-1), expression.Int(-2), expression.Int(3), expression.Sym("y"),
			expression.NewCall("Rational", expression.Int(1), expression.Int(2)), expression.NewCall("Rational", expression.Int(-1), expression.Int(2)),
			expression.NewCall("Times", expression.Int(-1), expression.NewCall("Power", expression.Int(3), expression.Int(-1)))}).Draw(r, "exponent")
		return expression.NewCall("Power", arithmetic(r, levels-1), exponent)
	case 5:
		return expression.NewCall(rapid.SampledFrom([]string{"Sin", "Cos", "Exp", "Sqrt", "Abs"}).Draw(r, "function"), arithmetic(r, levels-1))
	}
	return arithmetic(r, levels-1)
}

// value is what an expression comes to; NaN where it or a part is so large that rounding would decide.
func value(e *expression.Expr, variables map[string]complex128) complex128 {
	if v := exactly(e, variables); cmplx.Abs(v) < 1e5 {
		return v
	}
	return cmplx.NaN()
}

func exactly(e *expression.Expr, variables map[string]complex128) complex128 {
	switch e.Kind {
	case expression.Integer, expression.Real:
		n, _ := strconv.ParseFloat(e.Text, 64)
		return complex(n, 0)
	case expression.Symbol:
		switch e.Text {
		case "Pi":
			return math.Pi
		case "E":
			return math.E
		case "I":
			return 1i
		}
		return variables[e.Text]
	}
	args := make([]complex128, len(e.Args))
	for i, arg := range e.Args {
		args[i] = value(arg, variables)
	}
	switch e.Head.Text {
	case "Plus":
		sum := complex128(0)
		for _, a := range args {
			sum += a
		}
		return sum
	case "Times":
		product := complex128(1)
		for _, a := range args {
			product *= a
		}
		return product
	case "Power":
		return principal(args[0], args[1])
	case "Rational":
		return args[0] / args[1]
	case "Sqrt":
		return principal(args[0], 0.5)
	}
	return function(strings.ToLower(e.Head.Text), args[0])
}

// principal is a power; NaN on the branch cut, where the sign of a zero would decide.
func principal(base, exponent complex128) complex128 {
	if real(base) <= 0 && math.Abs(imag(base)) < 1e-9 && exponent != complex(math.Round(real(exponent)), 0) {
		return cmplx.NaN()
	}
	return cmplx.Pow(base, exponent)
}

func function(name string, of complex128) complex128 {
	switch name {
	case "sin":
		return cmplx.Sin(of)
	case "cos":
		return cmplx.Cos(of)
	case "exp":
		return cmplx.Exp(of)
	case "abs":
		return complex(cmplx.Abs(of), 0)
	}
	return cmplx.NaN()
}

// printed reads formulas as people do.
type printed struct {
	t         testing.TB
	variables map[string]complex128
	items     []*node // of the row that is read, those of rows in it among them
}

// node is the value of one element.
func (p *printed) node(n *node) complex128 {
	switch n.name {
	case "math", "mrow":
		inner := &printed{t: p.t, variables: p.variables, items: unfolded(n.children)}
		v := inner.sum()
		if len(inner.items) > 0 {
			p.t.Fatalf("%s is left of a row", inner.items[0].linear())
		}
		return v
	case "mn":
		v, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		return complex(v, 0)
	case "mi":
		switch n.text {
		case "π":
			return math.Pi
		case "e":
			return math.E
		case "i":
			return 1i
		}
		v, ok := p.variables[n.text]
		if !ok {
			p.t.Fatalf("what is %s?", n.text)
		}
		return v
	case "mfrac":
		return p.node(n.children[0]) / p.node(n.children[1])
	case "msqrt":
		inner := &node{name: "mrow", children: n.children}
		return cmplx.Pow(p.node(inner), 0.5)
	case "msup":
		base := unfolded(n.children[:1])
		bracketed := base[0].text == "(" || base[0].text == "|" || len(base) > 1 && base[1].text == applied
		if !bracketed && (len(base) > 1 || base[0].name == "mfrac" || base[0].name == "msup") {
			p.t.Fatalf("what is raised to a power is not seen in %s", n.linear())
		}
		return cmplx.Pow(p.node(n.children[0]), p.node(n.children[1]))
	}
	p.t.Fatalf("%s stands by itself", n.name)
	return 0
}

// unfolded are the items of a row with those of the rows in it: a row groups nothing that can be seen.
func unfolded(all []*node) (items []*node) {
	for _, n := range all {
		if n.name == "mrow" {
			items = append(items, unfolded(n.children)...)
		} else {
			items = append(items, n)
		}
	}
	return items
}

func (p *printed) next(signs ...string) bool {
	if len(p.items) == 0 || p.items[0].name != "mo" {
		return false
	}
	for _, sign := range signs {
		if p.items[0].text == sign {
			return true
		}
	}
	return false
}

func (p *printed) take() *node {
	if len(p.items) == 0 {
		p.t.Fatal("a row ends too early")
	}
	n := p.items[0]
	p.items = p.items[1:]
	return n
}

func (p *printed) sum() complex128 {
	total := complex128(0)
	for first := true; first || p.next("+", "−"); first = false {
		sign := complex128(1)
		if p.next("+", "−") {
			if p.take().text == "−" {
				sign = -1
			}
		}
		total += sign * p.product()
	}
	return total
}

func (p *printed) product() complex128 {
	v := p.factor()
	for p.next(multiplied, "·", "/") {
		if p.take().text == "/" {
			v /= p.factor()
		} else {
			v *= p.factor()
		}
	}
	return v
}

func (p *printed) factor() complex128 {
	switch {
	case p.next("("):
		p.take()
		v := p.sum()
		if !p.next(")") {
			p.t.Fatal("a parenthesis is not closed")
		}
		p.take()
		return v
	case p.next("|"):
		p.take()
		v := p.sum()
		p.take()
		return complex(cmplx.Abs(v), 0)
	}
	n := p.take()
	if !p.next(applied) {
		return p.node(n)
	}
	p.take()
	if !p.next("(") {
		p.t.Fatal("a function is applied to nothing")
	}
	argument := p.factor()
	if n.name == "msup" {
		return cmplx.Pow(function(n.children[0].text, argument), p.node(n.children[1]))
	}
	return function(n.text, argument)
}

// TestBracketsGrowOnlyWithWhatIsHigh: those of a line do not.
func TestBracketsGrowOnlyWithWhatIsHigh(t *testing.T) {
	for text, fixed := range map[string]int{"f[x]": 2, "a*(b+c)": 2, "f[x^2, y]": 2, "Abs[x]": 2, "{1, 2}": 2, "f[x/y]": 0, "(1 + 1/x)^2": 0, "{{1, 2}, {3, 4}}": 0, "Binomial[n, k]": 0, "f[g[x], 1/y]": 2} {
		formula, _ := Of(text)
		if n := strings.Count(formula, `stretchy="false"`); n != fixed {
			t.Errorf("%s: %d brackets of a fixed size, not %d, in %s", text, n, fixed, formula)
		}
	}
}
