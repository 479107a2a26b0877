//go:build linux && !race

// Resident memory is read from /proc; under the race detector it is mostly the detector's own.
package circuit

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	amount "reckon/test/sweep" // the package has a function sweep
)

var residentPeak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakBytes is the greatest resident memory of this process so far.
func peakBytes(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.ParseInt(residentPeak.FindStringSubmatch(string(status))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// mapped takes planes from outside the heap, as a job's runner does.
func mapped(bytes int) ([]byte, func(), error) {
	memory, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return memory, func() { _ = syscall.Munmap(memory) }, err
}

// TestEstimateBoundsResidentMemory runs each circuit in a process of its own, twice in a row, and compares the greatest
// resident memory with the estimate, and with what the limit allows for copies.
func TestEstimateBoundsResidentMemory(t *testing.T) {
	const variable = "RECKON_TEST_CIRCUIT"
	if name := os.Getenv(variable); name != "" {
		c := memoryCircuits(t)[name]()
		cost := Estimate(c)
		limit := cost.MemoryBytes + min(cost.SpareBytes, 30<<20)
		before := peakBytes(t)
		for range 2 {
			mustSweep(t, c, Options{Allocate: mapped, MemoryLimitBytes: limit})
		}
		used := peakBytes(t) - before
		fmt.Printf("used %d MiB of %d\n", used>>20, limit>>20)
		const uncollected = 8 << 20 // by which the heap outgrows its goal where the collector has to wait for a processor
		if used > limit+uncollected {
			t.Errorf("%s takes %d MiB; the estimate is %d MiB", name, used>>20, limit>>20)
		}
		return
	}
	widest := amount.Size(t, "RECKON_MEMORY_QUBITS", 20, 1000)
	for name, made := range memoryCircuits(t) {
		if made().qubits > widest {
			continue
		}
		t.Run(name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEstimateBoundsResidentMemory$")
			command.Env = append(os.Environ(), variable+"="+name, "GOMAXPROCS=2")
			out, err := command.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
