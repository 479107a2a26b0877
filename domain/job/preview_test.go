package job_test

import (
	"testing"

	"reckon/domain/event"
	"reckon/domain/job"
)

// TestPreview: one line tells a job from others, whatever its payload is.
func TestPreview(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		"Integrate[x^2, x]": "Integrate[x^2, x]", "a +\n\tb": "a + b", "": "", "[1, 2]": "[1, 2]", "{1, 2}": "{1, 2}", "null": "null", "\xff": "\xff",
		`{"qubits":2,"shots":1000,"gates":[{"gate":"h","target":0},{"gate":"cx"}],"noise":{"p":1}}`: "gates: 2, qubits: 2, shots: 1000",
		`{"openqasm":"OPENQASM 3;\nqubit q;\n","shots":1e3}`:                                        "OPENQASM 3; qubit q; , shots: 1e3",
		`{"declarations":["and_swap","b"],"export":{"sha256":"x"}}`:                                 "and_swap, b",
	} {
		if got := (job.Submission{Payload: event.Inline(payload)}).Preview(); got != want {
			t.Errorf("%.60q: %q, not %q", payload, got, want)
		}
	}
	if got := (job.Submission{Payload: event.Text{Blob: &event.Blob{Bytes: 20_000}}}).Preview(); got != "a text of 20000 bytes" {
		t.Error(got)
	}
}
