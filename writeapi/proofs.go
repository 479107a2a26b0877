package writeapi

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/certificate"
	"reckon/domain/lean/export"
	"reckon/domain/upload"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

const (
	// storeTimeout bounds what follows an upload's last byte: waiting for a place, reading, storing.
	storeTimeout = 2 * time.Minute
	// elaboratingRetry is the Retry-After of a request that is refused while another elaboration of its account runs.
	elaboratingRetry = 5 * time.Second
)

type uploadInput struct {
	ContentType     string       `header:"Content-Type" doc:"application/x-ndjson, or application/gzip with Content-Encoding: gzip"`
	For             httpkit.UUID `header:"Reckon-Account" doc:"Id of the account that the export is to be stored for; any other is answered 409. Left out: whose the credential is"`
	ContentEncoding string       `header:"Content-Encoding" describedPattern:"^(gzip|identity)$" doc:"gzip when the export is compressed"`
}

// uploadOutput is interface §2.9.
type uploadOutput struct {
	Body struct {
		UploadID      string        `json:"upload_id" format:"uuid" doc:"Id of the upload, for one proof job"`
		ExportBytes   int64         `json:"export_bytes" doc:"Size of the export in bytes, normalised: LF line ends, one at the end"`
		ExportSHA256  string        `json:"export_sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the normalised export, hexadecimal: the identity every certificate about it cites"`
		Exporter      *upload.Named `json:"exporter" doc:"The program that wrote the export, as its first line says; null when it does not"`
		Lean          *upload.Lean  `json:"lean" doc:"The version of Lean the export is of, as its first line says; null when it does not"`
		FormatVersion string        `json:"format_version" example:"3.1.0" doc:"Version of the export format"`
	}
}

type validateInput struct {
	Body struct {
		Declarations []string      `json:"declarations" minItems:"1" maxItems:"32" nullable:"false" doc:"Names as exported"`
		Export       *string       `json:"export,omitempty" doc:"Export text (NDJSON), up to 640 KiB"`
		UploadID     *httpkit.UUID `json:"upload_id,omitempty" describedFormat:"uuid" doc:"Instead of export; it is not consumed"`
	}
}

type validateOutput struct{ Body proofReport }

// proofReport is the validate report of interface §4.4.
type proofReport struct {
	OK                   bool                     `json:"ok" doc:"Whether would_be is checked"`
	WouldBe              commands.Forecast        `json:"would_be" enum:"checked,refused,unsupported,undecided" doc:"checked: the kernel would judge it. refused: a submit would be refused and spend nothing. unsupported: a submit would be accepted, spend a slot and end as unsupported. undecided: the inspection did not finish"`
	Refusal              *certificate.Refusal     `json:"refusal" doc:"What is wrong and where; null when nothing was found"`
	Export               reportedExport           `json:"export" doc:"The inspected bytes"`
	Declarations         []reportedDeclaration    `json:"declarations" doc:"The declarations that were asked for"`
	AxiomsUsed           []string                 `json:"axioms_used" doc:"Names of the axioms that any of them reaches"`
	Conformance          *certificate.Conformance `json:"conformance" doc:"Comparison with Lean's own constants; null where nothing was compared"`
	Own                  *certificate.Own         `json:"own_definitions" doc:"What the statements rest on that is not Lean's own, as the certificate would print it"`
	DeclarationsInExport int                      `json:"declarations_in_export" doc:"Number of declarations in the whole export"`
	SlotCost             int                      `json:"slot_cost" doc:"Number of slots this report cost: always 0"`
	JobsRemainingToday   int                      `json:"jobs_remaining_today" doc:"Number of jobs of any kind that may still be submitted this UTC day"`
	ElapsedMS            int64                    `json:"elapsed_ms" doc:"Time the inspection took, in milliseconds"`
}

type reportedExport struct {
	Bytes  int64       `json:"bytes" doc:"Size of the normalised export in bytes; of what came in the request when it cannot be read"`
	SHA256 *string     `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the normalised export, hexadecimal; null when it cannot be read"`
	Inline bool        `json:"inline" doc:"It came in the request, not as an upload"`
	Meta   *exportMeta `json:"meta" doc:"Its first line; null when it cannot be read"`
}

