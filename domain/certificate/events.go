package certificate

import (
	"encoding/json"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/upload"
)

// Stream names a certificate's stream.
func Stream(certificateID string) string { return "certificate-" + certificateID }

// Verdict is the result of checking a proof (interface §2.10).
type Verdict string

// Verdicts on a proof.
const (
	Verified     Verdict = "verified"     // the kernels accept every requested declaration
	Rejected     Verdict = "rejected"     // the kernel refused the proof
	Unsupported  Verdict = "unsupported"  // the export cannot be judged
	Inconclusive Verdict = "inconclusive" // the check did not finish, or the kernels disagree, which says nothing of the proof
)

// FormatWindow is the range of export format versions that are judged.
const FormatWindow = ">=3.1.0,<3.2.0"

// Findings are the findings of a check. A file may carry names and statements of any
// length: findings over event.MaxInlineBytes live in the blob store.
type Findings struct {
	Reason       string        `json:"reason,omitempty" doc:"Why the verdict is not verified; absent when it is"`
	Declarations []Declaration `json:"declarations,omitempty" doc:"The declarations that were asked for"`
	AxiomsUsed   []string      `json:"axioms_used,omitempty" doc:"Names of the axioms that any of them reaches"`
	Refusal      *Refusal      `json:"refusal,omitempty" doc:"What is wrong and where; absent when nothing is"`
	Conformance  *Conformance  `json:"conformance,omitempty" doc:"Comparison with Lean's own constants; absent where nothing was compared"`
	Own          *Own          `json:"own_definitions,omitempty" doc:"What the statements rest on that is not Lean's own; absent in events of version 1"`
	Kernels      []Kernel      `json:"kernels,omitempty" doc:"What each kernel that was asked says of the export; absent in events of versions 1 and 2, when one judged"`
	Judged       *Judged       `json:"judged,omitempty" doc:"What judged what, so that the leaf of the transparency log, which has the hash of the findings, covers it; absent in events of versions 1 to 3"`
}

// Judged repeats what else the certificate says, among its findings.
type Judged struct {
	Checker             Checker `json:"checker" doc:"What judged"`
	Export              Export  `json:"export" doc:"The checked bytes"`
	DeclarationsChecked int     `json:"declarations_checked" unit:"declarations" doc:"Size of the whole checked closure"`
	ElapsedMS           int64   `json:"elapsed_ms" doc:"Time the check took"`
}

// WithJudged is the certificate with Judged among its findings.
func (i Issued) WithJudged() Issued {
	i.Judged = &Judged{i.Checker, Export(i.Export), i.DeclarationsChecked, i.ElapsedMS}
	return i
}

// Answer is one kernel's answer to an export.
type Answer string

// Answers of a kernel.
const (
	Accepted    Answer = "accepted"
	Refused     Answer = "refused"
	OutOfBudget Answer = "out_of_budget"
	Undecided   Answer = "undecided"
)

// The kernels of the service. A third one is the operator's, as "program NAME".
const (
	FirstKernel  = "reckon"
	SecondKernel = "plain"
)

// Kernel is one kernel's answer to an export, with its reason.
type Kernel struct {
	Name   string  `json:"name" doc:"reckon is the first kernel, plain the second, written apart from it; any other is a program of the operator's" example:"plain"`
	Answer Answer  `json:"answer" enum:"accepted,refused,out_of_budget,undecided" doc:"out_of_budget: the steps that this kernel may take are spent, which is no verdict; the others decide. undecided: the time or memory of the check ran out, or a program of the operator's has no opinion"`
	Reason *string `json:"reason" doc:"What is refused and why, or what ran out; null where it accepts"`
}

// Disagree is the kernel that refuses what the first accepts; nil where there is none.
func (f Findings) Disagree() *Kernel {
	for i := range f.Kernels {
		if k := &f.Kernels[i]; k.Name != FirstKernel && k.Answer == Refused {
			return k
		}
	}
	return nil
}

// DeclarationKind is the kind of a declaration.
type DeclarationKind string

// Kinds of declarations, in Lean's words.
const (
	Theorem     DeclarationKind = "theorem"
	Definition  DeclarationKind = "definition"
	Opaque      DeclarationKind = "opaque"
	Axiom       DeclarationKind = "axiom"
	Quotient    DeclarationKind = "quotient"
	Inductive   DeclarationKind = "inductive"
	Constructor DeclarationKind = "constructor"
	Recursor    DeclarationKind = "recursor"
)

