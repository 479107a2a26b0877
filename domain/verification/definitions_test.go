package verification

import "testing"

// Definitions are put in where that cannot be something else than what the language does; else the whole is a program.
func TestDefinitions(t *testing.T) {
	for _, test := range []struct{ input, check string }{
		{"a = 1; Expand[a x]", "Expand[1*x]"},
		{"f[x_] := x^2; D[f[t], t]", "D[t^2, t]"},
		{"f[x_] := x^2; g[x_] := f[x] + 1; Expand[g[t]]", "Expand[t^2 + 1]"},
		{"m = {{1, 2}, {3, 4}}; Det[m]", "Det[{{1, 2}, {3, 4}}]"},
		{"f[x_] = Sin[x]; D[f[x], x]", "D[Sin[x], x]"},
		{"y = x^2; f[x_] := y + x; f[3]", ""},           // the x of y is not the parameter
		{"f[x_] = x/x; f[0]", ""},                       // evaluated before it has a value
		{"x = y; y = 3; x + 1", ""},                     // what is defined later counts
		{"k = 5; Sum[k, {k, 3}]", ""},                   // the iterator has a variable of its own
		{"f[x_] := x; f[x_, y_] := x + y; f[1, 2]", ""}, // two definitions
		{"f[x_?EvenQ] := x; f[2]", ""},                  // a test
		{"f[x_] := f[x - 1]; f[2]", ""},                 // itself
		{"f[x_] := x^2; Map[f, {1, 2}]", ""},            // without arguments
		{"f[x_] := x^2; f'[3]", ""},                     // without arguments
		{"y = x^2; With[{x = 3}, y]", ""},               // a scope
		{"y = x^2; y /. x_ -> 3", ""},                   // a pattern
		{"f[x_] := x^2; x = 3; f[2] + x", ""},           // a parameter with the name of a variable
		{"a = 3; a", ""},                                // no call is left for another rule
		{"Sin[x]; Cos[x]", ""},                          // no definition
		{"Random = 3; Random + 1", ""},                  // a name of the language
		{"f[x_] := Module[{y = x}, y^2]; f[2]", ""},     // a scope
		{"x = RandomInteger[5]; x - x", ""},             // another value each time
		{"f[x_, x_] := x; f[1, 1]", ""},                 // a parameter twice
	} {
		found, ok := withDefinitions(parse(t, test.input))
		if ok != (test.check != "") || ok && found.Source() != parse(t, test.check).Source() {
			t.Errorf("%s: %v, want %q", test.input, found, test.check)
		}
	}
}