type exportMeta struct {
	Exporter *upload.Named `json:"exporter" doc:"The program that wrote the export; null when it does not say"`
	Lean     *upload.Lean  `json:"lean" doc:"The version of Lean the export is of; null when it does not say"`
	Format   exportFormat  `json:"format" doc:"The format of the export"`
}

type exportFormat struct {
	Version string `json:"version" doc:"Version of the export format"`
}

type reportedDeclaration struct {
	Name         string                      `json:"name" doc:"Name as exported"`
	Kind         certificate.DeclarationKind `json:"kind" enum:"theorem,definition,opaque,axiom,quotient,inductive,constructor,recursor" doc:"theorem, definition or opaque; axiom, quotient, inductive, constructor or recursor where such a name was given"`
	Statement    *string                     `json:"statement" doc:"Its type, as the certificate would print it; null where it is too long to be printed"`
	Axioms       []string                    `json:"axioms" doc:"Names of the axioms it reaches"`
	ReachesSorry bool                        `json:"reaches_sorry" doc:"Whether it rests on sorry, Lean's placeholder for a missing proof"`
}

type elaborateInput struct {
	Body struct {
		Source       string   `json:"source" minLength:"1" describedMaxLength:"65536" doc:"Lean source, up to 64 KB"`
		Module       string   `json:"module,omitempty" describedPattern:"^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$" doc:"Dotted name of the module it becomes" default:"Service"`
		Declarations []string `json:"declarations,omitempty" describedMaxItems:"32" describedUnique:"true" doc:"Up to 32 names to certify; every theorem and lemma of the file when left out"`
	}
}

// elaborateOutput is either report of interface §4.4.
type elaborateOutput struct {
	Body struct {
		OK           bool                          `json:"ok" doc:"Whether the source compiled and its export was stored"`
		Phase        string                        `json:"phase,omitempty" enum:"elaborate" doc:"Where it failed; left out when it did not"`
		Messages     []commands.ElaborationMessage `json:"messages" doc:"Lean's messages; of a success warnings only"`
		Hint         string                        `json:"hint,omitempty" doc:"What to do; left out when there is nothing to say"`
		UploadID     string                        `json:"upload_id,omitempty" format:"uuid" doc:"Id of the upload that holds the export; left out on failure"`
		Declarations []string                      `json:"declarations,omitempty" doc:"Names the export is of; left out on failure"`
		Export       *elaboratedExport             `json:"export,omitempty" doc:"The stored export; left out on failure"`
		Validation   *proofReport                  `json:"validation,omitempty" doc:"What a proof job with it would come to; left out on failure"`
		Next         *nextRequest                  `json:"next,omitempty" doc:"The request that has the kernel check it; left out on failure"`
	}
}

type elaboratedExport struct {
	Bytes         int64         `json:"bytes" doc:"Size of the normalised export in bytes"`
	SHA256        string        `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the normalised export, hexadecimal"`
	Exporter      *upload.Named `json:"exporter" doc:"The program that wrote the export, as its first line says; null when it does not"`
	Lean          *upload.Lean  `json:"lean" doc:"The version of Lean the export is of, as its first line says; null when it does not"`
	FormatVersion string        `json:"format_version" doc:"Version of the export format"`
}

type nextRequest struct {
	Method string    `json:"method" example:"POST" doc:"HTTP method"`
	Path   string    `json:"path" example:"/api/jobs" doc:"Path"`
	Body   nextProof `json:"body" doc:"JSON body"`
}

type nextProof struct {
	Kind         string   `json:"kind" example:"proof" doc:"Kind of job to submit"`
	UploadID     string   `json:"upload_id" format:"uuid" doc:"Id of the upload"`
	Declarations []string `json:"declarations" doc:"Names to certify"`
}

