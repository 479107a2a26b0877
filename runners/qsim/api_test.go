package qsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"reckon/domain/account"
	"reckon/domain/circuit"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// malformed is the problem that the kind declares.
var malformed = httpkit.Kind{Code: "malformed_circuit", Status: http.StatusBadRequest}

func submit(t *testing.T, u *apitest.User, body string) apitest.Answer {
	t.Helper()
	return u.Do(t, http.MethodPost, "/api/jobs", body)
}

// TestRefusedCircuitsCostNothing goes through the HTTP API.
func TestRefusedCircuitsCostNothing(t *testing.T) {
	t.Parallel()
	u := apitest.Share(t).NewUser(t)
	circuit := func(gates string) string { return `{"kind":"qsim","circuit":{"qubits":2,"gates":[` + gates + `]}}` }
	for name, c := range map[string]struct {
		body string
		kind httpkit.Kind
		says string // in detail or errors
	}{
		"wait":                   {`{"kind":"qsim","circuit":{"qubits":1,"gates":[]},"wait_ms":5}`, httpkit.InvalidRequest, "wait_ms"},
		"expression":             {`{"kind":"qsim","circuit":{"qubits":1,"gates":[]},"expression":"1"}`, httpkit.InvalidRequest, "body.expression"},
		"session":                {`{"kind":"qsim","circuit":{"qubits":1,"gates":[]},"session_id":"s"}`, httpkit.InvalidRequest, "body.session_id"},
		"run":                    {`{"kind":"qsim","circuit":{"qubits":1,"gates":[]},"run_id":1}`, httpkit.InvalidRequest, "body.run_id"},
		"no circuit":             {`{"kind":"qsim"}`, httpkit.InvalidRequest, "body.circuit"},
		"circuit is null":        {`{"kind":"qsim","circuit":null}`, httpkit.InvalidRequest, "body.circuit"},
		"circuit type":           {`{"kind":"qsim","circuit":"h 0"}`, httpkit.InvalidRequest, "body.circuit"},
		"circuit for evaluate":   {`{"expression":"1","circuit":{}}`, httpkit.InvalidRequest, "body.circuit"},
		"circuit without qubits": {`{"kind":"qsim","circuit":{"gates":[]}}`, malformed, "missing_field"},
		"unknown gate":           {circuit(`{"gate":"h","target":0},{"gate":"warp","target":0}`), malformed, `"location":"body.circuit.gates[1]","message":"unknown_gate"`},
		"qubit out of range":     {circuit(`{"gate":"h","target":2}`), malformed, "qubit_out_of_range"},
		"repeated qubit":         {circuit(`{"gate":"cx","control":1,"target":1}`), malformed, "repeated_qubit"},
		"repeated target":        {circuit(`{"gate":"swap","targets":[1,1]}`), malformed, "repeated_qubit"},
		"unknown gate in text":   {`{"kind":"qsim","circuit":{"openqasm":"qubit q;\nfoo q;"}}`, malformed, `"location":"body.circuit.openqasm","message":"unknown_gate"`},
		"noise":                  {`{"kind":"qsim","circuit":{"qubits":1,"gates":[],"noise_model":{}}}`, malformed, "noise_unsupported"},
		"noise over the plan's":  {`{"kind":"qsim","circuit":{"qubits":21,"gates":[],"noise":{"channels":[{"channel":"phase_damping","gamma":0.1,"gates":["measure"]}]}}}`, malformed, "qubits_out_of_range"},
		"incomplete noise":       {circuit(`{"gate":"kraus","target":0,"kraus":[[[[1,0],[0,0]],[[0,0],[0.5,0]]]]}`), malformed, `"location":"body.circuit.gates[0]","message":"wrong_channel"`},
		"endless noise":          {`{"kind":"qsim","circuit":{"qubits":20,"shots":100000,"gates":[` + strings.Repeat(`{"gate":"t","target":0},`, 9999) + `{"gate":"h","target":0}],"noise":{"channels":[{"channel":"amplitude_damping","gamma":0.1}]}}}`, malformed, "work_limit"},
		"qubits over the plan's": {`{"kind":"qsim","circuit":{"qubits":21,"gates":[{"gate":"t","target":0}]}}`, malformed, "qubits_out_of_range"},
		"too many shots":         {`{"kind":"qsim","circuit":{"qubits":1,"gates":[],"shots":100001}}`, malformed, "shots_out_of_range"},
	} {
		t.Run(name, func(t *testing.T) {
			a := submit(t, u, c.body)
			a.Want(t, c.kind)
			if !strings.Contains(string(a.Body), c.says) {
				t.Errorf("no %s in %s", c.says, a.Body)
			}
		})
	}
	if a := submit(t, u, circuit("")).OK(t); a.JSON["jobs_remaining_today"] != 9.0 || a.JSON["run_id"] != nil {
		t.Errorf("%s", a.Body)
	}
}

