package slips_test

import (
	"testing"

	"reckon/domain/slips"
)

// mended is the text with every suggestion taken.
func mended(text string, found []slips.Suggestion) string {
	runes := []rune(text)
	for i := len(found) - 1; i >= 0; i-- {
		s := found[i]
		runes = append(runes[:s.Range.Start:s.Range.Start], append([]rune(s.Replacement), runes[s.Range.End:]...)...)
	}
	return string(runes)
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"sin(x)": "Sin[x]", "Sqrt(16)": "Sqrt[16]", "pi": "Pi", "e^2": "E^2", "17 mod 5": "Mod[17, 5]", "Integrate[sin(x),x]": "Integrate[Sin[x],x]",
		"Plot[sin(x),{x,0,10}]": "Plot[Sin[x],{x,0,10}]", "2x+3=7": "2x+3==7", "integrate[x,x]": "Integrate[x,x]", "sin(cos(x))": "Sin[Cos[x]]",
		"Simplfy[x+x]": "Simplify[x+x]", "Sinn[x]": "Sin[x]", "cos^2(x)": "Cos[x]^2", "sin^2 x": "Sin[x]^2", "sin x": "Sin[x]", "Sqrt 16": "Sqrt[16]",
		"sin 2x + 1": "Sin[2x] + 1", "ln(x)": "Log[x]", "arcsin(1)": "ArcSin[1]", "f(x)=x^2": "f[x_]:=x^2", "x**2": "x^2", "[1,2,3]": "{1,2,3}",
		"[[1,2],[3,4]]": "{{1,2},{3,4}}", "|x|": "Abs[x]", "|x-1|+2": "Abs[x-1]+2", "5%": "(5/100)", "Sum[1/n^2,{n,1,inf}]": "Sum[1/n^2,{n,1,Infinity}]",
		"solve(x^2=4,x)": "Solve[x^2==4,x]", "Solve[x=2,x]": "Solve[x==2,x]", "Solve[x^2+2x=0,x]": "Solve[x^2+2x==0,x]", "f(x,y)": "f[x,y]",
		"x² + 1": "x^2 + 1", "True and False": "True && False", "2i+3": "2I+3", "log(100)": "Log[100]", "limit(sin(x)/x, x->0)": "Limit[Sin[x]/x, x->0]",
		"StringLength[“abc”]": `StringLength["abc"]`, "PI*2": "Pi*2", "x^2=4": "x^2==4", "mod(17,5)": "Mod[17,5]", "(x+1) mod 3": "Mod[(x+1), 3]",
		"2^100 mod 7": "Mod[2^100, 7]", "x^2 mod 5 == 1": "Mod[x^2, 5] == 1", "2x mod 5": "Mod[2x, 5]", "a*b mod c": "Mod[a*b, c]", "-7 mod 3": "Mod[-7, 3]",
		"5! mod 7": "Mod[5!, 7]", "sin cos x": "Sin[Cos[x]]", "1e10": "1*^10", "2E5": "2*^5", "1e-5 x": "1*^-5 x", "0x1F": "16^^1f", "N(Pi)": "N[Pi]", "10%3": "Mod[10, 3]",
		"x%2": "Mod[x, 2]", "3 % 2 == 1": "Mod[3, 2] == 1", "If[x=1,2,3]": "If[x==1,2,3]", "tan^-1(x)": "ArcTan[x]", "f'(x)": "f'[x]", "not a": "! a", "arctg(x)": "ArcTan[x]",
		"e^(i*pi)": "E^(I*Pi)", "1.5e3": "1.5*^3", "3.5e-10": "3.5*^-10", "log(x,10)": "Log[10, x]", "round(3.14159,2)": "Round[3.14159, 10.^-2]", "mean(1,2,3)": "Mean[{1, 2, 3}]",
		"atan2(1,2)": "ArcTan[2, 1]", "C(5,2)": "Binomial[5, 2]", "5C2": "Binomial[5, 2]", "5 choose 2": "Binomial[5, 2]", "random()": "RandomReal[]", "Sort{3,1,2}": "Sort[{3,1,2}]",
		"Sin{x}": "Sin[x]", "1,000,000 + 1": "1000000 + 1", "1 000": "1000", "2 3/4": "(2 + 3/4)", "20% of 80": "(20/100) * 80", "½": "(1/2)", "3·4": "3*4", "5−3": "5-3", "x <> 2": "x != 2",
		"integrate x^2": "Integrate[x^2, x]", "d/dx x^2": "D[x^2, x]", "solve x^2=4": "Solve[x^2==4, x]", "factor x^2-1": "Factor[x^2-1]", "the square root of 16": "Sqrt[16]",
		"what is 2+2?": "2+2", "plot sin(x)": "Plot[Sin[x], {x, -10, 10}]", "limit(sin(x)/x,x,0)": "Limit[Sin[x]/x,x -> 0]", "Sum[n^2,n,1,10]": "Sum[n^2,{n,1,10}]",
		"table(i^2,i,5)": "Table[i^2,{i,5}]", "Plot[x^2,x,0,1]": "Plot[x^2,{x,0,1}]", `\frac{1}{2}`: "(1)/(2)", `\sqrt{2}`: "Sqrt[2]", `\sin(x)`: "Sin[x]", "x^{2}": "x^(2)", "$x^2$": "x^2",
		"np.sin(1)": "Sin[1]", "math.sqrt(2)": "Sqrt[2]", `"a" + "b"`: `"a" <> "b"`, "'abc'": `"abc"`, "In[1]:= 2+2": "2+2", "1+1=?": "1+1", "In[2]:= sin(x)": "Sin[x]",
		"N[Pi 20]": "N[Pi, 20]", "{1,2,3}[[0]]": "{1,2,3}[[1]]", "{1,2,3}[1]": "{1,2,3}[[1]]", "{{1,2},{3,4}}*{{1,2},{3,4}}": "{{1,2},{3,4}}.{{1,2},{3,4}}",
		"{{1,2},{3,4}}^-1": "Inverse[{{1,2},{3,4}}]", "{{1,2},{3,4}}^2": "MatrixPower[{{1,2},{3,4}}, 2]", "x^2 /. x=3": "x^2 /. x->3", "Sin[30]": "Sin[30 Degree]",
		"Sin x]": "Sin[x]", "FindRoot[cos(x)=x,{x,1}]": "FindRoot[Cos[x]==x,{x,1}]", "y'=y": "y'==y", "today": "Today", "a = {1,2,3}; a[2]": "a = {1,2,3}; a[[2]]", "(x^2)'": "D[x^2, x]", "lim x->0 sin(x)/x": "Limit[Sin[x]/x, x -> 0]", "plot(x^2)": "Plot[x^2, {x, -10, 10}]",
		"D[x^2]": "D[x^2, x]", "Integrate[sin(x)]": "Integrate[Sin[x], x]", "x^2+2x+1 // factor": "x^2+2x+1 // Factor", "sin /@ {1,2}": "Sin /@ {1,2}", "log_2(8)": "Log[2, 8]", "x_1 + x_2": "x1 + x2",
		"Det[[1,2],[3,4]]": "Det[{{1,2},{3,4}}]", "x^2 at x=2": "x^2 /. x ->2", "log base 2 of 8": "Log[2, 8]", "f[x]=x^2": "f[x_]:=x^2", "2-−3": "2- -3", "1++2": "1+ +2",
		"∫x^2 dx": "Integrate[x^2, x]", `\int_0^1 x^2 dx`: "Integrate[x^2, {x, 0, 1}]", "i^2": "I^2", "5 // 2": "Quotient[5, 2]", "Exp[i pi]": "Exp[I Pi]", "Plot(x^2,(x,0,1))": "Plot[x^2,{x,0,1}]", "x^²": "x^2", "mean([1,2])": "Mean[{1,2}]", "sqrt (2)": "Sqrt[2]",
		"Integrate[x^2 dx]": "Integrate[x^2, x]",
		"integrate x^2 dx":  "Integrate[x^2, x]", "integral of sin(t) dt": "Integrate[Sin[t], t]", "integrate a*x^2*dx": "Integrate[a*x^2, x]",
		"Integrate[x^2 dx, x]": "Integrate[x^2, x]", "Integrate[x^2*dx, {x, 0, 1}]": "Integrate[x^2, {x, 0, 1}]", "integrate(x^2 dx, x)": "Integrate[x^2, x]",
		"intergrate[x,x]": "Integrate[x,x]", "derivitive[x^2,x]": "D[x^2,x]", "simplfy[x+x]": "Simplify[x+x]", "intergrate(x^2, x)": "Integrate[x^2, x]",
		"intergrate x^2": "Integrate[x^2, x]", "Simplfy(x+x)": "Simplify[x+x]", "diferentiate x^3": "D[x^3, x]",
		"30 deg": "30 Degree", "30deg": "30 Degree", "Sin[90 degrees]": "Sin[90 Degree]", "(a+b) degrees": "(a+b) Degree", "cos(60 degree)": "Cos[60 Degree]",
		"3 x 4": "3 * 4", "2 x 3 x 4": "2 * 3 * 4", "ans + 1": "% + 1", "2 Ans": "2 %",
		"a = 5 b = 6": "a = 5; b = 6", "a = 5 b = 6 c = 7": "a = 5; b = 6; c = 7", "a = (1 + 2) b = 6": "a = (1 + 2); b = 6",
		"Limit[Sin[x]/x, x = 0]": "Limit[Sin[x]/x, x -> 0]",
		"[1 2; 3 4]":             "{{1, 2}, {3, 4}}",
		"[1, 2; 3, 4]":           "{{1, 2}, {3, 4}}",
		"{1 2 -3}":               "{1, 2, -3}",
		"{1;2;3}":                "{{1}, {2}, {3}}",
		"Mode[{1,2,2}]":          "Commonest[{1,2,2}]",
		"=SUM(1,2,3)":            "Total[{1, 2, 3}]",
		"=2+2":                   "2+2",
		"sum({1,2,3})":           "Total[{1,2,3}]",
		"{{1,2},{3,4}}'":         "Transpose[{{1,2},{3,4}}]",
		"rref({{1,2}})":          "RowReduce[{{1,2}}]",
		"f(x_) := x^2; f(3)":     "f[x_] := x^2; f[3]",
		"f(x) = x^2; f(3)":       "f[x_] := x^2; f[3]",
		"Select[Range[10], #>5]": "Select[Range[10], #>5 &]",
		"Map[#^2, {1}]":          "Map[#^2 &, {1}]",
		"0..10":                  "Range[0, 10]",
		"1:10":                   "Range[1, 10]",
		"1:2:10":                 "Range[1, 10, 2]",
		"{\"a\":1}":              "<|\"a\" ->1|>",
		"g[x] := x^2; g[3]":      "g[x_] := x^2; g[3]",
		"1 + 1 # two ones":       "1 + 1",
		"1 + 1 // the sum":       "1 + 1",
		"1 + 1 /* c */":          "1 + 1 ",
		"3 – 2":                  "3 - 2",
		"2 ⋅ 3":                  "2 * 3",
		"x & y":                  "x && y",
		"let x = 5":              "x = 5",
		"np.array([1,2,3])":      "{1,2,3}",
		"pi()":                   "Pi",
		"pow(2,3)":               "Power[2,3]",
		"foo({1,2})":             "foo[{1,2}]",
		"sum(1, 10)":             "Total[{1, 10}]",
		"1_000_000":              "1000000", "0b101": "2^^101", "0o17": "8^^17", "0X1F": "16^^1f", "0xFF_FF + 1": "16^^ffff + 1", "1_000": "1000", "1'000'000": "1000000", "1.000.000": "1000000",
		"1_000.5": "1000.5", "2 0b11": "2 2^^11", "f[1_0]": "f[10]", "1_000x": "1000x", "sin(1_000)": "Sin[1000]", "3_000 m": "3000 m",
		"D(x^2,x)": "D[x^2,x]", "sin cos(x)": "Sin[Cos[x]]", "17 mod 5 + 1": "Mod[17, 5] + 1", "f[17 mod 5]": "f[Mod[17, 5]]",
		"Solve[{x+y=3, x-y=1},{x,y}]": "Solve[{x+y==3, x-y==1},{x,y}]", "diff(x^2,x)": "D[x^2,x]", "Dsolve[y'[x]==y[x],y[x],x]": "DSolve[y'[x]==y[x],y[x],x]",
	} {
		if got := mended(text, slips.Find(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestNoSlip: what is meant as it stands draws no suggestion.
func TestNoSlip(t *testing.T) {
	for _, text := range []string{
		"Sin[x]", "x(x+1)", "2(3+4)", "Pi(3)", "f[x]", "foo[x]", "a b c", "sin[x_] := Sin[x]; sin[2]", "pi = 3; pi", "Module[{e = 2}, e^2]", "Sum[i^2,{i,1,10}]",
		"Table[2i,{i,5}]", "Solve[e^2==4,e]", "x = 3", "f[x_] = x^2", "{a, b} = {1, 2}", "x[[1]] = 2", "With[{inf = 9}, inf]", "#^2 &", "a | b", "x_ | y_", "%", "%%", "% + 1",
		"Function[e, e^2]", "e |-> e^2", "a ** b", "Map[f, {1,2}]", "f'[x]", "y''[x]", "#[1]&", "a[[1]]", "<|\"a\" -> 1|>", "5 % ", "Cases[{1,2}, _Integer]", "mod = 3; 2 mod 4",
		"\"sin(x)\"", "(* sin(x) *) 1", "Derivative[1][f][x]", "i + 1", "e + 1", "E^2", "N[Pi, 20]", "Log[2, 8]", "m = {{1,2},{3,4}}; m[[1]]", "x /. x -> 2", "a = b = 3",
		"#^2&[3]", "#1+#2&[1,2]", "#&[5]", "<|\"a\"->1|>[\"a\"]", "<|e->2|>[e]", "pi /. {pi->3}", "17 mod 5 mod 3", "1 + 17 mod 5", "17 mod 5^2", "2e", "e5 + 1", "3 x", "0 x1",
		"x' [t]", "% % 2", "%5", "2 %", "Select[{1}, EvenQ]", "Limit[f[x], x -> 0]", "N", "D[x, x]", "not", "a not",
		"Sum[e^(i), {i, 1, 3}]; e = 2", "is_prime(7)", "1 + i", "Exp[Pi I]", "f[i]",
		"integrate", "factor = 3; factor", "d/dx", "{1,000}", "f[x] = 3", "f[0] = x", "i++", "x--", "m = {{1,2},{3,4}}; m[[1]]", "f // g", "g /@ {1}", "sum of", "D[f[x]]", "Plot[f[x, y]]", "y' + y", "f[1,000]", "x 1/2", "2 3", "{1,2}[[1]]", "f[0]", "1.5.2", "{1, 2.000}", "1'", "0x1G", "0b2", "f'[1]", "f'[0]", "a_ + b_", "beta(1-beta)", "N(N+1)/2", "h[a] = 1; h[a]", "# & /@ {1}", "f[# &, 1]", "Select[{1}, # > 0 &]", "Map[Function[#^2], {1}]", "x; 2", "{a = 1; 2}", "{x 2}", "{-1, -2}", "a : 1", "x /. a_ : 1", "{1, 2}", "1 + 1 // N", "x // Simplify", "Limit[x, x -> 0, Direction -> 1]",
		"Prime?[7]", "y == 2 && z", "f[0]", "list[0]", "a.b", "Sin[1]", "N[Pi + 20]", "N[2 Pi]", "{a,b}*{c,d}", "x^2", "{x}^2",
		"3 x 4 + x", "x 4", "x = 2; 3 x 4", "2x1 + 3x2", "ans = 4; ans + 1", "deg = 3; 30 deg", "degrees", "energy[t]", "potential[x]", "Integrate[dx, x]", "Integrate[x dy, x]", "a = b = 6",
		"Sum[n,{n,1,10}]", "Limit[x,x->0]", "Integrate[x,{x,0,1}]", "Table[i,{i,5}]", "f[a,n,1,2]", "\"a\" <> \"b\"", "If[x==1, 2]", "Plot[x,{x,0,1}]", "y'[x]==y[x]", "# // f", "5! + 1", "today = 3; today",
		"Times = 3", "StringLength[\"a and b\"]", "f @ x", "Sin /@ {1,2}", "Sort[{3,1}, Greater]", "Foo[x]", "Bar1[x]", "1/2 x", "Plot[Sin[x], {x, 0, 2 Pi}]", "",
	} {
		if found := slips.Find(text); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// TestUnsureOfTheArguments: other languages' functions of these names take other arguments, so that brackets alone would mislead.
func TestUnsureOfTheArguments(t *testing.T) {
	for _, text := range []string{"log(1,2,3)", "round(3.14159,n)", "int(2.5)", "random(10)", "simplify (x^2-1)/(x-1)", "sum(x)", "for(i,j)"} {
		for _, s := range slips.Find(text) {
			if s.Code == slips.Parentheses {
				t.Errorf("%s: %+v", text, s)
			}
		}
	}
}