func (s Services) registerProofs(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/proofs", ID: "upload-proof", Tag: "Proofs", Summary: "Upload a proof export",
		Description: "The body is the raw export: application/x-ndjson, or gzip (application/gzip with Content-Encoding: gzip); not a JSON envelope. It is read whole before anything is stored. One upload is checked by one job.",
		Limit:       s.perMinute(), ReturnsToken: true, Errors: problems, UploadBytes: commands.MaxExportBytes,
		UploadTypes: []string{"application/x-ndjson", "application/gzip"},
		Kinds:       []httpkit.Kind{httpkit.InvalidExport, httpkit.ExportOverBudget, httpkit.InvalidRequest, httpkit.OtherAccount, httpkit.ProofsNotOnPlan, httpkit.BodyTimeout, httpkit.TooLarge, httpkit.NotAnExport, httpkit.Saturated, httpkit.Unavailable},
	}, s.uploadProof)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/proofs/validate", ID: "validate-proof", Tag: "Proofs", Summary: "What a proof job would come to",
		Description: "Everything but the kernel: it costs no slot and consumes no upload. It cannot detect a wrong proof; only the kernel can, when a job is submitted.",
		Limit:       s.perMinute(), Errors: problems,
		EitherFields: []httpkit.EitherFields{{Name: "ValidateExport", Fields: []string{"export"}}, {Name: "ValidateUpload", Fields: []string{"upload_id"}}},
		Kinds:        []httpkit.Kind{httpkit.ExportChoice, httpkit.UnknownUpload, httpkit.Saturated, httpkit.Unavailable},
	}, s.validateProof)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/proofs/elaborate", ID: "elaborate-proof", Tag: "Proofs", Summary: "Make an upload of Lean source",
		Description: "Compiles the source with the server's own toolchain and libraries, exports its theorems and stores the export as an upload. It costs no slot; the kernel's check is a job of its own.",
		Limit:       s.perMinute(), ReturnsToken: true, Errors: problems,
		Kinds: []httpkit.Kind{httpkit.InvalidSource, httpkit.InvalidModule, httpkit.InvalidDeclarations, httpkit.InvalidExport, httpkit.ExportOverBudget,
			httpkit.ProofsNotOnPlan, httpkit.Elaborating, httpkit.NoElaboration, httpkit.Saturated, httpkit.Unavailable},
		MissingFieldKinds: map[string]httpkit.Kind{"source": httpkit.InvalidSource, "module": httpkit.InvalidModule},
		MisnamedFields:    map[string]string{"code": "source", "export": "source", "upload_id": "source"},
	}, s.elaborateProof)
}

func (s Services) uploadProof(ctx context.Context, in *uploadInput) (out *uploadOutput, err error) {
	if in.For != "" && string(in.For) != auth.PrincipalOf(ctx).Account {
		return nil, httpkit.OtherAccount.Problem("the export is to be stored for another account than the one that is signed in now, and nothing was stored: load the page again, or sign in as that account")
	}
	plan := s.plan(ctx)
	err = s.withinMinute(ctx, plan, func() (err error) {
		out, err = s.storeUpload(ctx, in, plan)
		return err
	})
	return out, err
}

func (s Services) storeUpload(ctx context.Context, in *uploadInput, plan account.Plan) (*uploadOutput, error) {
	if !plan.Proofs { // before the body is read
		return nil, commands.ErrProofsNotOnPlan
	}
	body, err := decompress(in, httpkit.Upload(ctx))
	if err != nil {
		return nil, err
	}
	spooled, err := spool(body, plan.ProofExportBytes)
	if err != nil {
		return nil, explainUploadError(err)
	}
	defer spooled.close()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	intent := s.intent(ctx)
	stored, at, err := s.Proofs.StoreUpload(ctx, intent, commands.StoreUpload{Export: spooled.file, Bytes: spooled.bytes, Plan: plan})
	if err != nil {
		return nil, explainProofError(err)
	}
	s.announceWrite(ctx, intent.Account, at)
	out := &uploadOutput{}
	e := stored.Export
	out.Body.UploadID, out.Body.ExportBytes, out.Body.ExportSHA256 = stored.UploadID, e.Bytes, e.SHA256
	out.Body.Exporter, out.Body.Lean, out.Body.FormatVersion = e.Exporter, e.Lean, e.FormatVersion
	return out, nil
}

