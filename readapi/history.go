package readapi

import (
	"context"
	"errors"
	"net/http"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections"
)

// historyInput is interface §4.2. The read model judges the values: it knows them best.
type historyInput struct {
	Freshness
	Limit   int          `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most rows to answer"`
	Offset  int          `query:"offset" minimum:"0" maximum:"10000" default:"0" doc:"Number of newer rows to skip; go further back with before, which also goes past search_truncated"`
	Before  string       `query:"before" maxLength:"32" describedPattern:"^[0-9]{1,18}$" doc:"next_before of the page before; left out for the newest rows"`
	Status  run.Status   `query:"status" enum:"success,unevaluated,plot_omitted,timeout,error" doc:"Runs that ended so only"`
	Source  event.Source `query:"source" enum:"web,mcp,job" doc:"Runs that came from there only"`
	Query   string       `query:"query" describedMaxLength:"200" doc:"Literal, case-sensitive substring of the expression; trimmed; at most 200 characters. For one of fewer than 3 characters a page looks through 5,000 runs at most: see search_truncated"`
	From    string       `query:"from" describedFormat:"date" doc:"UTC day YYYY-MM-DD: runs on or after it" example:"2026-08-01"`
	To      string       `query:"to" describedFormat:"date" doc:"UTC day YYYY-MM-DD: runs on or before it, the whole day included" example:"2026-08-31"`
	Verdict run.Verdict  `query:"verdict" enum:"verified,refuted,inconclusive" doc:"Runs whose stored check has this verdict only; runs without one are left out"`
}

type historyOutput struct {
	Body struct {
		Runs            []historyRow `json:"runs" doc:"Newest first. A page may be shorter than its limit when its expressions are long: the next begins after its last row"`
		Limit           int          `json:"limit" doc:"Most rows of this page"`
		Offset          int          `json:"offset" doc:"Number of newer rows that were skipped"`
		HasMore         bool         `json:"has_more" doc:"Whether next_before is given. With search_truncated, whether older rows follow is not known"`
		SearchTruncated bool         `json:"search_truncated" doc:"True: this page ends before its limit because 5,000 runs that satisfy the other filters were searched for query; older ones were not, or not to the end. next_before goes on there. Without rows it is null if an offset was given"`
		view.NextPage
	}
}

type historyRow struct {
	RunID           int64               `json:"run_id" minimum:"1" maximum:"9007199254740991" doc:"Id of the run: an integer from 1"`
	Expression      string              `json:"expression" doc:"Source text, exactly as submitted"`
	Result          *string             `json:"result" doc:"The answer as rendered for people, at most its first 4,096 bytes; null when the run ended without one"`
	ResultTruncated bool                `json:"result_truncated" doc:"True: result is the beginning of the answer only. The whole one is in the receipt"`
	Status          run.Status          `json:"status" enum:"success,unevaluated,plot_omitted,timeout,error" doc:"How the run ended. unevaluated: the engine returned the input unchanged. plot_omitted: a graphic was made and is over 2 MiB. timeout: it ran past its budget. error: the engine did not survive it"`
	Source          event.Source        `json:"source" enum:"web,mcp,job" doc:"Where it came from"`
	SessionID       *string             `json:"session_id" doc:"The session it ran in; null when it ran in none"`
	Agent           *string             `json:"agent" doc:"The client as it introduced itself; null when it did not"`
	ExecutionTimeMS int64               `json:"execution_time_ms" doc:"Time the evaluation took, in milliseconds"`
	CreatedAt       string              `json:"created_at" format:"date-time" doc:"When the run was logged: RFC 3339, UTC, milliseconds"`
	Warnings        []string            `json:"warnings" doc:"Messages of the engine, and whether the session was lost, in order"`
	Engines         []run.Asked         `json:"engines,omitempty" doc:"What became of asking each engine, in order, when the first one had no answer or a refuted one; absent when it was the only one asked"`
	PlotURL         *string             `json:"plot_url" format:"uri-reference" doc:"Path of the graphic (SVG); null when none was kept"`
	ReceiptURL      *string             `json:"receipt_url" format:"uri-reference" doc:"Path of the signed receipt; null when the run ended without an answer"`
	Verification    *historyCheck       `json:"verification" doc:"The best check so far, automatic or requested; null when there was none"`
	Certificate     *historyCertificate `json:"certificate" doc:"The newest certificate about this run; null when there is none"`
}

