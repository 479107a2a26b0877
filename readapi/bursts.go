package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/burst"
	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections"
)

// burstsInput has cursors that are a time and a position.
type burstsInput struct {
	Freshness
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most rows to answer"`
	Before string `query:"before" maxLength:"42" describedPattern:"^-?[0-9]{1,19}[.][0-9]{1,19}$" doc:"next_before of the page before; left out for the newest rows"`
}

type burstsOutput struct {
	Body struct {
		Bursts      []BurstSummary `json:"bursts" doc:"The one with the latest activity first. Each is whole, also where it began before scanned_from"`
		ScannedFrom string         `json:"scanned_from" format:"date-time" doc:"The list has every burst with an activity since then: seven days ago, or the time of the 5,000th newest activity: RFC 3339, UTC, milliseconds"`
		Scanned     int            `json:"scanned" minimum:"0" maximum:"5000" doc:"Activities since then"`
		Truncated   bool           `json:"truncated" doc:"True: there were more than 5,000 activities in seven days, so that scanned_from is later than seven days ago"`
		GapSeconds  int            `json:"gap_seconds" doc:"A pause longer than this, in seconds, ends a burst"`
		Beta        bool           `json:"beta" doc:"True: what a burst is may change"`
		view.NextPage
	}
}

// BurstSummary is a burst without its timeline; exported as Freshness is.
type BurstSummary struct {
	BurstID     string       `json:"burst_id" pattern:"^[0-9a-f]{32}$" doc:"Id of the burst, from its agent and its first activity. When an earlier activity becomes known, the burst has another id and this one is not found any more"`
	Agent       *string      `json:"agent" doc:"The client as it introduced itself (User-Agent, or name and version of an MCP client); null when it did not. Agents with other credentials are other agents, also under one name"`
	Source      event.Source `json:"source" enum:"web,mcp" doc:"Where the agent's requests came from. A job belongs to the agent who submitted it"`
	StartedAt   string       `json:"started_at" format:"date-time" doc:"Time of the first activity: RFC 3339, UTC, milliseconds"`
	EndedAt     string       `json:"ended_at" format:"date-time" doc:"Time of the last activity: RFC 3339, UTC, milliseconds"`
	DurationMS  int64        `json:"duration_ms" minimum:"0" doc:"From the first activity to the last, in milliseconds"`
	Evaluations int64        `json:"evaluations" minimum:"0" doc:"Runs that ended, those of jobs included"`
	Jobs        int64        `json:"jobs" minimum:"0" doc:"Jobs submitted"`
	Checks      int64        `json:"checks" minimum:"0" doc:"Checks of stored runs on request"`
	Failures    int64        `json:"failures" minimum:"0" doc:"Runs that timed out or failed, and jobs that failed, timed out or were lost without a run"`
	Verified    int64        `json:"verified" minimum:"0" doc:"Activities with the verdict verified: automatic checks, requested checks and certificates"`
	Refuted     int64        `json:"refuted" minimum:"0" doc:"Activities with the verdict refuted"`
	FirstRunID  *int64       `json:"first_run_id" minimum:"1" maximum:"9007199254740991" doc:"The first run by time; null when no run ended in it"`
	LastRunID   *int64       `json:"last_run_id" minimum:"1" maximum:"9007199254740991" doc:"The last run by time; null when no run ended in it"`
	Preview     string       `json:"preview" doc:"Label of the first activity, at most 200 bytes"`
}

type burstInput struct {
	Freshness
	ID    string `path:"id" describedPattern:"^[0-9a-f]{32}$" doc:"burst_id" example:"9b1c04d2a7e84f6b8c3d5e2f1a0b7c69"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"200" doc:"Most events to answer"`
	After string `query:"after" maxLength:"42" describedPattern:"^-?[0-9]{1,19}[.][0-9]{1,19}$" doc:"next_after of the part before; left out for the first events"`
}

type burstOutput struct {
	Body struct {
		BurstSummary
		Events    []burstEvent `json:"events" doc:"The activities, first to last"`
		NextAfter *string      `json:"next_after" doc:"What to give as after for the next events; null with the last"`
	}
}