// decompress returns a reader of the export, decompressed if the headers say that the body is gzip.
// Its error is a problem of another media type or encoding, or of a body that is no gzip.
func decompress(in *uploadInput, body io.Reader) (io.Reader, error) {
	media, _, err := mime.ParseMediaType(in.ContentType)
	encoding := strings.ToLower(strings.TrimSpace(in.ContentEncoding))
	zipped := media == "application/gzip" || media == "application/x-gzip"
	switch {
	case err != nil || !zipped && media != "application/x-ndjson", encoding != "" && encoding != "identity" && encoding != "gzip":
		return nil, httpkit.NotAnExport.Problem("Content-Type %q with Content-Encoding %q is not taken; send application/x-ndjson, or application/gzip with Content-Encoding: gzip", in.ContentType, in.ContentEncoding)
	case zipped || encoding == "gzip":
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return nil, explainUploadError(err)
		}
		return unzipped, nil
	}
	return body, nil
}

// spooled is an upload on disk, so that a client that sends slowly holds no memory.
type spooled struct {
	file  *os.File
	bytes int64 // size of the export; the file holds no more of it than the plan allows
}

// spool reads an export to its end, or to the cap, and keeps at most keepBytes
// of it in a file that has no name.
func spool(body io.Reader, keepBytes int64) (*spooled, error) {
	file, err := os.CreateTemp("", "reckon-upload-")
	if err != nil {
		return nil, fmt.Errorf("spool an upload: %w", err)
	}
	_ = os.Remove(file.Name()) // where an open file cannot be removed it is a temporary file like any other
	s := &spooled{file: file}
	bounded := io.LimitReader(body, commands.MaxExportBytes+1)
	if s.bytes, err = io.Copy(file, io.LimitReader(bounded, keepBytes)); err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, bounded)
		s.bytes += rest
	}
	if err == nil && s.bytes > commands.MaxExportBytes {
		err = httpkit.TooLarge.Problem("an export has up to %d bytes, decompressed", commands.MaxExportBytes)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *spooled) close() { _ = s.file.Close() }

// explainUploadError makes the problem of a body that could not be read. Problems, and
// errors of the disk, are returned as they are.
func explainUploadError(err error) error {
	var problem *httpkit.Problem
	var disk *os.PathError
	switch {
	case errors.As(err, &problem), errors.As(err, &disk):
		return err
	}
	return httpkit.InvalidExport.Problem("the body could not be read to its end: it is cut short, or its gzip is damaged").WithCause(err)
}

func (s Services) validateProof(ctx context.Context, in *validateInput) (out *validateOutput, err error) {
	plan := s.plan(ctx)
	err = s.withinMinute(ctx, plan, func() (err error) {
		out, err = s.reportProof(ctx, in, plan)
		return err
	})
	return out, err
}

func (s Services) reportProof(ctx context.Context, in *validateInput, plan account.Plan) (*validateOutput, error) {
	report, err := s.Proofs.ValidateProof(ctx, s.intent(ctx), commands.ValidateProof{Export: in.Body.Export, UploadID: (*string)(in.Body.UploadID), Declarations: in.Body.Declarations, Plan: plan})
	switch {
	case errors.Is(err, upload.ErrNotFound): // interface §4.4 wants 400 here
		return nil, httpkit.UnknownUpload.Problem("your account has no such upload").WithField("body.upload_id", "unknown")
	case err != nil:
		return nil, explainProofError(err)
	}
	return &validateOutput{reportOf(report)}, nil
}

func reportOf(r commands.ProofReport) proofReport {
	out := proofReport{
		OK: r.WouldBe == commands.WouldBeChecked, WouldBe: r.WouldBe, Refusal: r.Refusal, AxiomsUsed: r.AxiomsUsed, Conformance: r.Conformance, Own: r.Own,
		Declarations: make([]reportedDeclaration, len(r.Declarations)), DeclarationsInExport: r.Export.Declarations,
		JobsRemainingToday: r.JobsRemaining, ElapsedMS: r.Elapsed.Milliseconds(),
		Export: reportedExport{Bytes: r.Export.Bytes, Inline: r.Inline},
	}
	if out.AxiomsUsed == nil {
		out.AxiomsUsed = []string{}
	}
	for i, d := range r.Declarations {
		out.Declarations[i] = reportedDeclaration{Name: d.Name, Kind: d.Kind, Statement: d.Statement, Axioms: d.Axioms, ReachesSorry: commands.ReachesSorry(d)}
	}
	if e := r.Export; e.SHA256 != "" {
		out.Export.SHA256 = &e.SHA256
		out.Export.Meta = &exportMeta{Exporter: e.Exporter, Lean: e.Lean, Format: exportFormat{e.FormatVersion}}
	}
	return out
}

