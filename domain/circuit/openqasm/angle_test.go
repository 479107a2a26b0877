package openqasm

import (
	"errors"
	"math"
	"testing"
)

// TestAngle: values of expressions with parameters, and where one that has none is refused.
func TestAngle(t *testing.T) {
	values := NewValues(map[string]float64{"a": 0.5, "tau": 3, "b_1": -2})
	for text, want := range map[string]float64{
		"a": 0.5, "2*a+1": 2, "tau": 3, "-b_1^2": -4, "a**2": 0.25, "cos(pi*a)+b_1": -2, "3/2": 1.5, "exp(0)-ln(1)": 1,
	} {
		angle, err := ParseAngle(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got, err := angle.At(values); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("%s is %v, want %v, %v", text, got, want, err)
		}
	}
	for text, column := range map[string]int{"a+c": 3, "1/(a-0.5)": 2, "exp(b_1*-1e9)": 1} {
		angle, err := ParseAngle(text)
		if err != nil {
			t.Fatal(text, err)
		}
		_, err = angle.At(values)
		var refused *Error
		if !errors.As(err, &refused) || refused.Column != column {
			t.Errorf("%s: %v, want column %d", text, err, column)
		}
	}
}

// TestAnglesHaveNoComments: what divides and rounds down elsewhere is refused, not read as a comment.
func TestAnglesHaveNoComments(t *testing.T) {
	for text, column := range map[string]int{"a // 2": 3, "a /* b */ + 1": 3} {
		_, err := ParseAngle(text)
		var refused *Error
		if !errors.As(err, &refused) || refused.Column != column {
			t.Errorf("%s: %v, want column %d", text, err, column)
		}
	}
}

// TestCaretOfAnIndex: the number that is wrong is pointed at, not the bracket before it.
func TestCaretOfAnIndex(t *testing.T) {
	for text, column := range map[string]int{
		"x q[7];": 5, "x q[-4];": 5, "x q[0,1];": 7, "x q[{0,5}];": 8, "x q[0:8];": 7, "let r = q[1:9];": 13, "bit[99999999999999999999] c;": 5, "bit[1001] c;": 5,
		"bit[2] c; c[2] = measure q[0];": 13,
	} {
		_, err := Parse([]byte("OPENQASM 3;\ninclude \"stdgates.inc\";\nqubit[3] q;\n"+text), Limits{Bytes: 1000, Qubits: 10, Operations: 10})
		var refused *Error
		if !errors.As(err, &refused) || refused.Line != 4 || refused.Column != column {
			t.Errorf("%s: %v, want column %d", text, err, column)
		}
	}
}

func FuzzAngle(f *testing.F) {
	for _, text := range []string{"2*theta", "sin(pi/4)^-a", "((1))", "ln(-1)", "1e308*10", "-a**-b", "a == b", "q[0]", "\"01\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		angle, err := ParseAngle(text)
		if err != nil {
			return
		}
		values := map[string]float64{}
		for _, name := range angle.Names() {
			values[name] = 0.75
		}
		if x, err := angle.At(NewValues(values)); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			t.Errorf("%q is %v", text, x)
		}
	})
}
