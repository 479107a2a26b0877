package readapi

import (
	"context"
	"errors"
	"net/http"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections"
)

// historyInput is interface §4.2. The read model judges the values: it knows them best.
type historyInput struct {
	Freshness
	Limit   int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Offset  int    `query:"offset" minimum:"0" maximum:"1000000000" default:"0"`
	Status  string `query:"status" enum:"success,unevaluated,plot_omitted,timeout,error"`
	Source  string `query:"source" enum:"web,mcp,job"`
	Query   string `query:"query" doc:"Literal, case-sensitive substring of the expression; trimmed; at most 200 characters"`
	From    string `query:"from" doc:"UTC day YYYY-MM-DD: runs on or after it" example:"2026-08-01"`
	To      string `query:"to" doc:"UTC day YYYY-MM-DD: runs on or before it, the whole day included" example:"2026-08-31"`
	Verdict string `query:"verdict" enum:"verified,refuted,inconclusive" doc:"Rows without a stored verdict are excluded"`
}

type historyOutput struct {
	Body struct {
		Runs    []historyRow `json:"runs" doc:"Newest first"`
		Limit   int          `json:"limit"`
		Offset  int          `json:"offset"`
		HasMore bool         `json:"has_more"`
	}
}

type historyRow struct {
	RunID           int64               `json:"run_id"`
	Expression      string              `json:"expression" doc:"As it arrived"`
	Result          *string             `json:"result" doc:"Null when the run ended without an answer"`
	Status          string              `json:"status" enum:"success,unevaluated,plot_omitted,timeout,error"`
	Source          string              `json:"source" enum:"web,mcp,job"`
	SessionID       *string             `json:"session_id"`
	Agent           *string             `json:"agent" doc:"The client as it introduced itself"`
	ExecutionTimeMS int64               `json:"execution_time_ms"`
	CreatedAt       string              `json:"created_at" format:"date-time"`
	Warnings        []string            `json:"warnings"`
	PlotURL         *string             `json:"plot_url"`
	ReceiptURL      *string             `json:"receipt_url"`
	Verification    *historyCheck       `json:"verification" doc:"The best check so far, automatic or requested"`
	Certificate     *historyCertificate `json:"certificate"`
}

type historyCheck struct {
	Verdict   string  `json:"verdict" enum:"verified,refuted,inconclusive"`
	Basis     *string `json:"basis"`
	Method    *string `json:"method"`
	Reason    *string `json:"reason" doc:"On inconclusive: why"`
	Automatic bool    `json:"automatic"`
}

type historyCertificate struct {
	CertificateID  string `json:"certificate_id"`
	Verdict        string `json:"verdict"`
	CertificateURL string `json:"certificate_url"`
}

func (s Services) registerHistory(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/history", ID: "list-history", Tag: "Evaluation", Summary: "Logged evaluations, newest first",
		Access: httpkit.Bearer, Scope: "history:read", Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.history)
}

func (s Services) history(ctx context.Context, in *historyInput) (*historyOutput, error) {
	if err := s.settle(ctx, "history", in.Token); err != nil {
		return nil, err
	}
	page, err := s.Models.History.List(ctx, auth.Caller(ctx).Account, projections.HistoryQuery{
		Limit: in.Limit, Offset: in.Offset, Status: in.Status, Source: in.Source,
		Query: in.Query, From: in.From, To: in.To, Verdict: in.Verdict,
	})
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &historyOutput{}
	out.Body.Limit, out.Body.Offset, out.Body.HasMore = page.Limit, page.Offset, page.HasMore
	out.Body.Runs = make([]historyRow, len(page.Rows))
	for i, row := range page.Rows {
		out.Body.Runs[i] = rowOf(row)
	}
	return out, nil
}

func rowOf(r projections.HistoryRow) historyRow {
	row := historyRow{
		RunID: r.RunID, Expression: string(r.Expression), Status: r.Status, Source: r.Source,
		SessionID: view.Optional(r.SessionID), Agent: view.Optional(string(r.Agent)), ExecutionTimeMS: r.ExecutionMS,
		CreatedAt: event.Timestamp(r.CreatedAt()), Warnings: r.Warnings,
	}
	if row.Warnings == nil {
		row.Warnings = []string{}
	}
	if r.HasReceipt {
		result := string(r.Result)
		row.Result, row.ReceiptURL = &result, view.Optional(view.ReceiptPath(r.RunID))
	}
	if r.HasPlot {
		row.PlotURL = view.Optional(view.PlotPath(r.RunID))
	}
	if r.Verdict != "" {
		row.Verification = &historyCheck{Verdict: r.Verdict, Basis: view.Optional(r.Basis), Method: view.Optional(r.Method), Reason: view.Optional(r.Reason), Automatic: r.Automatic}
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
	return httpkit.InvalidParameter.Problem("query.%s %s", refused.Parameter, refused.Problem).Field("query."+refused.Parameter, refused.Problem)
}