type burstEvent struct {
	At            string         `json:"at" format:"date-time" doc:"When it was: RFC 3339, UTC, milliseconds"`
	OffsetMS      int64          `json:"offset_ms" minimum:"0" doc:"Since the first activity of the burst, in milliseconds"`
	GapMS         int64          `json:"gap_ms" minimum:"0" maximum:"300000" doc:"Since the activity before, in milliseconds; 0 for the first"`
	Type          burst.Type     `json:"type" enum:"evaluation,job_submitted,job_ended,check,certificate_issued" doc:"evaluation: a run ended. job_submitted, job_ended: a job was queued or reached an end. check: a stored run was checked on request. certificate_issued: a proof job issued its certificate"`
	RunID         *int64         `json:"run_id" minimum:"1" maximum:"9007199254740991" doc:"The run; of a certificate the one that its proof is about; null without one"`
	JobID         *string        `json:"job_id" format:"uuid" doc:"The job; null without one"`
	CertificateID *string        `json:"certificate_id" format:"uuid" doc:"The certificate; null without one"`
	Label         string         `json:"label" doc:"The beginning of the expression, kind of the job, method of the check or names of the declarations: at most 200 bytes"`
	Status        *burst.Status  `json:"status" enum:"success,unevaluated,plot_omitted,timeout,error,queued,succeeded,failed,cancelled,lost" doc:"Of the run or the job; null for checks and certificates"`
	DurationMS    *int64         `json:"duration_ms" minimum:"0" doc:"What it took, in milliseconds; of the end of a job, since it was submitted; null for a submission"`
	Verdict       *burst.Verdict `json:"verdict" enum:"verified,refuted,inconclusive,rejected,unsupported" doc:"What the check or the certificate found; null without one"`
}

type locateInput struct {
	Freshness
	RunID int64        `query:"run_id" minimum:"1" maximum:"9007199254740991" doc:"Run to find; give this or job_id"`
	JobID httpkit.UUID `query:"job_id" maxLength:"36" doc:"Job to find, where it was submitted; give this or run_id"`
}

// missReason is why locate found nothing.
type missReason string

const (
	missedRun missReason = "no_such_run"
	missedJob missReason = "no_such_job"
)

type locateOutput struct {
	Body struct {
		Found   bool       `json:"found" doc:"Whether it is in a burst"`
		BurstID string     `json:"burst_id,omitempty" pattern:"^[0-9a-f]{32}$" doc:"The burst; left out when it was not found"`
		Reason  missReason `json:"reason,omitempty" enum:"no_such_run,no_such_job" doc:"Why it was not found; left out when it was. It may also not be known here yet: give the Consistency-Token of the write"`
	}
}

func (s Services) registerBursts(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/bursts", ID: "list-bursts", Tag: "Bursts", Summary: "What your agents did lately, in bursts",
		Description: "Beta. A burst is the activity of one agent (credential, source and client name) without a pause of more than five minutes: runs, jobs, checks and certificates. The list has those of the last seven days and 5,000 activities. It may lag behind your last write by moments: give its Consistency-Token to wait for it.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.bursts)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/bursts/locate", ID: "locate-burst", Tag: "Bursts", Summary: "The burst of a run or a job",
		Description: "Beta. Bursts of any age are found. What is not found is answered with 200 too: found says which.",
		Kinds:       []httpkit.Kind{httpkit.LocateInput, httpkit.Unavailable},
	}, s.locateBurst)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/bursts/{id}", ID: "get-burst", Tag: "Bursts", Summary: "One burst with its timeline",
		Description: "Beta. Bursts of any age are found. A burst whose id is not found any more has grown at its beginning: locate finds it by a run or a job.",
		Kinds:       []httpkit.Kind{httpkit.NoSuchBurst, httpkit.Unavailable},
	}, s.burst)
}

