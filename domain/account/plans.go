package account

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan is one plan with its limits. The catalogue serves these fields and the service
// enforces the same ones. The tags are everything that is said of a limit: its
// key, its description in the interface (doc), and its least value where that is
// not 0 (least). Besides this struct and DefaultPlans, a limit is named only
// where it is enforced.
type Plan struct {
	Name                  string   `json:"plan" toml:"plan" example:"pro" doc:"Name of the plan"`
	Prices                []Price  `json:"prices" toml:"prices"` // none: not for sale
	EvaluationBudgetMS    int64    `json:"evaluation_budget_ms" toml:"evaluation_budget_ms" least:"1" doc:"Compute budget of one evaluation in milliseconds"`
	PerMinute             int      `json:"per_minute" toml:"per_minute" least:"1" doc:"Number of evaluations and checks a minute"`
	ConcurrentEvaluations int      `json:"concurrent_evaluations" toml:"concurrent_evaluations" least:"1" doc:"Number of evaluations and checks at once, in sessions and without, those that wait for a worker included; each process of an installation counts those that it answers"`
	JobsPerDay            int      `json:"jobs_per_day" toml:"jobs_per_day" doc:"Number of jobs of any kind per UTC day"`
	JobBudgetMS           int64    `json:"job_budget_ms" toml:"job_budget_ms" least:"1" doc:"Longest time budget of a job in milliseconds"`
	ConcurrentJobs        int      `json:"concurrent_jobs" toml:"concurrent_jobs" doc:"Number of jobs that run at once"`
	Qubits                int      `json:"qubits" toml:"qubits" doc:"Width of the widest circuit in qubits"`
	Proofs                bool     `json:"proofs" toml:"proofs" doc:"Whether proofs are checked"`
	ProofExportBytes      int64    `json:"proof_export_bytes" toml:"proof_export_bytes" doc:"Size of the largest proof export in bytes"`
	LiveSessions          int      `json:"live_sessions" toml:"live_sessions" doc:"Number of sessions at once"`
	DeniedHeads           []string `json:"denied_heads" toml:"denied_heads" doc:"Functions that an expression may not call"`
}

// Price is one way to pay for a plan.
type Price struct {
	Period      Period `json:"period" toml:"period"`
	AmountMinor int64  `json:"amount_minor" toml:"amount_minor"` // in the smallest unit of the currency: cents for USD
	Currency    string `json:"currency" toml:"currency"`         // ISO 4217
}

// Period is the period that a price covers.
type Period string

// Periods of a price.
const (
	Monthly Period = "month"
	Yearly  Period = "year"
)

// MaxAmountMinor is the largest amount of a price or of an invoice: 10^12 of the smallest unit, far below what readers of
// JSON keep exactly (2^53), so that sums of invoices are exact too.
const MaxAmountMinor = 1_000_000_000_000

// PriceOf returns the price for a period; false: it is not sold for that.
func (p Plan) PriceOf(period Period) (Price, bool) {
	i := slices.IndexFunc(p.Prices, func(of Price) bool { return of.Period == period })
	if i < 0 {
		return Price{}, false
	}
	return p.Prices[i], true
}

// currencies are the codes of ISO 4217, list one (January 2026), of what people pay with: without funds, precious metals, XTS (testing) and
// XXX (no currency).
var currencies = strings.Fields(`AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK
		DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD
		KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB
		RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF
		XPF YER ZAR ZMW ZWG`) // sorted

// Validate returns what is wrong with a price: its period, an amount that is not 1 to MaxAmountMinor, or its currency.
func (p Price) Validate() error {
	switch {
	case p.Period != Monthly && p.Period != Yearly:
		return fmt.Errorf("a price is for a %s or a %s, not for %q", Monthly, Yearly, p.Period)
	case p.AmountMinor < 1 || p.AmountMinor > MaxAmountMinor:
		return fmt.Errorf("a price is 1 to %d of the currency's smallest unit", int64(MaxAmountMinor))
	case !ValidCurrency(p.Currency):
		return fmt.Errorf("%q is not the ISO 4217 code of a currency, such as USD", p.Currency)
	}
	return nil
}