// Declaration is one named declaration.
type Declaration struct {
	Name            string          `json:"name" doc:"Name as exported"`
	Kind            DeclarationKind `json:"kind" enum:"theorem,definition,opaque,axiom,quotient,inductive,constructor,recursor" doc:"theorem, definition or opaque; axiom, quotient, inductive, constructor or recursor where such a name was given"`
	Statement       *string         `json:"statement" doc:"Its type, rendered by the checker; the proof is omitted. The text reads back to that very type. Null where it is too long to be printed, and then the verdict is not verified"`
	Axioms          []string        `json:"axioms" doc:"The axioms the proof actually reaches"`
	StatementSHA256 *string         `json:"statement_sha256" doc:"SHA-256 of the statement's UTF-8 text, hexadecimal; null without a statement. It identifies the text: two certificates state the same only where own_definitions.sha256 agrees too"`
}

// Refusal says what is wrong with a proof, and where.
type Refusal struct {
	Declaration string `json:"declaration" doc:"Name of the declaration; empty where none is to blame"`
	Class       string `json:"class" doc:"Stable name of the reason; docs/kernel.md lists them" example:"type_mismatch"`
	Message     string `json:"message" doc:"What is wrong, in words"`
	File        string `json:"file" doc:"export.ndjson, whatever the file was called that was sent" example:"export.ndjson"`
	Line        int    `json:"line" doc:"Of the export, from 1; 0 where no line is to blame" unit:"lines"`
}

// Conformance compares the file's constants with those of Lean's own library, by content.
type Conformance struct {
	ReferenceLeanVersion *string  `json:"reference_lean_version" doc:"The version whose table was compared with: that of the export or, where there is no table for it, the nearest one"`
	Matched              int      `json:"matched" doc:"Constants that are Lean's own by content" unit:"constants"`
	Differing            []string `json:"differing" doc:"Constants that bear the name of one of Lean's and are others: any of the logical basis, and otherwise those that a declaration asked for rests on. Any name here makes the verdict unsupported. Certificates of older revisions also name some that nothing rests on"`
	Outside              Outside  `json:"outside" doc:"What the reference does not define"`
}

// Own lists the definitions that the requested declarations rest on and no table of Lean's constants has: the definitions that give the words
// of their statements a meaning. Axioms and proofs are left out.
type Own struct {
	Count       int             `json:"count" unit:"definitions" doc:"Number of definitions"`
	SHA256      string          `json:"sha256" doc:"Of all texts, each followed by a line feed, hexadecimal" format:"sha256"`
	Definitions []OwnDefinition `json:"definitions" doc:"Those nearest to the statements, at most 200 and 1 MiB of text, in the order of the export"`
	Omitted     int             `json:"omitted" doc:"How many more there are, which are not shown; sha256 covers them" unit:"definitions"`
}

// OwnDefinition is one declaration of the export's author.
type OwnDefinition struct {
	Name string          `json:"name" doc:"Name as exported"`
	Kind DeclarationKind `json:"kind" enum:"definition,opaque,inductive,theorem" doc:"definition, opaque or inductive; theorem where a statement mentions a proof by name"`
	Text string          `json:"text" doc:"The declaration, rendered by the checker; what is too long to be printed is given by its fingerprints, which determine it"`
}

// Outside counts the file's own declarations, which the reference does not define.
type Outside struct {
	Count      int      `json:"count" unit:"constants" doc:"Number of constants"`
	Namespaces []string `json:"namespaces" doc:"Their outermost namespaces"`
}

// Checker identifies the program that judged.
type Checker struct {
	Name         string `json:"name" example:"reckon" doc:"Name of the checker"`
	Rev          string `json:"rev" doc:"Revision of the binary"`
	FormatWindow string `json:"format_window" doc:"Versions of the export format that it judges, as a range"`
}

// Issued is a certificate.
type Issued struct {
	CertificateID string  `json:"certificate_id" format:"uuid" doc:"The certificate"`
	JobID         string  `json:"job_id" format:"uuid" doc:"The job that made it"`
	Account       string  `json:"account" format:"uuid" doc:"The account"`
	AboutRunID    int64   `json:"about_run_id,omitempty" unit:"run id" doc:"The evaluation the proof is about; absent: none was named"`
	Verdict       Verdict `json:"verdict" enum:"verified,rejected,unsupported,inconclusive" doc:"rejected: the kernel refused the proof. unsupported: the export cannot be judged. inconclusive: the judge did not finish, or one kernel refuses what another accepts"`
	Findings
	FindingsBlob        *event.Blob   `json:"findings_blob,omitempty" doc:"JSON of the findings (reason to kernels), which are then absent here, when it is over 16,384 bytes"`
	Export              upload.Export `json:"export" doc:"The checked bytes"`
	Checker             Checker       `json:"checker" doc:"What judged"`
	DeclarationsChecked int           `json:"declarations_checked" unit:"declarations" doc:"Size of the whole checked closure"`
	ElapsedMS           int64         `json:"elapsed_ms" doc:"Time the check took"`
	CreatedAt           string        `json:"created_at" format:"date-time" doc:"When the check ended"`
}

