package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"reckon/domain/circuit"
	"reckon/domain/lean/check"
	"reckon/domain/lean/kernel"
)

// The samples of the first page's three doors. Those of mathematics are evaluated when they are pressed; circuits are simulated and proofs are checked
// when the page is first asked for, by what does it for jobs, because jobs are of accounts.

// sampleExport is the export of the theorem of docs/proofs.md.
const sampleExport = "and_swap.ndjson"

// samples are those of the three doors, for the templates of pages that show them.
type samples struct{}

func (samples) Mathematics() []example    { return examples }
func (samples) Circuits() []circuitSample { return circuitSamples() }
func (samples) Proofs() []proofSample     { return proofSamples() }

// example is an expression to begin with.
type example struct{ Expression, About string }

// examples are answered anonymously.
var examples = []example{
	{"Integrate[x^2 Sin[x], x]", "an integral"},
	{"Simplify[Sqrt[E^x]]", "a root that is not always so"},
	{"Solve[{x + y == 5, x y == 6}, {x, y}]", "a system"},
	{"Inverse[{{2, 1}, {1, 3}}]", "a matrix"},
	{"Variance[{2, 4, 4, 5, 9}]", "statistics"},
	{"FactorInteger[2026]", "prime factors"},
}

// circuitSample is a circuit with what simulating it gave.
type circuitSample struct {
	Name, About, Program string
	Diagram              diagramShown
	Result               circuitResult
}

const qasm = "OPENQASM 3;\ninclude \"stdgates.inc\";\n"

// circuitSamples are simulated once.
var circuitSamples = sync.OnceValue(func() []circuitSample {
	samples := []circuitSample{
		{Name: "Bell pair", About: "two qubits that always agree", Program: qasm + "qubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n"},
		{Name: "Grover's search", About: "11 is found with one question", Program: qasm + "qubit[2] q;\nbit[2] c;\nh q;\ncz q[0], q[1];\nh q;\nx q;\ncz q[0], q[1];\nx q;\nh q;\nc = measure q;\n"},
		{Name: "Teleportation", About: "a state moves from q0 to q2, by what is measured on the way", Program: qasm + "qubit[3] q;\nbit a;\nbit b;\nbit out;\nry(pi/3) q[0];\nh q[1];\ncx q[1], q[2];\ncx q[0], q[1];\nh q[0];\na = measure q[0];\nb = measure q[1];\nif (b == 1) { x q[2]; }\nif (a == 1) { z q[2]; }\nout = measure q[2];\n"},
	}
	for i := range samples {
		samples[i].simulate()
	}
	return samples
})

// simulate draws a sample and simulates it with a seed of its own, so that everybody sees the same counts.
func (s *circuitSample) simulate() {
	const shots, seed = 1000, 7
	limits := circuit.DefaultLimits()
	read, err := circuit.ParseOpenQASM([]byte(s.Program), limits)
	if err == nil {
		read, err = read.WithShots(shots, limits)
	}
	if err != nil {
		panic(err) // it is ours
	}
	diagram, err := read.Diagram(maxDrawnCells)
	if err != nil {
		panic(err)
	}
	s.Diagram = shownDiagram(read, diagram)
	result, err := circuit.Run(context.Background(), read, circuit.Options{Seed: seed, Threads: 1})
	if err != nil {
		panic(err)
	}
	document, err := result.JSON()
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal([]byte(document), &s.Result); err != nil {
		panic(err)
	}
	s.Result.draw()
}

// proofSample is an export with what the kernels say of it.
type proofSample struct {
	Name, About string
	Report      *check.Report
}

// proofSamples are checked once: the theorem of docs/proofs.md, and the same with the halves of its proof in the wrong order.
var proofSamples = sync.OnceValue(func() []proofSample {
	export := read("samples/" + sampleExport)
	wrong := bytes.Replace(bytes.Replace(export, []byte(`{"app":{"arg":15,"fn":51},"ie":52}`), []byte(`{"app":{"arg":4,"fn":51},"ie":52}`), 1), []byte(`{"app":{"arg":4,"fn":52},"ie":53}`), []byte(`{"app":{"arg":15,"fn":52},"ie":53}`), 1)
	samples := []proofSample{{Name: "A theorem", About: "p ∧ q → q ∧ p"}, {Name: "A wrong proof", About: "the same, with its halves in the wrong order"}}
	for i, content := range [][]byte{export, wrong} {
		report, err := check.Run(context.Background(), bytes.NewReader(content), check.Options{Declarations: []string{"and_swap"}, FileName: sampleExport, Kernel: kernel.Options{Workers: 1}})
		if err != nil {
			panic(err) // it reads from memory
		}
		samples[i].Report = report
	}
	return samples
})
