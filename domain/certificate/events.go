package certificate

import (
	"encoding/json"

	"reckon/domain/event"
	"reckon/domain/upload"
)

// Stream names a certificate's stream.
func Stream(certificateID string) string { return "certificate-" + certificateID }

// Verdicts (interface §2.10).
const (
	Verified     = "verified"
	Rejected     = "rejected"     // the kernel refused the proof
	Unsupported  = "unsupported"  // the export cannot be judged
	Inconclusive = "inconclusive" // the judge did not finish; never a verdict on the proof
)

// FormatWindow is the range of export format versions that are judged.
const FormatWindow = ">=3.1.0,<3.2.0"

// Findings is what a check found. A file may carry names and statements of any
// length: findings over event.MaxInlineBytes live in the blob store.
type Findings struct {
	Reason       string        `json:"reason,omitempty"` // why the verdict is not "verified"
	Declarations []Declaration `json:"declarations,omitempty"`
	AxiomsUsed   []string      `json:"axioms_used,omitempty"`
	Refusal      *Refusal      `json:"refusal,omitempty"`
	Conformance  *Conformance  `json:"conformance,omitempty"`
	Own          *Own          `json:"own_definitions,omitempty"` // nil before version 2, which did not look for them
}

// Declaration is one named declaration.
type Declaration struct {
	Name            string   `json:"name"`
	Kind            string   `json:"kind" doc:"theorem, definition or opaque; axiom, quotient, inductive, constructor or recursor where such a name was given"`
	Statement       *string  `json:"statement" doc:"Its type, rendered by the checker; the proof is omitted. The text reads back to that very type. Null where it is too long to be printed, and then the verdict is not verified"`
	Axioms          []string `json:"axioms" doc:"The axioms the proof actually reaches"`
	StatementSHA256 *string  `json:"statement_sha256" doc:"SHA-256 of the statement's UTF-8 text, hexadecimal; null without a statement. It identifies the text: two certificates state the same only where own_definitions.sha256 agrees too"`
}

// Refusal says what is wrong with a proof, and where.
type Refusal struct {
	Declaration string `json:"declaration"`
	Class       string `json:"class" doc:"Stable name of the reason; docs/kernel.md lists them" example:"type_mismatch"`
	Message     string `json:"message"`
	File        string `json:"file"`
	Line        int    `json:"line" doc:"Of the export, from 1; 0 where no line is to blame"`
}

// Conformance compares the file's constants with those of Lean's own library, by content.
type Conformance struct {
	ReferenceLeanVersion *string  `json:"reference_lean_version" doc:"The version whose table was compared with: that of the export or, where there is no table for it, the nearest one"`
	Matched              int      `json:"matched" doc:"Constants that are Lean's own by content"`
	Differing            []string `json:"differing" doc:"Constants that bear the name of one of Lean's and are others: any of the logical basis, any at all where the export names the table's own version, and otherwise those that a declaration asked for rests on. Any name here makes the verdict unsupported"`
	Outside              Outside  `json:"outside"`
}

// Own is what the declarations asked for rest on and no table of Lean's constants has: the definitions that give the words
// of their statements a meaning. Axioms and proofs are left out.
type Own struct {
	Count       int             `json:"count"`
	SHA256      string          `json:"sha256" doc:"Of all texts, each followed by a line feed, hexadecimal"`
	Definitions []OwnDefinition `json:"definitions" doc:"In the order of the export"`
	Omitted     int             `json:"omitted" doc:"How many more there are, left out because the texts are longer than 1 MiB in all; a certificate with any is not verified. sha256 covers them"`
}

// OwnDefinition is one declaration of the export's author.
type OwnDefinition struct {
	Name string `json:"name"`
	Kind string `json:"kind" doc:"definition, opaque or inductive; theorem where a statement mentions a proof by name"`
	Text string `json:"text" doc:"The declaration, rendered by the checker; what is too long to be printed is given by its fingerprints"`
}

// Outside is what the reference does not define: the file's own.
type Outside struct {
	Count      int      `json:"count"`
	Namespaces []string `json:"namespaces"`
}

// Checker is what judged.
type Checker struct {
	Name         string `json:"name" example:"reckon"`
	Rev          string `json:"rev" doc:"Revision of the binary"`
	FormatWindow string `json:"format_window"`
}

// Issued is a certificate.
type Issued struct {
	CertificateID string `json:"certificate_id"` // UUID
	JobID         string `json:"job_id"`
	Account       string `json:"account"`
	AboutRunID    int64  `json:"about_run_id,omitempty"`
	Verdict       string `json:"verdict"`
	Findings
	FindingsBlob        *event.Blob   `json:"findings_blob,omitempty"` // JSON of Findings, which are then empty here
	Export              upload.Export `json:"export"`
	Checker             Checker       `json:"checker"`
	DeclarationsChecked int           `json:"declarations_checked"`
	ElapsedMS           int64         `json:"elapsed_ms"`
	CreatedAt           string        `json:"created_at"` // RFC 3339
}

// EventName is event.Event.
func (Issued) EventName() string { return "certificate.issued" }

// Events declares this package's event types.
func Events() []event.Type { return []event.Type{event.Of(sample(), withoutOwn)} }

// withoutOwn: version 1 has no own definitions, and says nothing in their place.
func withoutOwn(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

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
		},
		Export: upload.Export{SHA256: sha, Bytes: 4096, Exporter: &upload.Named{Name: "lean4export", Version: "3.1.0"},
			Lean: &upload.Lean{Version: version, Githash: "f72c35b3f637c8c6571d353742168ab66cc22c00"}, FormatVersion: "3.1.0"},
		Checker:             Checker{Name: "reckon", Rev: "4c9186d0a1b2", FormatWindow: FormatWindow},
		DeclarationsChecked: 14, ElapsedMS: 9, CreatedAt: "2026-08-01T12:00:01.000Z",
	}
}

// Of is the certificate of a stream; false where the stream has none.
func Of(history []event.Event) (Issued, bool) {
	for _, e := range history {
		if issued, ok := e.(Issued); ok {
			return issued, true
		}
	}
	return Issued{}, false
}
