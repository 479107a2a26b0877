package readapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"reckon/domain/burst"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/auth"
	"reckon/internal/blobs"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections"
)

type jobInput struct {
	ID        httpkit.UUID `path:"id" doc:"job_id" example:"7c9e6679-7425-50de-944b-e07fc1f90ae7"`
	WaitMS    int64        `query:"wait_ms" minimum:"0" maximum:"25000" default:"0" doc:"Hold the request for up to so many milliseconds until the job has ended. More is refused; wait_ms of a submission is taken as 25000 instead"`
	Submitted bool         `query:"submitted" doc:"True: answer also with what was submitted"`
}

type jobOutput struct{ Body view.Job }

type jobsInput struct {
	Freshness
	Page
	Status job.Status `query:"status" enum:"@job_statuses" doc:"Jobs that stand so only"`
	Kind   job.Kind   `query:"kind" enum:"@job_kinds" doc:"Jobs of this kind only"`
}

type jobsOutput struct {
	Body struct {
		Jobs []view.Job `json:"jobs" doc:"Newest first, without position, output and result: GET one job for these"`
		view.NextPage
	}
}

func (s Services) registerJobs(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/jobs", ID: "list-jobs", Tag: "Jobs", Summary: "Your jobs, newest first",
		Description: "Every job ever submitted, whatever became of it. Give the Consistency-Token of a write to have it in the list.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.jobs)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/jobs/{id}", ID: "get-job", Tag: "Jobs", Summary: "One job, with its result once it has ended",
		Description: "Always current. With wait_ms the answer comes when the job has ended and its run or certificate can be read, or with the job as it is when the time is over.",
		Kinds:       []httpkit.Kind{httpkit.NoSuchJob, httpkit.Unavailable},
	}, s.job)
}

func (s Services) job(ctx context.Context, in *jobInput) (*jobOutput, error) {
	id := string(in.ID)
	state, err := s.readJob(ctx, id)
	if err == nil && in.WaitMS > 0 {
		state, err = s.JobView.WaitUntilComplete(ctx, id, time.Duration(in.WaitMS)*time.Millisecond, func(ctx context.Context) (job.State, error) {
			return s.readJob(ctx, id)
		})
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.JobView.View(ctx, state)
	if err != nil {
		return nil, err
	}
	if in.Submitted {
		if answer.Submitted, answer.SubmittedRemoved, err = s.submitted(ctx, state.Queued.Submission); err != nil {
			return nil, err
		}
	}
	return &jobOutput{answer}, nil
}

// submitted is what a job was submitted with; nil with true: its text is not in the blob store any more, nil with false: this process does
// not know the job's kind.
func (s Services) submitted(ctx context.Context, submission job.Submission) (*httpkit.JSONObject, bool, error) {
	kind, known := s.JobKinds.Of(submission.Kind)
	if !known {
		return nil, false, nil
	}
	payload, err := submission.Payload.Load(ctx, s.Blobs)
	if errors.Is(err, blobs.ErrNotFound) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	fields, err := kind.Submitted(submission, payload)
	if err != nil {
		return nil, false, err
	}
	return &httpkit.JSONObject{RawMessage: fields}, false, nil
}

// readJob is a job of the caller; another account's is not found.
func (s Services) readJob(ctx context.Context, id string) (job.State, error) {
	missing := httpkit.NoSuchJob.Problem("your account has no such job")
	if !view.ValidID(id) {
		return job.State{}, missing
	}
	history, err := s.Streams(ctx, job.Stream(id))
	if err != nil {
		return job.State{}, err
	}
	state := job.Decider.Fold(event.Events(history))
	if !state.Exists() || state.Queued.Account != auth.PrincipalOf(ctx).Account {
		return job.State{}, missing
	}
	return state, nil
}

func (s Services) jobs(ctx context.Context, in *jobsInput) (*jobsOutput, error) {
	if err := s.waitUntilApplied(ctx, "jobs", in.Token); err != nil {
		return nil, err
	}
	rows, next, err := s.Models.Jobs.List(ctx, auth.PrincipalOf(ctx).Account, projections.JobsQuery{
		Page: in.asked(), Status: in.Status, Kind: in.Kind,
	})
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &jobsOutput{}
	out.Body.NextBefore = view.NullIfEmpty(next)
	out.Body.Jobs = make([]view.Job, len(rows))
	for i, row := range rows {
		out.Body.Jobs[i] = listed(row)
	}
	return out, nil
}

func listed(r projections.JobRow) view.Job {
	j := view.Job{
		JobID: r.JobID, Kind: r.Kind, Status: r.Status, CreatedAt: event.Timestamp(r.CreatedAt()), StartedAt: view.NullableTimestamp(r.StartedAt()), FinishedAt: view.NullableTimestamp(r.FinishedAt()),
		TimeoutMS: r.TimeoutMS, Attempt: r.Attempt, Preview: string(r.Preview), Verdict: burst.Verdict(r.Verdict), SessionID: r.SessionID, Error: view.FailureText(r.Status, string(r.Error)),
	}
	if r.Published {
		j.SetPublished(r.RunID, r.CertificateID)
	}
	return j
}
