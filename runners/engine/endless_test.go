package engine

import "testing"

func TestEndless(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"x = x + 1; x": true, "x = x + 1": true, "a = a b; a": true, "y := y + 1; y": true, "Do[e = e + 1, {3}]; e": true, "f[n_] := f[n-1] + 1; f[3]": true, "f[n_] := n f[n-1]; f[5]": true,
		"f[n_] := g[n] + 1; g[n_] := f[n]; f[1]": true, "f[n_] := f[n] = f[n-1] + f[n-2]; f[9]": true,
		"x = 1; x = x + 1; x": false, "f[0] = 1; f[n_] := n f[n-1]; f[5]": false, "f[n_] := If[n < 2, 1, n f[n-1]]; f[5]": false, "f[n_] := n f[n-1]": false, "f[n_] := n f[n-1]; f[0] = 1; f[5]": false,
		"Module[{x = 1}, x = x + 1; x]": false, "Do[k = k + 1, {k, 3}]": false, "x = x": false, "f[n_] := n f[n-1] /; n > 0; f[5]": false, "f[n_Integer] := f[n/2]; f[8]": false, "f[{}] = 0; f[l_] := 1 + f[Rest[l]]; f[{1}]": false,
		"x = y; y = x; x": false, "f[x_] := x^2; f[f[2]]": false, "Table[s = s + k, {s, 3}]": false, "f[{a_, b___}] := a + f[{b}]; f[{1}]": false, "x == x + 1": false, "s = 0; Do[s = s + k, {k, 3}]; s": false,
		"f[x_] := Table[f[i], {i, 1, x - 1}]; f[2]": false, "Block[{x = 2}, x = x + 1]": false, "With[{a = 1}, a + 1]": false,
	} {
		if got := endless(readExchange(code, "0", nil), false) != ""; got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
	for code, answer := range map[string]string{"x = x + 1": "6", "f[n_] := n f[n-1]; f[5]": "120", "x = x + 1;": "Null"} {
		if why := endless(readExchange(code, answer, nil), true); why != "" {
			t.Errorf("in a session %s, answered %s: %s", code, answer, why)
		}
	}
	if endless(readExchange("x = x + 1; x", "2 + x", nil), true) == "" {
		t.Error("in a session")
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, answer string
		want         bool
	}{
		{"f[0] = 0; f[x_] := f[x-1] + 1; f[1000]", "512 + f[489 - 1]", true},
		{"f[1000]", "512 + f[489 - 1]", true}, // in a session, which has the definition
		{"h[5000, 0]", "h[3977 - 1, 1023 + 1]", true},
		{"f = If[#==0, 0, #0[#-1]+1]&; f[600]", "512 + If[89 - 1 == 0, 0, (If[#1 == 0, 0, #0[#1 - 1] + 1] & )[89 - 1 - 1] + 1]", true},
		{"c[n_] := If[n == 1, 0, 1 + c[Collatz[n]]]; c[27]", "512 + c[Collatz[7]]", true},
		{"c[n_] := n^2 /; n > 0; c[-2]", "c[-2]", false},
		{"c[n_Integer] := n^2; c[x]", "c[x]", false},
		{"c[n_] := n^2; c[1, 2]", "c[1, 2]", false},
		{"c[n_] := n^2; Hold[c[2]]", "Hold[c[2]]", false},
		{"c[n_] := n^2; Clear[c]; c[3]", "c[3]", false},
		{"c[n_] := n^2; c[2] =.; c[3]", "c[3]", false},
		{"{c[2], c[n_] := n^2}", "{c[2], Null}", false},
		{"c[n_] := If[n > 0, c[n - 1], 0]; c[y]", "If[y > 0, c[y - 1], 0]", false},
		{"HoldForm[1 + 1]", "HoldForm[1 + 1]", false},
		{"SetAttributes[h, HoldAll]; h[1 + 1]", "h[1 + 1]", false},
		{"1/2 - I", "1/2 - I", false},
		{"x - 1", "-1 + x", false},
		{"{1 + 1 &, a :> 2 + 3}", "{1 + 1 & , a :> 2 + 3}", false},
	} {
		if why := stopped(readExchange(c.code, c.answer, nil)); why != "" != c.want {
			t.Errorf("%s, answered %s: %q", c.code, c.answer, why)
		}
	}
}

func TestMayEndEarly(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`ClearAll["Global` + "`" + `*"]; FixedPoint[f, 1]`: true, "Clear[NestWhile]; NestWhileList[f, 1, g]": true, "Clear[x]; FixedPoint[f, 1]": false, "FixedPoint[f, 1]": false, `Clear["x"]`: false,
	} {
		if why := mayEndEarly(code); why != "" != want {
			t.Errorf("%s: %q", code, why)
		}
	}
}