func (s Services) elaborateProof(ctx context.Context, in *elaborateInput) (out *elaborateOutput, err error) {
	plan := s.plan(ctx)
	err = s.withinMinute(ctx, plan, func() (err error) {
		out, err = s.elaborate(ctx, in, plan)
		return err
	})
	return out, err
}

func (s Services) elaborate(ctx context.Context, in *elaborateInput, plan account.Plan) (*elaborateOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, commands.ElaborationTimeout)
	defer cancel()
	intent := s.intent(ctx)
	done, err := s.Proofs.ElaborateProof(ctx, intent, commands.ElaborateProof{Source: in.Body.Source, Module: in.Body.Module, Declarations: in.Body.Declarations, Plan: plan})
	if err != nil {
		return nil, explainProofError(err)
	}
	out := &elaborateOutput{}
	out.Body.Messages = done.Messages
	if out.Body.Messages == nil {
		out.Body.Messages = []commands.ElaborationMessage{}
	}
	if done.Export == nil {
		out.Body.Phase = "elaborate"
		out.Body.Hint = "Correct the first error and send the source again: an elaboration costs no slot. Imports are limited to the toolchain's own libraries."
		return out, nil
	}
	s.announceWrite(ctx, intent.Account, done.Position)
	validation, e := reportOf(done.Validation), done.Upload.Export
	out.Body.OK, out.Body.UploadID, out.Body.Declarations, out.Body.Validation = true, done.Upload.UploadID, done.Declarations, &validation
	out.Body.Export = &elaboratedExport{Bytes: e.Bytes, SHA256: e.SHA256, Exporter: e.Exporter, Lean: e.Lean, FormatVersion: e.FormatVersion}
	out.Body.Next = &nextRequest{Method: http.MethodPost, Path: "/api/jobs", Body: nextProof{Kind: "proof", UploadID: done.Upload.UploadID, Declarations: done.Declarations}}
	return out, nil
}

// explainProofError makes the problem of a refused export or source; any other error is returned as it is.
func explainProofError(err error) error {
	var bad *export.Error
	var over *commands.ExportOverBudgetError
	var names *commands.DeclarationsError
	var source *commands.ElaborationError
	switch {
	case errors.As(err, &bad) && bad.Class == export.Stopped:
		return httpkit.Saturated.Problem("the export could not be read in time").WithRetryAfter(elaboratingRetry)
	case errors.As(err, &bad):
		return httpkit.InvalidExport.Problem("%s", bad.Error()).WithField(fmt.Sprintf("export.line[%d]", bad.Line), string(bad.Class)).WithCause(err)
	case errors.As(err, &over):
		return httpkit.ExportOverBudget.Problem("%s", over.Error())
	case errors.As(err, &names):
		return httpkit.InvalidDeclarations.Problem("%s", names.Error()).WithField("body."+names.Field(), names.Problem)
	case errors.As(err, &source):
		return elaborationFailed(source)
	case errors.Is(err, commands.ErrElaborationInFlight):
		return httpkit.Elaborating.Problem("%s", commands.ErrElaborationInFlight.Error()).WithRetryAfter(elaboratingRetry)
	case errors.Is(err, commands.ErrElaborationUnavailable):
		return httpkit.NoElaboration.Problem("%s", commands.ErrElaborationUnavailable.Error()).WithRetryAfter(commands.ElaborationRetry).WithCause(err)
	}
	return err
}

func elaborationFailed(err *commands.ElaborationError) error {
	problem := httpkit.ElaborationFailed.Problem("%s", err.Error())
	for _, m := range err.Messages {
		problem = problem.WithField(fmt.Sprintf("body.source:%d:%d", m.Line, m.Column), string(m.Severity)+": "+m.Message)
	}
	return problem
}
