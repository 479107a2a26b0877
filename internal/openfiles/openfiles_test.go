package openfiles

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPartsFit: all parts of a process together leave files for what is in none, at any limit it starts with.
func TestPartsFit(t *testing.T) {
	const poolMinimum = 74 // Pebble keeps no fewer: 64 tables, and 10 files of its own
	for limit := Minimum; limit <= unlimited; limit += 1 + limit/50 {
		sum := max(poolMinimum, Index.of(limit, unlimited)) + Segments.of(limit, unlimited) + Port.of(limit, unlimited) + Socket.of(limit, unlimited) + 3*Processes.of(limit, unlimited)
		if left := limit - sum; left < 64 {
			t.Fatalf("of %d files %d are left", limit, left)
		}
	}
	if n := Port.of(1<<20, 1024); n != 1024 {
		t.Errorf("%d where 1024 are enough", n)
	}
}

// TestLimitOfAProcess: the limit in force is what a process was started with.
func TestLimitOfAProcess(t *testing.T) {
	if os.Getenv("RECKON_TEST_OPEN_FILES") != "" {
		if err := Check(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for limit, want := range map[string]string{"511": "may have 511 files open", "512": "PASS"} {
		command := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n "+limit+" && exec \"$0\" -test.run=TestLimitOfAProcess -test.v", os.Args[0])
		command.Env = append(os.Environ(), "RECKON_TEST_OPEN_FILES=1")
		output, err := command.CombinedOutput()
		if (err == nil) != (want == "PASS") || !strings.Contains(string(output), want) {
			t.Errorf("%s: %v: %s", limit, err, output)
		}
	}
}