// EventName is event.Event.
func (Issued) EventName() string { return "certificate.issued" }

// Events declares this package's event types.
func Events() []event.Type {
	return decider.Model[Issued, bool]{Decider: once, Shown: func(bool) any { return nil }, Types: []decider.Type[Issued, bool]{
		decider.On(sample(),
			func(e Issued) event.Address {
				return event.Address{Stream: Stream(e.CertificateID), Account: e.Account}
			},
			func(e Issued, _ bool, _ event.Metadata) Issued { return e },
			event.Upcast(withoutOwn), event.Upcast(withoutKernels), event.Upcast(withoutJudged)),
	}}.Events()
}

// once decides on a certificate's stream: it is issued once, and never changes. The state tells whether it was.
var once = decider.Decider[Issued, bool]{
	Initial: func() bool { return false },
	Decide: func(c Issued, issued bool) ([]event.Event, error) {
		if issued {
			return nil, nil
		}
		return []event.Event{c}, nil
	},
	Evolve: func(bool, event.Event) bool { return true },
}

// withoutOwn: version 1 has no own definitions, and says nothing in their place.
func withoutOwn(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

// withoutKernels: version 2 has no list of kernels: the first judged alone.
func withoutKernels(v2 json.RawMessage) (json.RawMessage, error) { return v2, nil }

// withoutJudged: findings of version 3 do not say what judged what.
func withoutJudged(v3 json.RawMessage) (json.RawMessage, error) { return v3, nil }

func sample() Issued {
	const sha = "3d0a62f999375c96e670d9d3cbdfb8e4ab470c5b1326d04131ece4d644362cb8"
	statement, digest, version := "∀ (a b : Nat), a + b = b + a", "9f3bb4f5f1d9c5bfbc2d0a2b3bd2d1c8f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1", "4.29.1"
	return Issued{
		CertificateID: "b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e", JobID: "7c9e6679-7425-50de-944b-e07fc1f90ae7",
		Account: "0198a1b2-0000-7000-8000-00000000000a", AboutRunID: 1002, Verdict: Unsupported,
		Findings: Findings{
			Reason:       "Service.main reaches the axiom Service.cheat: the axiom is none of the six of the core library",
			Declarations: []Declaration{{Name: "Service.main", Kind: "theorem", Statement: &statement, Axioms: []string{"Service.cheat"}, StatementSHA256: &digest}},
			AxiomsUsed:   []string{"Service.cheat"},
			Refusal:      &Refusal{Declaration: "Service.cheat", Class: "custom_axiom", Message: "the axiom is none of the six of the core library", File: "export.ndjson", Line: 41},
			Conformance:  &Conformance{ReferenceLeanVersion: &version, Matched: 12, Differing: []string{}, Outside: Outside{Count: 2, Namespaces: []string{"Service"}}},
			Own: &Own{Count: 1, SHA256: "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
				Definitions: []OwnDefinition{{Name: "Service.double", Kind: "definition", Text: "def Service.double : Nat → Nat := fun (n : Nat) => n + n"}}},
			Kernels: []Kernel{{Name: FirstKernel, Answer: Accepted}},
		},
		Export: upload.Export{SHA256: sha, Bytes: 4096, Exporter: &upload.Named{Name: "lean4export", Version: "3.1.0"},
			Lean: &upload.Lean{Version: version, Githash: "f72c35b3f637c8c6571d353742168ab66cc22c00"}, FormatVersion: "3.1.0"},
		Checker:             Checker{Name: "reckon", Rev: "4c9186d0a1b2", FormatWindow: FormatWindow},
		DeclarationsChecked: 14, ElapsedMS: 9, CreatedAt: "2026-08-01T12:00:01.000Z",
	}.WithJudged()
}

// FromHistory is the certificate of a stream; false where the stream has none.
func FromHistory(history []event.Event) (Issued, bool) {
	for _, e := range history {
		if issued, ok := e.(Issued); ok {
			return issued, true
		}
	}
	return Issued{}, false
}
