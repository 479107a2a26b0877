package proof

import (
	"context"
	"reflect"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
)

// Kind is the name of the kind.
const Kind job.Kind = "proof"

// Declare is runners.Kind.
func (j Jobs) Declare() commands.JobKind {
	return commands.JobKind{
		Declaration: job.Declaration{
			Name:    Kind,
			Summary: "has the kernel check a formal-proof export, and issues a certificate",
			Fields: []job.Field{
				{Name: "export", Type: job.Text, Doc: "export text (NDJSON)", Most: commands.MaxInlineExportBytes},
				{Name: "upload_id", Type: job.UUID, Doc: "an upload, instead of export"},
				{Name: "source", Type: job.Text, Doc: "source text to elaborate first, instead of export or upload_id", EmptyCode: "invalid_source", Most: commands.MaxSourceBytes},
				{Name: "module", Type: job.Text, Doc: "with source: the module it becomes", EmptyCode: "invalid_module", Pattern: commands.ModulePattern},
				{Name: "declarations", Type: job.Texts, Required: true, Doc: "1 to 32 names as exported", EmptyCode: "invalid_declarations", Most: commands.MaxDeclarations},
				{Name: "run_id", Type: job.Integer, Doc: "the evaluation the proof is about", Least: new(int64(1))},
			},
			Either:     []string{"export", "upload_id", "source"},
			Waits:      true,
			Publishes:  job.PublishesCertificate,
			Result:     "the certificate",
			ResultType: reflect.TypeFor[certificate.Record](),
			Refusals: []job.Refusal{
				{Code: "proofs_not_on_plan"}, {Code: "export_choice"}, {Code: "invalid_export"}, {Code: "export_too_large"}, {Code: "export_over_budget"}, {Code: "invalid_declarations"},
				{Code: "invalid_source"}, {Code: "invalid_module"}, {Code: "elaboration_failed"}, {Code: "elaboration_in_flight"}, {Code: "no_elaboration"},
				{Code: "no_such_run"}, {Code: "no_such_upload"}, {Code: "upload_used"}, {Code: "saturated"},
			},
		},
		Prepare:        j.prepare,
		PrepareTimeout: prepareTimeout,
	}
}

// prepare makes sure that what is to be checked is in the blob store.
func (j Jobs) prepare(ctx context.Context, in commands.Intent, r commands.JobRequest, plan account.Plan, s *job.Submission) error {
	request := commands.ProofRequest{
		Export: r.Fields.Text("export"), UploadID: r.Fields.Text("upload_id"), Source: r.Fields.Text("source"), Module: r.Fields.Text("module"),
		Declarations: r.Fields.Texts("declarations"), RunID: r.Fields.Integer("run_id"),
	}
	work, err := j.Proofs.PrepareWork(ctx, in, request, plan, s.JobID)
	if err != nil {
		return err
	}
	payload, err := event.Marshal(work)
	if err != nil {
		return err
	}
	s.Payload = event.Inline(string(payload))
	if request.UploadID != nil {
		s.UploadID = *request.UploadID
	}
	if request.RunID != nil {
		s.AboutRunID = *request.RunID
	}
	return nil
}

func prepareTimeout(r commands.JobRequest) time.Duration {
	if r.Fields.Has("source") {
		return commands.ElaborationTimeout
	}
	return 0
}