// ValidCurrency tells whether a text is the ISO 4217 code of a currency that people pay with.
func ValidCurrency(code string) bool {
	_, known := slices.BinarySearch(currencies, code)
	return known
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

// Names lists the plans in the order of the catalogue.
func (p Plans) Names() (names []string) {
	for _, plan := range p {
		names = append(names, plan.Name)
	}
	return names
}

// InForce is the plan an account's stream names. One that has left the catalogue
// is served as the first, which is every new account's.
func (p Plans) InForce(name string) Plan {
	if plan, known := p.Find(name); known {
		return plan
	}
	return p[0]
}

// Validate returns what is wrong with a catalogue that an operator wrote: no plan, a plan
// without a name, a name given twice, a limit below its least value, or prices that cannot be charged.
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
			return fmt.Errorf("plan %q is given twice", plan.Name)
		}
		if err := plan.validateLimits(); err != nil {
			return err
		}
		if err := plan.validatePrices(); err != nil {
			return err
		}
		seen[plan.Name] = true
	}
	if len(p[0].Prices) > 0 {
		return fmt.Errorf("plan %q: the first plan is every new account's, so it has no prices", p[0].Name)
	}
	return nil
}

// validatePrices returns an error for the first price that cannot be charged, or a period that has two.
func (p Plan) validatePrices() error {
	seen := map[Period]bool{}
	for _, price := range p.Prices {
		if err := price.Validate(); err != nil {
			return fmt.Errorf("plan %q: %w", p.Name, err)
		}
		if seen[price.Period] {
			return fmt.Errorf("plan %q: there are two prices for a %s", p.Name, price.Period)
		}
		seen[price.Period] = true
	}
	return nil
}

// validateLimits returns an error for the first number that is below its least tag (0 without one).
func (p Plan) validateLimits() error {
	limits := reflect.ValueOf(p)
	for field, value := range limits.Fields() {
		if !value.CanInt() {
			continue
		}
		least, _ := strconv.ParseInt(field.Tag.Get("least"), 10, 64) // no tag: 0
		if value.Int() < least {
			return fmt.Errorf("plan %q: %s must be at least %d", p.Name, field.Tag.Get("toml"), least)
		}
	}
	return nil
}

// ioHeads are the functions of input, output and network, which every built-in plan
// denies. The sandbox would stop them too; the list gives the user a clear message.
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
		{Name: "free", EvaluationBudgetMS: 3_000, PerMinute: 20, ConcurrentEvaluations: 4, JobsPerDay: 10, JobBudgetMS: 60_000, ConcurrentJobs: 1,
			Qubits: 20, ProofExportBytes: 1 * mib, Proofs: true, LiveSessions: 2, DeniedHeads: ioHeads},
		{Name: "pro", Prices: []Price{{Monthly, 1200, "USD"}, {Yearly, 12000, "USD"}},
			EvaluationBudgetMS: 20_000, PerMinute: 120, ConcurrentEvaluations: 8, JobsPerDay: 200, JobBudgetMS: 15 * 60_000, ConcurrentJobs: 4,
			Qubits: 24, ProofExportBytes: 16 * mib, Proofs: true, LiveSessions: 10, DeniedHeads: ioHeads},
		{Name: "team", Prices: []Price{{Monthly, 4900, "USD"}, {Yearly, 49000, "USD"}},
			EvaluationBudgetMS: 60_000, PerMinute: 600, ConcurrentEvaluations: 16, JobsPerDay: 2000, JobBudgetMS: 60 * 60_000, ConcurrentJobs: 16,
			Qubits: 26, ProofExportBytes: 16 * mib, Proofs: true, LiveSessions: 50, DeniedHeads: ioHeads},
	}
}
