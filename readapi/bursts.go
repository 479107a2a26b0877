package readapi

import (
	"context"
	"net/http"

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
		Bursts      []view.BurstSummary `json:"bursts" doc:"The one with the latest activity first. Each is whole, also where it began before scanned_from"`
		ScannedFrom string              `json:"scanned_from" format:"date-time" doc:"The list has every burst with an activity since then: seven days ago, or the time of the 5,000th newest activity: RFC 3339, UTC, milliseconds"`
		Scanned     int                 `json:"scanned" minimum:"0" maximum:"5000" doc:"Activities since then"`
		Truncated   bool                `json:"truncated" doc:"True: there were more than 5,000 activities in seven days, so that scanned_from is later than seven days ago"`
		GapSeconds  int                 `json:"gap_seconds" doc:"A pause longer than this, in seconds, ends a burst"`
		Beta        bool                `json:"beta" doc:"True: what a burst is may change"`
		view.NextPage
	}
}

type burstInput struct {
	Freshness
	ID    string `path:"id" describedPattern:"^[0-9a-f]{32}$" doc:"burst_id" example:"9b1c04d2a7e84f6b8c3d5e2f1a0b7c69"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"200" doc:"Most events to answer"`
	After string `query:"after" maxLength:"42" describedPattern:"^-?[0-9]{1,19}[.][0-9]{1,19}$" doc:"next_after of the part before; left out for the first events"`
}

type burstOutput struct {
	Body struct {
		view.BurstSummary
		Events    []view.BurstEvent `json:"events" doc:"The activities, first to last"`
		NextAfter *string           `json:"next_after" doc:"What to give as after for the next events; null with the last"`
	}
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
	out.Body.Bursts = make([]view.BurstSummary, len(page.Bursts))
	for i, b := range page.Bursts {
		out.Body.Bursts[i] = view.BurstSummaryOf(b)
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
	out.Body.BurstSummary, out.Body.NextAfter = view.BurstSummaryOf(part.Burst), view.NullIfEmpty(part.Next)
	out.Body.Events = make([]view.BurstEvent, len(part.Activities))
	previous := part.Previous
	for i, a := range part.Activities {
		out.Body.Events[i] = view.BurstEventOf(a, part.First.AtMS, previous)
		previous = a.AtMS
	}
	return out, nil
}
