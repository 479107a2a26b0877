package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"reckon/domain/job"
	"reckon/test/sweep"
)

// circuitsMiB is what docs/circuits.md promises that all circuits of a process take together.
const circuitsMiB = 1536

// widePlan is a configuration whose plan has the widest state vector that a job may have.
func widePlan(t *testing.T, data string) string {
	t.Helper()
	path := GenerousPlans(t, data)
	plans, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wide := strings.NewReplacer("qubits = 20", "qubits = 26", "job_budget_ms = 60000", "job_budget_ms = 3600000").Replace(string(plans))
	if err := os.WriteFile(path, []byte(wide), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rotations is a circuit that turns its qubits this many times, one after the other.
func rotations(qubits, times int) jobBody {
	gates := make([]jobBody, times)
	for i := range gates {
		gates[i] = jobBody{"gate": "rx", "target": i % qubits, "angle": 0.1 + float64(i%7), "control": (i + 1) % qubits}
	}
	return jobBody{"kind": "qsim", "circuit": jobBody{"qubits": qubits, "shots": 100, "gates": gates}}
}

// TestLargeAndSmallCircuits: while one circuit of 26 qubits runs for hours a second one is queued, and fifty small ones go past both.
// When the first has been cancelled the second runs, in the memory that all circuits are promised to take.
func TestLargeAndSmallCircuits(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "it takes 1.3 GiB of memory and all processors")
	data := DataFolder(t)
	server := Start(t, data, "--config", widePlan(t, data), "--job-slots", "3") // the last one is for jobs with a short budget
	before := peakMemoryMiB(t, server)
	first, second := server.NewAccount("first@example.com"), server.NewAccount("second@example.com")
	running := first.submit(t, rotations(26, 9000)).JobID
	first.awaitRunning(t, running)
	waiting := second.submit(t, rotations(26, 20)).JobID

	var small []string
	accounts := make([]*Account, 13)
	for i := range accounts {
		accounts[i] = server.NewAccount(fmt.Sprintf("small-%d@example.com", i))
	}
	const smallJobs = 50
	for i := range smallJobs {
		small = append(small, accounts[i/4].submit(t, rotations(2+i%9, 20)).JobID)
	}
	for i, id := range small {
		if j := accounts[i/4].awaitJob(t, id); j.Status != job.Succeeded {
			t.Fatalf("%+v", j)
		}
	}
	for _, large := range []struct {
		account *Account
		id      string
		want    job.Status
	}{{first, running, job.Running}, {second, waiting, job.Queued}} {
		var j jobAnswer
		if err := large.account.JSON("GET", "/api/jobs/"+large.id, nil, &j); err != nil || j.Status != large.want {
			t.Errorf("after the small jobs: %s, want %s, %v", j.Status, large.want, err)
		}
	}
	if c := first.cancel(t, running); !c.Cancelled {
		t.Errorf("%+v", c)
	}
	j := second.awaitJob(t, waiting)
	var result struct {
		Counts map[string]int `json:"counts"`
	}
	if err := json.Unmarshal(j.Result, &result); err != nil || j.Status != job.Succeeded || len(result.Counts) == 0 {
		t.Errorf("%+v, %v", j, err)
	}
	after := peakMemoryMiB(t, server)
	t.Logf("resident memory: %d MiB, before the circuits %d MiB", after, before)
	if after-before > circuitsMiB {
		t.Errorf("circuits took %d MiB; at most %d are promised", after-before, circuitsMiB)
	}
}