type historyCheck struct {
	Verdict   run.Verdict             `json:"verdict" enum:"verified,refuted,inconclusive" doc:"What the check found. inconclusive: nothing was learned"`
	Basis     *run.Basis              `json:"basis" enum:"exact,numeric,cross_check" doc:"What the verdict rests on: exact, numeric or cross_check; null when inconclusive"`
	Method    *string                 `json:"method" doc:"Name of the verification rule; null when no rule covers the expression"`
	Reason    *run.InconclusiveReason `json:"reason" enum:"cross_check_agrees,no_check_for_head,no_check_for_shape,answer_not_usable,simplify_did_not_reduce,check_timed_out,check_engine_error,check_not_permitted" doc:"Why the check is inconclusive; null when it is not"`
	Automatic bool                    `json:"automatic" doc:"True: the check ran unasked, with the evaluation. False: it was requested"`
}

type historyCertificate struct {
	CertificateID  string              `json:"certificate_id" format:"uuid" doc:"Id of the certificate"`
	Verdict        certificate.Verdict `json:"verdict" enum:"verified,rejected,unsupported,inconclusive" doc:"What the check found. rejected: the kernel refused the proof. unsupported: the export cannot be judged. inconclusive: the judge did not finish"`
	CertificateURL string              `json:"certificate_url" format:"uri-reference" doc:"Path of the certificate"`
}

func (s Services) registerHistory(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/history", ID: "list-history", Tag: "Evaluation", Summary: "Logged evaluations, newest first",
		Description: "Every evaluation that was logged, those that timed out or failed included. Filters are combined: a row satisfies all that are given. Give the Consistency-Token of a write to have it in the list.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.history)
}

func (s Services) history(ctx context.Context, in *historyInput) (*historyOutput, error) {
	if err := s.waitUntilApplied(ctx, "history", in.Token); err != nil {
		return nil, err
	}
	page, err := s.Models.History.List(ctx, auth.PrincipalOf(ctx).Account, projections.HistoryQuery{
		Limit: in.Limit, Offset: in.Offset, Before: in.Before, Status: in.Status, Source: in.Source,
		Query: in.Query, From: in.From, To: in.To, Verdict: in.Verdict,
	})
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &historyOutput{}
	out.Body.Limit, out.Body.Offset, out.Body.HasMore = page.Limit, page.Offset, page.HasMore
	out.Body.SearchTruncated, out.Body.NextBefore = page.SearchTruncated, view.NullIfEmpty(page.Next)
	out.Body.Runs = make([]historyRow, len(page.Rows))
	for i, row := range page.Rows {
		out.Body.Runs[i] = rowOf(row)
	}
	return out, nil
}

func rowOf(r projections.HistoryRow) historyRow {
	row := historyRow{
		RunID: r.RunID, Expression: string(r.Expression), Status: r.Status, Source: r.Source,
		SessionID: view.NullIfEmpty(r.SessionID), Agent: view.NullIfEmpty(string(r.Agent)), ExecutionTimeMS: r.ExecutionMS,
		CreatedAt: event.Timestamp(r.CreatedAt()), Warnings: r.Warnings, Engines: r.Engines,
	}
	if row.Warnings == nil {
		row.Warnings = []string{}
	}
	if r.HasReceipt {
		result := string(r.Result)
		row.Result, row.ResultTruncated, row.ReceiptURL = &result, r.ResultTruncated(), view.NullIfEmpty(view.ReceiptPath(r.RunID))
	}
	if r.HasPlot {
		row.PlotURL = view.NullIfEmpty(view.PlotPath(r.RunID))
	}
	if r.Verdict != "" {
		row.Verification = &historyCheck{Verdict: r.Verdict, Basis: view.NullIfEmpty(r.Basis), Method: view.NullIfEmpty(r.Method), Reason: view.NullIfEmpty(r.Reason), Automatic: r.Automatic}
	}
	if r.CertificateID != "" {
		row.Certificate = &historyCertificate{CertificateID: r.CertificateID, Verdict: r.CertificateVerdict, CertificateURL: certificate.Path(r.CertificateID)}
	}
	return row
}

// refusedQuery words a parameter a read model refused.
func refusedQuery(err error) error {
	var refused *projections.QueryError
	if !errors.As(err, &refused) {
		return err
	}
	return httpkit.InvalidParameter.Problem("query.%s %s", refused.Parameter, refused.Problem).WithField("query."+refused.Parameter, refused.Problem)
}
