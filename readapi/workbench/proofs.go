package workbench

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reckon/domain/certificate"
)

// proofsShown is the form for a proof and the account's certificates.
type proofsShown struct {
	samples
	Visitor      bool                 // nobody is signed in: there are samples, and no form that sends
	Certificates []certificate.Record `json:"certificates"`
	Next         *string              `json:"next_before"`
	Older        string
	UploadID     string
	Names        string // of declarations, one a line
	Report       *proofReport
	Problem      *refusal // of the form
	NoList       *refusal // why the certificates are not known, on a page that has its forms all the same
	For          reader   // whose the forms stay; empty: who reads the page

	Elaborates    bool // the deployment has a toolchain
	Elaboration   elaborationForm
	Elaborated    *elaborationShown
	NotElaborated *refusal
}

// proofReport is what an inspection found.
type proofReport struct {
	WouldBe      string               `json:"would_be"`
	Refusal      *certificate.Refusal `json:"refusal"`
	Declarations []struct {
		Name, Kind   string
		Statement    *string
		Axioms       []string
		ReachesSorry bool `json:"reaches_sorry"`
	} `json:"declarations"`
	AxiomsUsed     []string                 `json:"axioms_used"`
	Conformance    *certificate.Conformance `json:"conformance"`
	Own            *certificate.Own         `json:"own_definitions"`
	InExport       int64                    `json:"declarations_in_export"`
	RemainingToday int64                    `json:"jobs_remaining_today"`
	ElapsedMS      int64                    `json:"elapsed_ms"`
}

func (v *visit) proofsPage() {
	if v.stranger() {
		v.show("proofs", shown{Title: "Proofs", Section: "proofs", Page: proofsShown{Visitor: true}})
		return
	}
	v.showProofs(proofsShown{})
}

func (v *visit) showProofs(page proofsShown) {
	asked, given := url.Values{"limit": {"20"}}, v.given("before")
	for name, value := range given {
		asked.Set(name, value)
	}
	_, problem := v.ask(http.MethodGet, "/api/certificates?"+asked.Encode(), nil, &page)
	page.Older, page.Elaborates = v.older("/proofs", given, page.Next), v.Elaborates
	s := shown{Title: "Proofs", Section: "proofs", For: page.For}
	if refused := cmp.Or(page.Problem, page.NotElaborated); refused != nil { // what was filled in stays on the page
		page.NoList, problem = problem, refused
	} else {
		s.Problem = problem
	}
	s.Page = page
	v.showWithStatus("proofs", s, problem)
}

// refuseProof shows the form that was sent again, with the reason.
func (v *visit) refuseProof(problem *refusal) {
	page := proofsShown{UploadID: v.field("upload_id"), Names: v.field("declarations"), Elaboration: v.elaborationFields(), For: v.stillOf(problem)}
	if v.field("do") == "elaborate" {
		page.NotElaborated = problem
	} else {
		page.Problem = problem
	}
	v.showProofs(page)
}

// proofForm elaborates a source, inspects an upload, or submits it to be checked, as its button says.
func (v *visit) proofForm() {
	if v.field("do") == "elaborate" {
		v.elaborate()
		return
	}
	page := proofsShown{UploadID: v.field("upload_id"), Names: v.field("declarations")}
	body := map[string]any{"upload_id": page.UploadID, "declarations": namesIn(page.Names)}
	if v.field("do") == "check" {
		body["kind"] = "proof"
		body["idempotency_key"] = "workbench-" + page.UploadID // an upload is checked once
		var made jobRow
		if _, page.Problem = v.ask(http.MethodPost, "/api/jobs", body, &made); page.Problem == nil {
			v.goOnToJob(made)
			return
		}
	} else {
		page.Report = &proofReport{}
		if _, page.Problem = v.ask(http.MethodPost, "/api/proofs/validate", body, page.Report); page.Problem != nil {
			page.Report = nil
		}
	}
	v.showProofs(page)
}

// namesIn are the lines of a text that are not empty.
func namesIn(text string) []string {
	names := []string{}
	for line := range strings.Lines(text) {
		if name := strings.TrimSpace(line); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// certificatePage is for anybody.
// certificateShown is a certificate as anybody reads it; and for the account that had it made, the run it named.
type certificateShown struct {
	certificate.Public
	AboutRunID *int64
}

func (v *visit) certificatePage() {
	var page certificateShown
	address := "/api/certificates/" + url.PathEscape(v.r.PathValue("id"))
	_, problem := v.ask(http.MethodGet, address+"/public", nil, &page.Public)
	if problem == nil && v.who().SignedIn {
		var own certificate.Record
		if _, refused := v.ask(http.MethodGet, address, nil, &own); refused == nil { // it is refused to everybody else
			page.AboutRunID = own.AboutRunID
		}
	}
	v.show("certificate", shown{Title: "Certificate", Section: "proofs", Problem: problem, Page: page})
}

// aboutInWords are the names that a certificate is about: the declarations that were found, and the one that it was refused for.
func aboutInWords(c certificate.Record) (names []string) {
	for _, d := range c.Declarations {
		names = append(names, d.Name)
	}
	if c.Refusal != nil && c.Refusal.Declaration != "" && !slices.Contains(names, c.Refusal.Declaration) {
		names = append(names, c.Refusal.Declaration)
	}
	return names
}
