package engine

import (
	"strings"
	"testing"
)

func TestMachineWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, answer, want string }{
		{"N[200!]", "Infinity", "infinite"},
		{"N[10^400]", "Infinity", "infinite"},
		{"1000!//N", "Infinity", "infinite"},
		{"Exp[1000.]", "Infinity", "infinite"},
		{"{1, Exp[1000.]}", "{1, Infinity}", "infinite"},
		{"Exp[1000.]-Exp[1000.]", "Indeterminate", "infinite"},
		{"10.^-400", "0.", "zero"},
		{"(1+10.^-20)-1", "0.", "zero"},
		{"N[Infinity]", "Infinity", ""},
		{"Limit[1/x, x->0.]", "Infinity", ""},
		{"200!", "788", ""},
		{"Sum[1/k, {k, 1, Infinity}]", "Infinity", ""},
		{"Sin[0.]", "0.", ""},
		{"1.5+2", "3.5", ""},
		{"N[Pi]", "3.141592653589793", ""},
		{"\"N[Infinity]\"", "\"Infinity\"", ""},
		{"((", "Infinity", ""},
		{"1.", "((", ""},
		{"", "", ""},
	} {
		got := strings.Join(machineWarnings(readExchange(c.code, c.answer, nil)), "|")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s → %s: %q", c.code, c.answer, got)
		}
	}
	if got := machineWarnings(readExchange("Exp[1000.]", "Infinity", []string{"General::ovfl: Overflow."})); got != nil {
		t.Errorf("the engine said so already: %q", got)
	}
}
