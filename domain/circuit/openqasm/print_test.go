package openqasm

import (
	"reflect"
	"strings"
	"testing"
)

var testLimits = Limits{Bytes: 1 << 16, Qubits: 8, Operations: 2000}

// checkPrinted: what is printed reads back to the same operations.
func checkPrinted(t *testing.T, p Program) {
	t.Helper()
	text := p.String()
	again, err := Parse([]byte(text), Limits{Bytes: 1 << 24, Qubits: testLimits.Qubits, Operations: testLimits.Operations})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again.Qubits != p.Qubits || again.Slots != p.Slots || again.Phase != p.Phase || !reflect.DeepEqual(placeless(again.Body), placeless(p.Body)) {
		t.Fatalf("reads back as\n%s\nnot\n%s", again, text)
	}
}

func placeless(list []Operation) []Operation {
	var out []Operation
	for _, op := range list {
		op.At = 0
		op.Then, op.Else = placeless(op.Then), placeless(op.Else)
		if len(op.Params) == 0 {
			op.Params = nil
		}
		if len(op.Controls) == 0 {
			op.Controls = nil
		}
		out = append(out, op)
	}
	return out
}

// FuzzPrint reads foreign text; whatever is accepted is printed and read again. No text may crash the reader.
func FuzzPrint(f *testing.F) {
	for _, c := range meanings {
		f.Add([]byte(c.program))
	}
	for _, c := range refusals {
		f.Add([]byte(c.program))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data, testLimits)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Line < 1 || e.Column < 1 || e.Message == "" || !strings.HasSuffix(e.Excerpt, "^") { //nolint:errorlint // the type is promised
				t.Fatalf("%#v", err)
			}
			return
		}
		if p.Slots <= maxBits {
			checkPrinted(t, p)
		}
	})
}
