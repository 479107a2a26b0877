package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reckon/domain/certificate"
	"reckon/domain/lean/check"
	"reckon/domain/lean/export"
)

// ProofJudge inspects exports in child processes with limits on memory and time: an
// export from outside may need more of either than the machine has.
type ProofJudge interface {
	// Inspect says what can be said of an export without the kernel. One that ran
	// out of time or memory is reported as check.Inconclusive.
	Inspect(ctx context.Context, content []byte, declarations []string) (check.Report, error)
}

// Proofs is the write side of proofs: uploads, validation, elaboration and the
// submission of proof jobs.
type Proofs struct {
	Store      Store
	Blobs      Blobs
	Jobs       *Jobs
	Judge      ProofJudge
	Elaborator Elaborator // nil: the deployment has none
	Clock      Clock

	memorySlots chan struct{} // one element for each export that is held in memory
	elaborating *inFlight
}

// NewProofs returns p with at most memorySlots exports in memory at a time.
func NewProofs(p Proofs, memorySlots int) *Proofs {
	p.memorySlots = make(chan struct{}, memorySlots)
	p.elaborating = &inFlight{accounts: map[string]bool{}}
	return &p
}

// MaxDeclarations is the largest number of names one check is about (interface §8).
const MaxDeclarations = 32

// maxNamesBytes bounds the names of one check together: the job's event and its certificate hold them.
const maxNamesBytes = 64 << 10

// DeclarationsError means that a list of declarations is empty, too long, or has a name that is invalid or given twice.
type DeclarationsError struct {
	Index   int // of the name, from 0; -1: the list itself
	Problem string
}

// Field is the JSON path of what is wrong, within the request.
func (e *DeclarationsError) Field() string {
	if e.Index < 0 {
		return "declarations"
	}
	return fmt.Sprintf("declarations[%d]", e.Index)
}

func (e *DeclarationsError) Error() string { return e.Field() + " " + e.Problem }

// checkDeclarations returns a DeclarationsError for a list that no export could have the declarations of.
func checkDeclarations(names []string) error {
	if len(names) < 1 || len(names) > MaxDeclarations {
		return &DeclarationsError{Index: -1, Problem: fmt.Sprintf("must be 1 to %d names", MaxDeclarations)}
	}
	bytes := 0
	for i, name := range names {
		bytes += len(name)
		switch shown := excerpt(name); {
		case len(name) > export.MaxNameBytes:
			return &DeclarationsError{Index: i, Problem: fmt.Sprintf("%s is longer than the %d bytes that a name of an export may have", shown, export.MaxNameBytes)}
		case bytes > maxNamesBytes:
			return &DeclarationsError{Index: -1, Problem: fmt.Sprintf("may have %d bytes together: ask for them in several checks", maxNamesBytes)}
		case !validName(name):
			return &DeclarationsError{Index: i, Problem: shown + " is no name: components joined by dots, as exported; «» around one that is no identifier"}
		case slices.Contains(names[:i], name):
			return &DeclarationsError{Index: i, Problem: shown + " is given twice"}
		}
	}
	return nil
}

// excerpt is the beginning of a name, in quotation marks, for a message.
func excerpt(name string) string {
	const most = 40
	if short := []rune(name[:min(len(name), 4*most+4)]); len(short) > most {
		return strconv.Quote(string(short[:most])) + "…"
	}
	return strconv.Quote(name)
}

// validName tells whether a text may be a declaration's name: components joined
// by dots, each either in «», where it may be empty, or without space, control character and quotation mark.
func validName(name string) bool {
	if name == "" || !utf8.ValidString(name) {
		return false
	}
	for rest, more := name, true; more; {
		var component string
		text, quoted := strings.CutPrefix(rest, "«")
		if quoted {
			var ok bool
			if component, rest, ok = strings.Cut(text, "»"); !ok {
				return false
			}
			if more = rest != ""; more {
				if rest, ok = strings.CutPrefix(rest, "."); !ok {
					return false
				}
			}
		} else {
			component, rest, more = strings.Cut(rest, ".")
			if strings.ContainsFunc(component, func(r rune) bool { return r == '«' || r == '»' || unicode.IsSpace(r) }) {
				return false
			}
		}
		if component == "" && !quoted || strings.ContainsFunc(component, unicode.IsControl) {
			return false
		}
	}
	return true
}

// resourceLimit is the class of a finding about a check that ended without a report.
const resourceLimit = string(check.ResourceLimit)

// refusalOf is a refusal in the words of a certificate.
func refusalOf(r *check.Refusal) *certificate.Refusal {
	return &certificate.Refusal{Declaration: r.Declaration, Class: string(r.Class), Message: r.Message, File: r.File, Line: r.Line}
}

// FindingsOf is a checker's report as a certificate holds it.
func FindingsOf(r check.Report) certificate.Findings {
	f := certificate.Findings{Declarations: make([]certificate.Declaration, len(r.Declarations)), AxiomsUsed: r.AxiomsUsed, Reason: reasonOf(r)}
	for i, d := range r.Declarations {
		f.Declarations[i] = certificate.Declaration{Name: d.Name, Kind: certificate.DeclarationKind(d.Kind), Statement: d.Statement, Axioms: d.Axioms, StatementSHA256: d.StatementSHA256}
	}
	if r.Refusal != nil && r.Verdict != check.Inconclusive {
		f.Refusal = refusalOf(r.Refusal)
	}
	if c := r.Conformance; c != nil {
		f.Conformance = &certificate.Conformance{ReferenceLeanVersion: c.ReferenceLeanVersion, Matched: c.Matched, Differing: c.Differing, Outside: certificate.Outside(c.Outside)}
	}
	for _, k := range r.Kernels {
		f.Kernels = append(f.Kernels, certificate.Kernel{Name: k.Name, Answer: certificate.Answer(k.Answer), Reason: k.Reason})
	}
	if own := r.OwnDefinitions; own != nil {
		f.Own = &certificate.Own{Count: own.Count, SHA256: own.SHA256, Omitted: own.Omitted, Definitions: make([]certificate.OwnDefinition, len(own.Definitions))}
		for i, d := range own.Definitions {
			f.Own.Definitions[i] = certificate.OwnDefinition{Name: d.Name, Kind: certificate.DeclarationKind(d.Kind), Text: d.Text}
		}
	}
	return f
}

// reasonOf explains a verdict that is not "verified".
func reasonOf(r check.Report) string {
	f := r.Refusal
	switch {
	case r.Verdict == check.Verified:
		return ""
	case f == nil:
		return "no reason was given"
	case f.Declaration == "":
		return f.Message
	}
	return f.Declaration + ": " + f.Message
}

var (
	// ErrExportChoice means that none or several of export, upload_id and source were given.
	ErrExportChoice = errors.New("send exactly one of export and upload_id")
	// ErrProofChoice is ErrExportChoice where a source may be sent as well.
	ErrProofChoice = errors.New("send exactly one of export, upload_id and source")
	// ErrInlineExportTooLarge means that an export is too large to be sent in a JSON body.
	ErrInlineExportTooLarge = fmt.Errorf("an export in the body has up to %d bytes; upload a larger one with POST /api/proofs and send its upload_id", MaxInlineExportBytes)
)
