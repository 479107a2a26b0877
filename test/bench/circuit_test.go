//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"reckon/domain/circuit"
	"reckon/test/wait"
)

// The simulator is compared with the Python ecosystem's on the same circuits with the same number of threads, in turns
// within one run; the best time of each counts: wall time, or with GOMAXPROCS=1 processor time. Peers get their circuits built beforehand; ours includes everything but
// reading the JSON. The state vector is forced where the tableau would be chosen, as it is for the peers.

const circuitRounds = 2

type object = map[string]any

// circuitWorkloads are the circuits of the comparison, as qsim jobs.
func circuitWorkloads() map[string]object {
	job := func(qubits int, gates []object) object {
		return object{"qubits": qubits, "shots": 1000, "seed": 1, "gates": gates}
	}
	random := func(qubits int) object {
		const depth = 20
		rng := rand.New(rand.NewPCG(1, uint64(qubits)))
		var gates []object
		for range depth {
			for q := range qubits {
				angles := []float64{rng.Float64() * math.Pi, rng.Float64() * 2 * math.Pi, rng.Float64() * 2 * math.Pi}
				gates = append(gates, object{"gate": "u", "target": q, "params": angles})
			}
			order := rng.Perm(qubits)
			for i := 0; i+1 < qubits; i += 2 {
				gates = append(gates, object{"gate": "cx", "control": order[i], "target": order[i+1]})
			}
		}
		return job(qubits, gates)
	}
	ghz := func(qubits int) object {
		gates := []object{{"gate": "h", "target": 0}}
		for q := 1; q < qubits; q++ {
			gates = append(gates, object{"gate": "cx", "control": q - 1, "target": q})
		}
		return job(qubits, gates)
	}
	qft := func(qubits int) object {
		var gates []object
		for q := 0; q < qubits; q += 3 {
			gates = append(gates, object{"gate": "x", "target": q})
		}
		for t := qubits - 1; t >= 0; t-- {
			gates = append(gates, object{"gate": "h", "target": t})
			for c := t - 1; c >= 0; c-- {
				gates = append(gates, object{"gate": "cp", "control": c, "target": t, "angle": math.Pi / float64(int(1)<<(t-c))})
			}
		}
		for q := range qubits / 2 {
			gates = append(gates, object{"gate": "swap", "targets": []int{q, qubits - 1 - q}})
		}
		return job(qubits, gates)
	}
	return map[string]object{
		"random-20": random(20), "random-24": random(24), "QFT-20": qft(20), "GHZ-24": ghz(24), "GHZ-1000": ghz(1000),
	}
}

// BenchmarkCircuit reports milliseconds of everyone and, for every peer, how many times as long it took as ours does in
// double and in single precision. go test -bench Circuit/QFT-20 runs one of them.
func BenchmarkCircuit(b *testing.B) {
	python := circuitEnvironment(b)
	workloads := circuitWorkloads()
	for _, name := range slices.Sorted(maps.Keys(workloads)) {
		b.Run(name, func(b *testing.B) {
			text, err := json.Marshal(workloads[name])
			if err != nil {
				b.Fatal(err)
			}
			file := filepath.Join(b.TempDir(), "circuit.json")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				best := map[string]float64{}
				record := func(who string, seconds float64) {
					if old, ok := best[who]; !ok || seconds < old {
						best[who] = seconds
					}
				}
				for range circuitRounds {
					for _, precision := range []circuit.Precision{circuit.Double, circuit.Single} {
						record(string(precision), runCircuit(b, text, precision))
					}
					for peer, seconds := range runPeers(b, python, file) {
						record(peer, seconds)
					}
				}
				b.ReportMetric(0, "ns/op")
				for who, seconds := range best {
					b.ReportMetric(seconds*1000, who+"-ms")
					if who != string(circuit.Double) && who != string(circuit.Single) {
						b.ReportMetric(seconds/best[string(circuit.Double)], who+"/double")
						b.ReportMetric(seconds/best[string(circuit.Single)], who+"/single")
					}
				}
			}
		})
	}
}

func runCircuit(b *testing.B, text []byte, precision circuit.Precision) float64 {
	limits := circuit.Limits{Qubits: circuit.MaxQubits, CliffordQubits: circuit.MaxCliffordQubits}
	c, err := circuit.Parse(text, limits)
	if err != nil {
		b.Fatal(err)
	}
	if c, err = c.WithPrecision(precision); err != nil {
		b.Fatal(err)
	}
	engine := circuit.EngineStatevector
	if c.Qubits() > circuit.MaxQubits {
		engine = circuit.EngineStabilizer
	}
	start := circuitClock(b)
	if _, err := circuit.Run(context.Background(), c, circuit.Options{Engine: engine}); err != nil {
		b.Fatal(err)
	}
	return (circuitClock(b) - start).Seconds()
}

// circuitClock is the clock of peers/circuit_peers.py: with one thread processor time, which does not depend on what
// else the machine does; with several wall time.
func circuitClock(b *testing.B) time.Duration {
	if runtime.GOMAXPROCS(0) > 1 {
		return time.Duration(time.Now().UnixNano())
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// runPeers runs peers/circuit_peers.py on one circuit; it prints one JSON object a line.
func runPeers(b *testing.B, python, file string) map[string]float64 {
	const repeats = 2
	command := exec.Command(python, filepath.Join("peers", "circuit_peers.py"), strconv.Itoa(runtime.GOMAXPROCS(0)), strconv.Itoa(repeats), file)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		b.Fatal(err)
	}
	seconds := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		var line struct {
			Peer    string
			Seconds float64
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatal(err)
		}
		seconds[line.Peer] = line.Seconds
	}
	return seconds
}

// circuitEnvironment makes the peers' Python environment in the user's cache folder, once per list of requirements.
func circuitEnvironment(b *testing.B) (python string) {
	requirements, err := os.ReadFile(filepath.Join("peers", "circuit_requirements.txt"))
	if err != nil {
		b.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256(requirements)
	folder := filepath.Join(cache, "reckon", "bench-circuit-"+hex.EncodeToString(digest[:6]))
	python = filepath.Join(folder, "bin", "python")
	done := filepath.Join(folder, "complete")
	if _, err := os.Stat(done); err == nil {
		return python
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", "--clear", folder},
		{python, "-m", "pip", "install", "--quiet", "-r", filepath.Join("peers", "circuit_requirements.txt")},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", command, err, output)
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	return python
}

// BenchmarkCircuitCancel reports the longest time from cancelling a 24-qubit run at a random moment to its answer.
func BenchmarkCircuitCancel(b *testing.B) {
	text, err := json.Marshal(circuitWorkloads()["random-24"])
	if err != nil {
		b.Fatal(err)
	}
	c, err := circuit.Parse(text, circuit.Limits{Qubits: 24})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		longest := time.Duration(0)
		for i := range 8 {
			ctx, cancel := context.WithCancel(context.Background())
			answered := make(chan error, 1)
			go func() {
				_, err := circuit.Run(ctx, c, circuit.Options{})
				answered <- err
			}()
			wait.Pace(time.Duration(i) * 60 * time.Millisecond)
			start := time.Now()
			cancel()
			if err := <-answered; err == nil {
				continue // it finished first
			}
			longest = max(longest, time.Since(start))
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(longest.Milliseconds()), "cancel-ms")
	}
}