func (s Services) bursts(ctx context.Context, in *burstsInput) (*burstsOutput, error) {
	if err := s.waitUntilApplied(ctx, "bursts", in.Token); err != nil {
		return nil, err
	}
	page, err := s.Models.Bursts.List(ctx, auth.PrincipalOf(ctx).Account, s.Now(), projections.Page{Limit: in.Limit, Before: in.Before})
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &burstsOutput{}
	out.Body.ScannedFrom, out.Body.Scanned, out.Body.Truncated = event.Timestamp(page.Since), page.Scanned, page.Truncated
	out.Body.GapSeconds, out.Body.Beta, out.Body.NextBefore = burst.GapMS/1000, true, view.NullIfEmpty(page.Next)
	out.Body.Bursts = make([]BurstSummary, len(page.Bursts))
	for i, b := range page.Bursts {
		out.Body.Bursts[i] = summaryOf(b)
	}
	return out, nil
}

func (s Services) locateBurst(ctx context.Context, in *locateInput) (*locateOutput, error) {
	if (in.RunID == 0) == (in.JobID == "") {
		return nil, httpkit.LocateInput.Problem("give query.run_id or query.job_id, and not both")
	}
	if err := s.waitUntilApplied(ctx, "bursts", in.Token); err != nil {
		return nil, err
	}
	account, reason := auth.PrincipalOf(ctx).Account, missedRun
	find := func() (string, error) { return s.Models.Bursts.OfRun(ctx, account, in.RunID) }
	if in.RunID == 0 {
		reason = missedJob
		find = func() (string, error) { return s.Models.Bursts.OfJob(ctx, account, string(in.JobID)) }
	}
	burstID, err := find()
	if err != nil {
		return nil, err
	}
	out := &locateOutput{}
	if out.Body.Found, out.Body.BurstID = burstID != "", burstID; burstID == "" {
		out.Body.Reason = reason
	}
	return out, nil
}

func (s Services) burst(ctx context.Context, in *burstInput) (*burstOutput, error) {
	if err := s.waitUntilApplied(ctx, "bursts", in.Token); err != nil {
		return nil, err
	}
	part, ok, err := s.Models.Bursts.Timeline(ctx, auth.PrincipalOf(ctx).Account, in.ID, in.Limit, in.After)
	switch {
	case err != nil:
		return nil, refusedQuery(err)
	case !ok:
		return nil, httpkit.NoSuchBurst.Problem("your account has no burst with this id: it may have had one, until an earlier activity became known")
	}
	out := &burstOutput{}
	out.Body.BurstSummary, out.Body.NextAfter = summaryOf(part.Burst), view.NullIfEmpty(part.Next)
	out.Body.Events = make([]burstEvent, len(part.Activities))
	previous := part.Previous
	for i, a := range part.Activities {
		out.Body.Events[i] = timelineEvent(a, part.First.AtMS, previous)
		previous = a.AtMS
	}
	return out, nil
}

func summaryOf(b burst.Burst) BurstSummary {
	return BurstSummary{
		BurstID: b.ID(), Agent: view.NullIfEmpty(b.Client), Source: b.Source, StartedAt: millisTimestamp(b.First.AtMS), EndedAt: millisTimestamp(b.Last.AtMS), DurationMS: b.DurationMS(),
		Evaluations: b.Evaluations, Jobs: b.Jobs, Checks: b.Checks, Failures: b.Failures, Verified: b.Verified, Refuted: b.Refuted,
		FirstRunID: nullIfZero(b.FirstRun), LastRunID: nullIfZero(b.LastRun), Preview: b.Preview,
	}
}

func timelineEvent(a burst.Activity, startMS, previousMS int64) burstEvent {
	e := burstEvent{
		At: millisTimestamp(a.AtMS), OffsetMS: a.AtMS - startMS, GapMS: a.AtMS - previousMS, Type: a.Type, RunID: nullIfZero(a.RunID), JobID: view.NullIfEmpty(a.JobID),
		CertificateID: view.NullIfEmpty(a.CertificateID), Label: a.Label, Status: view.NullIfEmpty(a.Status), Verdict: view.NullIfEmpty(a.Verdict),
	}
	if a.HasDuration() {
		e.DurationMS = &a.DurationMS
	}
	return e
}

// millisTimestamp is a Unix time in milliseconds as answers hold times.
func millisTimestamp(ms int64) string { return event.Timestamp(time.UnixMilli(ms)) }

// nullIfZero is null for 0.
func nullIfZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