// TestCliffordCircuitsHaveALimitOfTheirOwn: the plan's limit is about state vectors.
func TestCliffordCircuitsHaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	u := apitest.Share(t).NewUser(t)
	wide := func(qubits int, gate string) string {
		return fmt.Sprintf(`{"kind":"qsim","circuit":{"qubits":%d,"gates":[{"gate":"h","target":0},{"gate":"%s","control":0,"target":%d}]}}`, qubits, gate, qubits-1)
	}
	submit(t, u, wide(1000, "cx")).OK(t)
	submit(t, u, wide(1001, "cx")).Want(t, malformed)
	submit(t, u, wide(21, "ch")).Want(t, malformed)
}

func TestPlanWithoutQubits(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].Qubits = 0
	u := apitest.Start(t, apitest.Options{Plans: plans}).NewUser(t)
	submit(t, u, `{"kind":"qsim","circuit":{"qubits":1,"gates":[]}}`).Want(t, malformed)
}

// TestCircuitOverMemory: what no runner could hold is refused before it costs a slot.
func TestCircuitOverMemory(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].Qubits = 30
	u := apitest.Start(t, apitest.Options{Plans: plans}).NewUser(t)
	a := submit(t, u, `{"kind":"qsim","circuit":{"qubits":29,"gates":[{"gate":"t","target":0}]}}`)
	a.Want(t, malformed)
	if !strings.Contains(string(a.Body), "memory_limit") {
		t.Errorf("%s", a.Body)
	}
	a = submit(t, u, `{"kind":"qsim","circuit":{"qubits":2,"gates":[`+strings.Repeat(`{"while":{"measured":0},"rounds":1000,"do":[{"if":{"measured":0},"then":[`, 2)+
		`{"gate":"measure","target":0}`+strings.Repeat("]}]}", 2)+`]}}`)
	a.Want(t, malformed)
	if !strings.Contains(string(a.Body), "too_many_steps") {
		t.Errorf("%s", a.Body)
	}
	submit(t, u, `{"kind":"qsim","circuit":{"qubits":24,"gates":[{"gate":"t","target":0}]}}`).OK(t)
}

// TestCountsFollowFromTheSeed runs jobs as a client has them run.
func TestCountsFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	ran := func(circuit string) map[string]any {
		t.Helper()
		id, _ := submit(t, u, `{"kind":"qsim","circuit":`+circuit+`}`).OK(t).JSON["job_id"].(string)
		s.RunJob(t, id)
		a := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t)
		result, _ := a.JSON["result"].(map[string]any)
		if a.JSON["status"] != "succeeded" || result == nil || a.JSON["run_id"] != nil || a.JSON["error"] != nil {
			t.Fatalf("%s", a.Body)
		}
		result["output"] = a.JSON["output"]
		return result
	}
	bell := `{"qubits":2,"shots":1000,"seed":7,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}`
	first, _ := ran(bell)["counts"].(map[string]any)
	second, _ := ran(bell)["counts"].(map[string]any)
	zeros, _ := first["00"].(float64)
	ones, _ := first["11"].(float64)
	if zeros+ones != 1000 || zeros != second["00"] || ones != second["11"] {
		t.Errorf("%v and %v", first, second)
	}
	drawn := ran(`{"qubits":1,"gates":[]}`)
	if counts, _ := drawn["counts"].(map[string]any); drawn["seed"] == nil || counts["0"] != 1024.0 {
		t.Errorf("%v", drawn)
	}
	program := ran(`{"openqasm":"OPENQASM 3;\ninclude \"stdgates.inc\";\ngate bell a, b { h a; cx a, b; }\nqubit[2] q; bit[2] c; bit flag; bell q[0], q[1]; c = measure q; if (c == 3) { x q[0]; } flag = measure q[0];","shots":100,"seed":7}`)
	counts, _ := program["counts"].(map[string]any)
	if none, _ := counts["0 00"].(float64); none == 0 || len(counts) != 2 || counts["0 11"] != 100-none {
		t.Errorf("%v", program)
	}
	if one := ran(`{"qubits":1,"shots":10,"seed":1,"gates":[{"gate":"x","target":0}]}`); one["output"] != "1: 10 of 10 shots" {
		t.Errorf("%v", one)
	}
}

