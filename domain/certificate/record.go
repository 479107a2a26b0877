package certificate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"reckon/domain/event"
	"reckon/domain/upload"
)

// Record is a certificate as its owner reads it (interface §2.10).
type Record struct {
	CertificateID  string `json:"certificate_id" format:"uuid" doc:"Id of the certificate"`
	CertificateURL string `json:"certificate_url" doc:"Where the certificate is served to its owner"`
	JobID          string `json:"job_id" format:"uuid" doc:"The job that made it"`
	AboutRunID     *int64 `json:"about_run_id" doc:"Id of the evaluation the proof is about, as the submission named it; null when it named none"`
	Body
}

// Public is a certificate as anyone reads it: without the account's own ids.
type Public struct {
	CertificateID  string `json:"certificate_id" format:"uuid" doc:"Id of the certificate"`
	CertificateURL string `json:"certificate_url" doc:"Where the certificate is served to its owner"`
	PublicURL      string `json:"public_url" doc:"Where the certificate is served to anyone"`
	Body
}

// Body has the common fields of Record and Public. It is exported because encoders read no
// field of an unexported embedded struct.
type Body struct {
	Verdict             Verdict       `json:"verdict" enum:"verified,rejected,unsupported,inconclusive" doc:"rejected: the kernel refused the proof. unsupported: the export cannot be judged. inconclusive: the judge did not finish, or one kernel refuses what another accepts, which is no verdict on the proof"`
	Reason              *string       `json:"reason" doc:"Why the verdict is not verified; null when it is"`
	Declarations        []Declaration `json:"declarations" doc:"The declarations that were asked for"`
	AxiomsUsed          []string      `json:"axioms_used" doc:"Names of the axioms that any of them reaches"`
	Refusal             *Refusal      `json:"refusal" doc:"What is wrong with the proof, and where; null when nothing is"`
	Export              Export        `json:"export" doc:"The checked bytes"`
	Checker             Checker       `json:"checker" doc:"What judged"`
	Conformance         *Conformance  `json:"conformance" doc:"Null where nothing was compared"`
	Own                 *Own          `json:"own_definitions" doc:"What the statements rest on that is not Lean's own: read these to know what was proved. Null on certificates issued before these were recorded"`
	Kernels             []Kernel      `json:"kernels" doc:"What each kernel that was asked says of the whole export. verified means that the first accepts it and no other refuses it: read here whether the second accepts it too. Null on certificates issued before there were two"`
	DeclarationsChecked int           `json:"declarations_checked" doc:"Number of declarations in the whole checked closure, not only those asked for"`
	ElapsedMS           int64         `json:"elapsed_ms" doc:"Time the check took, in milliseconds"`
	CreatedAt           string        `json:"created_at" format:"date-time" doc:"When the check ended: RFC 3339, UTC, milliseconds"`
}

// Export identifies the checked bytes.
type Export struct {
	SHA256        string        `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the normalised export, hexadecimal"`
	Bytes         int64         `json:"bytes" doc:"Size of the normalised export in bytes"`
	Exporter      *upload.Named `json:"exporter" doc:"The program that wrote the export, as its first line says; null when it does not"`
	Lean          *upload.Lean  `json:"lean" doc:"The version of Lean the export is of, as its first line says; null when it does not"`
	FormatVersion string        `json:"format_version" doc:"Version of the export format"`
}

// Path is where a certificate is served.
func Path(certificateID string) string { return "/api/certificates/" + certificateID }

// PublicPath is where a certificate is served to anyone.
func PublicPath(certificateID string) string { return Path(certificateID) + "/public" }

// Record is the certificate as its owner reads it; base is the scheme and host that
// clients use, such as https://example.org, or empty for paths alone.
func (i Issued) Record(base string) Record {
	r := Record{CertificateID: i.CertificateID, CertificateURL: base + Path(i.CertificateID), JobID: i.JobID, Body: i.body()}
	if i.AboutRunID != 0 {
		r.AboutRunID = &i.AboutRunID
	}
	return r
}

