package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/upload"
)

// Elaborator turns Lean source into an export: an operator's toolchain.
type Elaborator interface {
	// Elaborate compiles one module and exports the named declarations, or every
	// theorem of the source when none is named. A source that does not compile is
	// an Elaborated without an Export; ErrElaborationUnavailable: the toolchain did not answer.
	Elaborate(ctx context.Context, source, module string, declarations []string) (Elaborated, error)
}

// Elaborated is the result of elaborating a source.
type Elaborated struct {
	Messages     []ElaborationMessage
	Export       []byte   // NDJSON; nil: the source has errors
	Declarations []string // that the export is of
}

// ElaborationMessage is one message of Lean's about a place in the source.
type ElaborationMessage struct {
	Severity  Severity `json:"severity" enum:"error,warning,information" doc:"How bad it is"`
	Line      int      `json:"line" doc:"Line of the source, from 1"`
	Column    int      `json:"column" doc:"Place in the line, from 0, in Unicode code points"`
	EndLine   *int     `json:"end_line" doc:"Line where the place ends, from 1; null when it is a point"`
	EndColumn *int     `json:"end_column" doc:"Place in that line, from 0, in Unicode code points; null when it is a point"`
	Message   string   `json:"message" doc:"What Lean says"`
}

// Severity is the severity of a message of Lean.
type Severity string

// Severities of a message. A source with an error has no export.
const (
	SeverityError       Severity = "error"
	SeverityWarning     Severity = "warning"
	SeverityInformation Severity = "information"
)

// MaxSourceBytes is the size of the largest Lean source, in bytes (interface §8).
const MaxSourceBytes = 64 << 10

// DefaultModule is the name of the module that a source becomes when the request names none.
const DefaultModule = "Service"

const maxModuleBytes = 200

var (
	// ErrElaborationUnavailable means that the deployment has no toolchain, or that the toolchain does not answer.
	ErrElaborationUnavailable = errors.New("this deployment has no elaboration service, or it does not respond; send an export instead")
	// ErrElaborationInFlight means that the account has an elaboration in flight.
	ErrElaborationInFlight = errors.New("an elaboration of your account is in flight; wait for its answer")
	// ErrInvalidSource means that a source is blank, longer than MaxSourceBytes or not UTF-8.
	ErrInvalidSource = fmt.Errorf("source must be 1 to %d bytes of UTF-8", MaxSourceBytes)
	// ErrInvalidModule means that a text cannot be the name of a source's module.
	ErrInvalidModule = errors.New("module must be a dotted name of ASCII identifiers outside Lean's own libraries, like Service or My.Proofs")
)

// ElaborationError means that a source has errors.
type ElaborationError struct{ Messages []ElaborationMessage }

func (e *ElaborationError) Error() string {
	for _, m := range e.Messages {
		if m.Severity == SeverityError {
			first, _, _ := strings.Cut(m.Message, "\n")
			return fmt.Sprintf("the source does not elaborate: line %d, column %d: %s", m.Line, m.Column, first)
		}
	}
	return "the source does not elaborate"
}

// ElaborateProof is the command to make an upload of a Lean source.
type ElaborateProof struct {
	Source, Module string // Module empty: DefaultModule
	Declarations   []string
	Plan           account.Plan
}

// ElaboratedProof is the answer; Upload is empty when the source has errors.
type ElaboratedProof struct {
	Elaborated
	Upload     upload.Stored
	Validation ProofReport
	Position   event.Position
}

// ElaborateProof elaborates a source, stores its export as an upload and validates it. It
// spends no slot. A source with errors is an answer without an upload, not an error.
func (p *Proofs) ElaborateProof(ctx context.Context, in Intent, c ElaborateProof) (ElaboratedProof, error) {
	if len(c.Declarations) > 0 {
		if err := checkDeclarations(c.Declarations); err != nil {
			return ElaboratedProof{}, err
		}
	}
	kept, result, err := p.elaborate(ctx, in.Account, c)
	var failed *ElaborationError
	switch {
	case errors.As(err, &failed):
		return ElaboratedProof{Elaborated: result}, nil
	case err != nil:
		return ElaboratedProof{}, err
	}
	answer := ElaboratedProof{Elaborated: result}
	if answer.Upload, answer.Position, err = p.storeUpload(ctx, in, kept); err != nil {
		return ElaboratedProof{}, err
	}
	answer.Validation, err = p.ValidateProof(ctx, in, ValidateProof{UploadID: &answer.Upload.UploadID, Declarations: result.Declarations, Plan: c.Plan})
	return answer, err
}

// elaborate compiles a source of the account and keeps its export. A source
// with errors is an *ElaborationError.
func (p *Proofs) elaborate(ctx context.Context, accountID string, c ElaborateProof) (ProofExport, Elaborated, error) {
	module := c.Module
	if module == "" {
		module = DefaultModule
	}
	switch {
	case !c.Plan.Proofs:
		return ProofExport{}, Elaborated{}, ErrProofsNotOnPlan
	case strings.TrimSpace(c.Source) == "" || len(c.Source) > MaxSourceBytes || !utf8.ValidString(c.Source):
		return ProofExport{}, Elaborated{}, ErrInvalidSource
	case !validModule(module):
		return ProofExport{}, Elaborated{}, ErrInvalidModule
	case p.Elaborator == nil:
		return ProofExport{}, Elaborated{}, ErrElaborationUnavailable
	}
	leave, err := p.elaborating.begin(accountID)
	if err != nil {
		return ProofExport{}, Elaborated{}, err
	}
	defer leave()
	result, err := p.Elaborator.Elaborate(ctx, c.Source, module, c.Declarations)
	switch {
	case err != nil:
		return ProofExport{}, Elaborated{}, err
	case result.Export == nil:
		return ProofExport{}, result, &ElaborationError{Messages: result.Messages}
	case int64(len(result.Export)) > c.Plan.ProofExportBytes:
		return ProofExport{}, result, &ExportOverBudgetError{Bytes: int64(len(result.Export)), PlanBytes: c.Plan.ProofExportBytes}
	}
	kept, err := p.storeExport(ctx, bytes.NewReader(result.Export))
	return kept, result, err
}

// ModulePattern is the regular expression of the names of modules that are taken but for those of Lean's own libraries (ECMA 262, RE2).
const ModulePattern = `^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`

var modulePattern = regexp.MustCompile(ModulePattern)

// validModule tells whether a text may be the name of a source's module: dotted ASCII
// identifiers, at most maxModuleBytes, outside the libraries of the toolchain.
func validModule(module string) bool {
	first, _, _ := strings.Cut(module, ".")
	switch first {
	case "Init", "Lean", "Std", "Lake":
		return false
	}
	return len(module) <= maxModuleBytes && modulePattern.MatchString(module)
}

// inFlight is the set of accounts that have an elaboration running in this process: one each.
type inFlight struct {
	mu       sync.Mutex
	accounts map[string]bool
}

// begin adds an account until leave is called. It returns ErrElaborationInFlight if the account is there already.
func (f *inFlight) begin(accountID string) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.accounts[accountID] {
		return nil, ErrElaborationInFlight
	}
	f.accounts[accountID] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.accounts, accountID)
	}, nil
}

const (
	// ElaborationTimeout bounds an elaboration together with storing and validating its export.
	ElaborationTimeout = 3 * time.Minute
	// ElaborationRetry is the pause after which a client should ask again for an elaboration service.
	ElaborationRetry = 5 * time.Minute
)
