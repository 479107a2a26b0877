package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/circuit"
)

func TestQsimReadsBothFormats(t *testing.T) {
	t.Parallel()
	seed, shots := uint64(3), 100
	for name, text := range map[string]string{
		"bell.json": `{"qubits":2,"gates":[{"gate":"x","target":0},{"gate":"cx","control":0,"target":1}]}`,
		"bell.qasm": "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[2] q;\nx q[0];\ncx q[0], q[1];\n",
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := qsimCmd{File: file, Seed: &seed, Shots: &shots, MemoryMiB: 64}
		r, err := cmd.simulate(context.Background(), strings.NewReader(""), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Counts["11"] != 100 || r.Seed != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	cmd := qsimCmd{File: "-", MemoryMiB: 64}
	if _, err := cmd.simulate(context.Background(), strings.NewReader("qubit q; foo q;"), nil); err == nil {
		t.Error("an unknown gate was accepted")
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	program := "\ufeffqubit[2] q; bit c; h q[0]; cx q[0], q[1]; c = measure q[1];"
	for form, want := range map[string]string{"text": "q0: ─┤H├──●────────\n          │\nq1: ──────⊕──┤M c├─\n", "svg": "<svg "} {
		cmd := qsimCmd{File: "-", Draw: &form}
		got, err := cmd.draw(strings.NewReader(program))
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestQsimRefusesOptions(t *testing.T) {
	t.Parallel()
	for option, cmd := range map[string]qsimCmd{
		"--memory-mib": {File: "-"}, "--memory-mib must": {File: "-", MemoryMiB: -1}, "--memory-mib must be": {File: "-", MemoryMiB: 1 << 62},
		"--threads": {File: "-", MemoryMiB: 64, Threads: -1}, "--rows": {File: "-", MemoryMiB: 64, Rows: -1},
	} {
		if _, err := cmd.simulate(t.Context(), strings.NewReader(`{"qubits":1,"gates":[]}`), nil); err == nil || !strings.Contains(err.Error(), option) {
			t.Errorf("%+v: %v, want %s", cmd, err, option)
		}
	}
}

// TestQsimNamesTheFlag: what is wrong with an option is not said of the circuit.
func TestQsimNamesTheFlag(t *testing.T) {
	t.Parallel()
	for want, cmd := range map[string]qsimCmd{
		"--marginals: not well-formed JSON near byte 4 of the marginals": {Marginals: `[[0]`},
		"--marginals: text follows the marginals":                        {Marginals: `[[0]] 1`},
		"--observables: not well-formed JSON near byte":                  {Observables: `[{"Z":1]`},
		"--observables: text follows the observables":                    {Observables: `[{"Z":1}]]`},
		"--noise: not well-formed JSON near byte":                        {Noise: `{"channels":`},
		"--noise: noise channel 0 (rain)":                                {Noise: `{"channels":[{"channel":"rain"}]}`},
		"--npy /nowhere/at/all/x.npy: no such file or directory":         {NPY: "/nowhere/at/all/x.npy"},
	} {
		cmd.File, cmd.MemoryMiB = "-", 64
		if _, err := cmd.simulate(t.Context(), strings.NewReader(`{"qubits":1,"gates":[]}`), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestQsimMarginalsAndMemory: what a program cannot say is said by options.
func TestQsimMarginalsAndMemory(t *testing.T) {
	t.Parallel()
	cmd := qsimCmd{File: "-", MemoryMiB: 64, Marginals: `[[1],[0,1]]`, Memory: true}
	r, err := cmd.simulate(t.Context(), strings.NewReader("qubit[2] q; ry(2) q[1]; x q[0];"), nil)
	if err != nil || len(r.Marginals) != 2 || len(r.Memory) != 1024 || r.Marginals[1].Probabilities["01"] != r.Marginals[0].Probabilities["0"] {
		t.Fatalf("%+v, %v", r.Marginals, err)
	}
	var out strings.Builder
	if err := printResult(&out, r, 1); err != nil || !strings.Contains(out.String(), "qubits [1], the first rightmost:\n1 exactly 0.708073418274\n… and 1 more outcomes\n") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestQsimNPY: the file is whole or absent, and a run tells how far it is.
func TestQsimNPY(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := qsimCmd{File: "-", MemoryMiB: 64, NPY: filepath.Join(folder, "state.npy")}
	var reached float64
	if _, err := cmd.simulate(t.Context(), strings.NewReader("qubit[18] q; rx(1) q; rx(1) q[3];"), func(fraction float64) { reached = fraction }); err != nil || reached < 0.5 {
		t.Fatalf("reached %v, %v", reached, err)
	}
	if file, err := os.Stat(cmd.NPY); err != nil || file.Size() != 128+16<<18 {
		t.Errorf("%v, %v", file, err)
	}
	cmd.NPY = filepath.Join(folder, "none.npy")
	if _, err := cmd.simulate(t.Context(), strings.NewReader("qubit q; bit c; h q; c = measure q; h q;"), nil); err == nil {
		t.Error("a state that does not exist was written")
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestQsimNoise(t *testing.T) {
	t.Parallel()
	program := "qubit[2] q; x q[0]; cx q[0], q[1];"
	cmd := qsimCmd{File: "-", MemoryMiB: 64, Noise: `{"channels":[{"channel":"bit_flip","p":0.25,"gates":["x"]}],"readout":[{"qubits":[1],"matrix":[[1,0],[1,0]]}]}`}
	for engine, name := range map[string]string{"": "density-double-v1", "density": "density-double-v1", "stabilizer": "stabilizer-v2", "statevector": "trajectories-double-v1"} {
		if cmd.Engine = nil; engine != "" {
			cmd.Engine = &engine
		}
		r, err := cmd.simulate(t.Context(), strings.NewReader(program), nil)
		if err != nil || r.Engine != name || r.Counts["00"] == 0 || r.Counts["01"] < 600 || len(r.Counts) != 2 {
			t.Fatalf("%s: %+v, %v", engine, r, err)
		}
		var out strings.Builder
		if err := printResult(&out, r, 5); err != nil || strings.Contains(out.String(), "noise by 1024 trajectories") != (engine == "statevector") {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
	cmd = qsimCmd{File: "-", MemoryMiB: 64, Noise: `{"channels":[{"channel":"bit_flip","p":0.25,"gates":["h"]}]}`}
	r, err := cmd.simulate(t.Context(), strings.NewReader(program), nil)
	var out strings.Builder
	if err != nil || printResult(&out, r, 5) != nil || !strings.Contains(out.String(), "\nwarning: noise channel 0 (bit_flip) goes with h") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestQsimMethods: a circuit wider than any state vector, and an engine asked for.
func TestQsimMethods(t *testing.T) {
	t.Parallel()
	program := "qubit[40] q; h q[0]; t q[0]; for int i in [1:39] cx q[i - 1], q[i];"
	for engine, says := range map[string]string{
		"":       "\nsparse-double-v1: more than 30 qubits, and not Clifford gates alone\n",
		"sparse": "\nsparse-double-v1: asked for\n",
		"mps":    "\nmps-double-v1: asked for\nbonds up to 2; what was discarded changes no probability by more than 0\n",
	} {
		cmd := qsimCmd{File: "-", MemoryMiB: 1024}
		if engine != "" {
			cmd.Engine = &engine
		}
		r, err := cmd.simulate(t.Context(), strings.NewReader(program), nil)
		var out strings.Builder
		if err != nil || len(r.Counts) != 2 || r.Counts[strings.Repeat("1", 40)] < 400 || printResult(&out, r, 5) != nil || !strings.Contains(out.String(), says) {
			t.Errorf("%s: %v\n%s", engine, err, out.String())
		}
	}
}

func TestQsimObservables(t *testing.T) {
	t.Parallel()
	cmd := qsimCmd{File: "-", MemoryMiB: 64, Observables: `[{"XX":1,"ZZ":0.5}]`}
	r, err := cmd.simulate(t.Context(), strings.NewReader("qubit[2] q; h q[0]; cx q[0], q[1];"), nil)
	if err != nil || len(r.Expectations) != 1 || r.Expectations[0].Sampled != 1.5 {
		t.Fatalf("%+v, %v", r.Expectations, err)
	}
	var out strings.Builder
	if err := printResult(&out, r, 2); err != nil || !strings.Contains(out.String(), "observable 0: 1.5 ± 0 by shots, exactly 1.5\n\n1024 shots") {
		t.Errorf("%v: %s", err, out.String())
	}
	cmd.Observables = `[{"X":1}]`
	if _, err := cmd.simulate(t.Context(), strings.NewReader("qubit[2] q;"), nil); err == nil {
		t.Error("an observable of another width was accepted")
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := circuit.Result{Counts: map[string]int{"00": 60, "11": 30, "01": 10}, Shots: 100, Seed: 5, Depth: 2, Engine: "statevector-double-v1"}
	if err := printHistogram(&out, r, 2); err != nil {
		t.Fatal(err)
	}
	want := "00       60  60.00% " + strings.Repeat("█", 40) + "\n" +
		"11       30  30.00% " + strings.Repeat("█", 20) + "\n" +
		"… and 1 more outcomes\n\n100 shots, seed 5, depth 2, engine statevector-double-v1; qubit 0, or bit 0 of a program, is rightmost\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