// TestNoiseRunsAsAJob: a model beside a program, and channels among gates by trajectories.
func TestNoiseRunsAsAJob(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	for circuit, want := range map[string]string{
		`{"openqasm":"qubit[2] q; bit[2] c; x q[0]; c = measure q;","seed":1,"noise":{"channels":[{"channel":"bit_flip","p":1,"gates":["x"]}],"readout":[{"qubits":[1],"matrix":[[0,1],[1,0]]}]}}`:                                               `{"counts":{"10":1024},"probabilities":{"10":1},"engine":"density-double-v1"}`,
		`{"qubits":2,"seed":1,"shots":7,"gates":[{"gate":"x","target":0},{"gate":"amplitude_damping","target":0,"gamma":1},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1}]},{"gate":"measure","target":1}]}`: `{"counts":{"00":7},"trajectories":7,"engine":"trajectories-double-v1"}`,
	} {
		id, _ := submit(t, u, `{"kind":"qsim","circuit":`+circuit+`}`).OK(t).JSON["job_id"].(string)
		s.RunJob(t, id)
		result, _ := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t).JSON["result"].(map[string]any)
		var expected map[string]any
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		for field, value := range expected {
			if !reflect.DeepEqual(result[field], value) {
				t.Errorf("%s: %v, want %v", field, result[field], value)
			}
		}
	}
}

// TestExtensionsRunAsJobs: conditions, loops and observables, as a client sends and reads them.
func TestExtensionsRunAsJobs(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	id, _ := submit(t, u, `{"kind":"qsim","circuit":{"qubits":2,"shots":100,"statevector":true,"observables":[{"ZZ":2,"IX":1}],"gates":[
		{"gate":"h","target":0},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1}]},
		{"while":{"measured":0},"rounds":200,"do":[{"gate":"h","target":0},{"gate":"measure","target":0}]}]}}`).OK(t).JSON["job_id"].(string)
	s.RunJob(t, id)
	result, _ := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t).JSON["result"].(map[string]any)
	counts, _ := result["counts"].(map[string]any)
	omitted, _ := result["omitted"].(map[string]any)
	expectations, _ := result["expectations"].([]any)
	if counts["0"] != 100.0 || omitted["statevector"] == nil || len(expectations) != 1 {
		t.Fatalf("%v", result)
	}
	value, _ := expectations[0].(map[string]any)["value"].(float64)
	if value < -1e-9 || value > 1e-9 { // qubit 0 ends as 0, qubit 1 as either
		t.Errorf("%v", expectations)
	}
}

// TestSweepIsOneJob: all points of a sweep cost one slot, and each comes with its parameters and its seed.
func TestSweepIsOneJob(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	id, _ := submit(t, u, `{"kind":"qsim","circuit":{"qubits":1,"shots":10,"seed":3,"gates":[{"gate":"rx","target":0,"angle":"k*pi"}],
		"sweep":[{"k":0},{"k":1},{"k":2}]}}`).OK(t).JSON["job_id"].(string)
	s.RunJob(t, id)
	job := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t).JSON
	result, _ := job["result"].(map[string]any)
	points, _ := result["points"].([]any)
	if len(points) != 3 || result["shots"] != 30.0 || job["output"] != "k = 0, 0: 10 of 10 shots\nk = 1, 1: 10 of 10 shots\nk = 2, 0: 10 of 10 shots" {
		t.Fatalf("%v", job)
	}
	last, _ := points[2].(map[string]any)
	if seed, _ := last["seed"].(float64); uint64(seed) != circuit.PointSeed(3, 2) {
		t.Errorf("%v", last)
	}
	a := submit(t, u, `{"kind":"qsim","circuit":{"qubits":1,"gates":[{"gate":"rx","target":0,"angle":"k"}],"sweep":[{"j":0}]}}`)
	a.Want(t, malformed)
	if !strings.Contains(string(a.Body), "wrong_sweep") {
		t.Errorf("%s", a.Body)
	}
}
