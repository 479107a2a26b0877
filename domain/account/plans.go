package account

import (
	"fmt"
	"slices"
	"time"
)

// Plan is what one plan allows. The catalogue serves these values and the
// service enforces the same ones.
type Plan struct {
	Name               string   `json:"plan" toml:"plan"`
	Prices             []Price  `json:"prices" toml:"prices"` // none: not for sale
	EvaluationBudgetMS int64    `json:"evaluation_budget_ms" toml:"evaluation_budget_ms"`
	PerMinute          int      `json:"per_minute" toml:"per_minute"`
	JobsPerDay         int      `json:"jobs_per_day" toml:"jobs_per_day"`
	JobBudgetMS        int64    `json:"job_budget_ms" toml:"job_budget_ms"`
	ConcurrentJobs     int      `json:"concurrent_jobs" toml:"concurrent_jobs"`
	Qubits             int      `json:"qubits" toml:"qubits"`
	ProofExportBytes   int64    `json:"proof_export_bytes" toml:"proof_export_bytes"`
	Proofs             bool     `json:"proofs" toml:"proofs"`
	LiveSessions       int      `json:"live_sessions" toml:"live_sessions"`
	DeniedHeads        []string `json:"denied_heads" toml:"denied_heads"`
}

// Price is one way to pay for a plan.
type Price struct {
	Period      string `json:"period" toml:"period"` // month, year
	AmountMinor int64  `json:"amount_minor" toml:"amount_minor"`
	Currency    string `json:"currency" toml:"currency"` // ISO 4217
}

// EvaluationBudget is the compute budget of one evaluation.
func (p Plan) EvaluationBudget() time.Duration {
	return time.Duration(p.EvaluationBudgetMS) * time.Millisecond
}

// Plans is a plan catalogue; the first plan is every new account's.
type Plans []Plan

// Find returns the plan with this name.
func (p Plans) Find(name string) (Plan, bool) {
	i := slices.IndexFunc(p, func(plan Plan) bool { return plan.Name == name })
	if i < 0 {
		return Plan{}, false
	}
	return p[i], true
}

// InForce is the plan an account's stream names. One that has left the catalogue
// is served as the first, which is every new account's.
func (p Plans) InForce(name string) Plan {
	if plan, known := p.Find(name); known {
		return plan
	}
	return p[0]
}

// Validate says what is wrong with a catalogue someone wrote.
func (p Plans) Validate() error {
	if len(p) == 0 {
		return fmt.Errorf("the plan catalogue is empty")
	}
	seen := map[string]bool{}
	for _, plan := range p {
		switch {
		case plan.Name == "":
			return fmt.Errorf("a plan has no name")
		case seen[plan.Name]:
			return fmt.Errorf("plan %q is there twice", plan.Name)
		case plan.EvaluationBudgetMS <= 0 || plan.PerMinute <= 0 || plan.JobBudgetMS <= 0:
			return fmt.Errorf("plan %q: evaluation_budget_ms, per_minute and job_budget_ms must be positive", plan.Name)
		case plan.JobsPerDay < 0 || plan.ConcurrentJobs < 0 || plan.Qubits < 0 || plan.ProofExportBytes < 0 || plan.LiveSessions < 0:
			return fmt.Errorf("plan %q has a negative limit", plan.Name)
		}
		seen[plan.Name] = true
	}
	return nil
}

// ioHeads are refused with a clear message in every plan. They would fail
// anyway: the operating system is the boundary, this list is a courtesy.
var ioHeads = []string{
	"Run", "RunProcess", "StartProcess", "Import", "Export", "ReadString", "ReadLine", "ReadList", "Get", "Put", "PutAppend",
	"OpenRead", "OpenWrite", "OpenAppend", "DeleteFile", "CopyFile", "RenameFile", "CreateFile", "CreateDirectory",
	"DeleteDirectory", "FileNames", "SetDirectory", "Environment", "GetEnvironment", "SetEnvironment", "URLRead",
	"URLExecute", "URLFetch", "URLDownload", "SocketConnect", "LinkLaunch", "Install",
}

// DefaultPlans is the built-in catalogue; `[[plans]]` tables of the TOML file replace it.
func DefaultPlans() Plans {
	const mib = 1 << 20
	return Plans{
		{Name: "free", EvaluationBudgetMS: 3_000, PerMinute: 20, JobsPerDay: 10, JobBudgetMS: 60_000, ConcurrentJobs: 1,
			Qubits: 20, ProofExportBytes: 1 * mib, Proofs: true, LiveSessions: 2, DeniedHeads: ioHeads},
		{Name: "pro", Prices: []Price{{"month", 1200, "USD"}, {"year", 12000, "USD"}},
			EvaluationBudgetMS: 20_000, PerMinute: 120, JobsPerDay: 200, JobBudgetMS: 15 * 60_000, ConcurrentJobs: 4,
			Qubits: 24, ProofExportBytes: 16 * mib, Proofs: true, LiveSessions: 10, DeniedHeads: ioHeads},
		{Name: "team", Prices: []Price{{"month", 4900, "USD"}, {"year", 49000, "USD"}},
			EvaluationBudgetMS: 60_000, PerMinute: 600, JobsPerDay: 2000, JobBudgetMS: 60 * 60_000, ConcurrentJobs: 16,
			Qubits: 26, ProofExportBytes: 16 * mib, Proofs: true, LiveSessions: 50, DeniedHeads: ioHeads},
	}
}
