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
		"Times = 3", "StringLength[\"a and b\"]", "f @ x", "Sin /@ {1,2}", "Sort[{3,1}, Greater]", "Foo[x]", "Bar1[x]", "1/2 x", "Plot[Sin[x], {x, 0, 2 Pi}]", "",
	} {
		if found := slips.Find(text); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}