// Public is the certificate as anyone reads it; base is that of Record.
func (i Issued) Public(base string) Public {
	return Public{CertificateID: i.CertificateID, CertificateURL: base + Path(i.CertificateID), PublicURL: base + PublicPath(i.CertificateID), Body: i.body()}
}

func (i Issued) body() Body {
	b := Body{
		Verdict: i.Verdict, Declarations: i.Declarations, AxiomsUsed: i.AxiomsUsed, Refusal: i.Refusal, Export: Export(i.Export), Checker: i.Checker,
		Conformance: i.Conformance, Own: i.Own, Kernels: i.Kernels, DeclarationsChecked: i.DeclarationsChecked, ElapsedMS: i.ElapsedMS, CreatedAt: i.CreatedAt,
	}
	if i.Reason != "" {
		b.Reason = &i.Reason
	}
	if b.Declarations == nil {
		b.Declarations = []Declaration{}
	}
	if b.AxiomsUsed == nil {
		b.AxiomsUsed = []string{}
	}
	return b
}

// LoadFindings returns the certificate with its findings, read from blobs when
// the event names them there. Its errors are those of blobs, or say that the
// findings are not JSON.
func (i Issued) LoadFindings(ctx context.Context, blobs event.BlobReader) (Issued, error) {
	if i.FindingsBlob == nil {
		return i, nil
	}
	findings, err := blobs.Get(ctx, *i.FindingsBlob)
	if err != nil {
		return Issued{}, err
	}
	i.FindingsBlob = nil
	if err := json.Unmarshal(findings, &i.Findings); err != nil {
		return Issued{}, fmt.Errorf("certificate %s: its findings cannot be read: %w", i.CertificateID, err)
	}
	return i, nil
}

// Sentence is the verdict with its findings as one English sentence: the output of a proof job.
func (i Issued) Sentence() string {
	f := i.Findings
	switch i.Verdict {
	case Verified:
		names := make([]string, len(f.Declarations))
		for i, d := range f.Declarations {
			names[i] = d.Name
		}
		axioms := "no axioms are used"
		if len(f.AxiomsUsed) > 0 {
			axioms = "axioms used: " + strings.Join(f.AxiomsUsed, ", ")
		}
		own := ""
		if f.Own != nil && f.Own.Count > 0 {
			own = fmt.Sprintf("; what it says rests on %d definitions of the export's own, listed under own_definitions", f.Own.Count)
			if f.Own.Omitted > 0 {
				own += fmt.Sprintf(" (the nearest %d; the SHA-256 there is of all)", len(f.Own.Definitions))
			}
		}
		return fmt.Sprintf("Verified: %s %s; %s%s.", f.accepting(), strings.Join(names, ", "), axioms, own)
	case Rejected:
		return "Rejected: the kernel refuses the proof: " + f.Reason + "."
	case Unsupported:
		return "Unsupported: the export cannot be judged: " + f.Reason + "."
	}
	if f.Disagree() != nil {
		return "Inconclusive: the kernels disagree, which is no verdict on the proof, and the operator is told: " + f.Reason + "."
	}
	return "Inconclusive: the check did not finish, which is no verdict on the proof: " + f.Reason + "."
}

// accepting names the kernels behind the verdict verified.
func (f Findings) accepting() string {
	var accept, others []string
	for _, k := range f.Kernels {
		switch k.Answer {
		case Accepted:
			accept = append(accept, k.Name)
		case OutOfBudget:
			others = append(others, k.Name+" ran out of its budget")
		default:
			others = append(others, k.Name+" has no opinion")
		}
	}
	but := ""
	if len(others) > 0 {
		but = " (" + strings.Join(others, ", ") + ")"
	}
	switch len(accept) {
	case 0: // of a version without a list of kernels
		return "the kernel accepts"
	case 1:
		return fmt.Sprintf("the kernel %s%s accepts", accept[0], but)
	}
	return fmt.Sprintf("the kernels %s%s accept", strings.Join(accept, " and "), but)
}
