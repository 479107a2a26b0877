package writeapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/internal/httpkit"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

// maxIdempotencyKeyBytes is the longest idempotency key, in bytes (interface §4.3).
const maxIdempotencyKeyBytes = 255

// maxWait is the longest a submission is held (interface §4.3).
const maxWait = 25 * time.Second

// submitInput is the submit body of interface §4.3. Its schema gives types only: what
// a value may be is judged after a job of the same key was looked for.
type submitInput struct {
	IdempotencyKey string `header:"Idempotency-Key" describedMaxLength:"255" doc:"The same as the field idempotency_key"`
	Body           submitInputBody
}

// submitInputBody has the fields of every kind; those of single kinds are declared by the kinds.
type submitInputBody struct {
	Kind           *string `json:"kind,omitempty" doc:"@job_kinds_list" example:"evaluate"`
	TimeoutMS      *int64  `json:"timeout_ms,omitempty" doc:"Time budget in milliseconds, at least 1; the plan's when left out, never more than the plan's"`
	IdempotencyKey *string `json:"idempotency_key,omitempty" doc:"1 to 255 bytes of your own. A job of yours with this key is answered instead of a new one, whatever else the body says" example:"monday-7"`
	WaitMS         *int64  `json:"wait_ms,omitempty" doc:"@job_kinds_waiting: hold the request up to this many milliseconds. For other kinds see the long-poll GET"`

	members map[string]json.RawMessage // all members of the body, for the fields of single kinds
}

// UnmarshalJSON is json.Unmarshaler.
func (b *submitInputBody) UnmarshalJSON(data []byte) error {
	type named submitInputBody
	if err := json.Unmarshal(data, (*named)(b)); err != nil {
		return err
	}
	return json.Unmarshal(data, &b.members)
}

// jobReceipt answers a submission (interface §2.7).
type jobReceipt struct {
	view.Job
	JobsRemainingToday int  `json:"jobs_remaining_today" doc:"Jobs of any kind that may still be submitted this UTC day"`
	Resubmit           bool `json:"resubmit" doc:"The idempotency key matched this job: no slot was spent"`
}

type submitOutput struct{ Body jobReceipt }

type jobIDInput struct {
	ID httpkit.UUID `path:"id" doc:"job_id" example:"7c9e6679-7425-50de-944b-e07fc1f90ae7"`
}

type cancelOutput struct {
	Body struct {
		JobID              string     `json:"job_id" format:"uuid" doc:"Id of the job"`
		Status             job.Status `json:"status" enum:"succeeded,failed,timeout,cancelled,lost" doc:"What the job has ended as"`
		Cancelled          bool       `json:"cancelled" doc:"This request ended the job; false: it had ended before"`
		Refunded           bool       `json:"refunded" doc:"The job had never started, and its slot was given back to the day it was spent on"`
		JobsRemainingToday int        `json:"jobs_remaining_today" doc:"Number of jobs of any kind that may still be submitted this UTC day"`
	}
}

func (s Services) registerJobs(api *httpkit.API) {
	kinds := s.JobKinds.Declarations()
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/jobs", ID: "submit-job", Tag: "Jobs", Summary: "Submit a job",
		Description: "Queues work that takes longer than an evaluation may. A job spends one slot of the day's allowance, however it ends; a refused submission spends none. " +
			"With an idempotency key a submission may be repeated safely: a job that has the key is answered before anything else in the body is judged.",
		ReturnsToken: true, Errors: problems, Limit: &httpkit.Limit{Allowance: s.allowanceOfDay, Exceeded: httpkit.AllowanceSpent, Counts: "jobs of any kind of the account in a UTC day"},
		Kinds: slices.Concat([]httpkit.Kind{
			httpkit.UnknownJobKind, httpkit.TimeoutOverPlan,
			httpkit.Unavailable,
		}, refusalKinds(api, kinds)),
		BodyFields: fieldSchemas(kinds), Variants: bodyVariants(api, kinds),
		MisnamedFields: map[string]string{"input": "expression", "code": "expression", "type": "kind", "timeout": "timeout_ms", "session": "session_id"},
	}, submissions{s, api}.submitJob)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/jobs/{id}", ID: "cancel-job", Tag: "Jobs", Summary: "Cancel a job",
		Description:  "A job that has never started gives its slot back. One that is running is killed, and has cost its slot. One that has ended stays as it is.",
		ReturnsToken: true, Errors: problems,
		Kinds: []httpkit.Kind{httpkit.NoSuchJob, httpkit.Unavailable},
	}, s.cancelJob)
}

// allowanceOfDay is the caller's allowance of jobs a day.
func (s Services) allowanceOfDay(ctx context.Context) (ratelimit.Allowance, error) {
	intent, plan := s.intent(ctx), s.plan(ctx)
	remaining, err := s.Jobs.Remaining(ctx, intent, plan)
	return jobsAllowance(plan, remaining, intent.At), err
}

func jobsAllowance(plan account.Plan, remaining int, at time.Time) ratelimit.Allowance {
	return ratelimit.Allowance{Allowed: remaining > 0, Limit: plan.JobsPerDay, Remaining: max(0, remaining), ResetAt: at.Add(untilMidnight(at))}
}

// submissions answers POST /api/jobs.
type submissions struct {
	Services
	api *httpkit.API // has the problems that kinds declare
}

func (s submissions) submitJob(ctx context.Context, in *submitInput) (*submitOutput, error) {
	request, err := s.jobRequest(in)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, s.submitTimeout(request))
	defer cancel()
	intent := s.intent(ctx)
	submitted, err := s.Jobs.SubmitJob(bounded, intent, s.JobKinds.Command(request, s.plan(ctx)))
	if err != nil {
		return nil, s.explainSubmitError(err, intent.At)
	}
	s.announceWrite(ctx, intent.Account, submitted.Position)
	httpkit.SetRateLimit(httpkit.AnswerHeader(ctx), jobsAllowance(s.plan(ctx), submitted.JobsRemaining, intent.At))
	if kind := s.JobKinds.KindOf(request); request.WaitMS != nil && kind != nil && kind.Waits {
		if submitted.Job, err = s.awaitEnd(ctx, submitted.Job, *request.WaitMS); err != nil {
			return nil, err
		}
	}
	view, err := s.JobView.View(ctx, submitted.Job)
	if err != nil {
		return nil, err
	}
	return &submitOutput{jobReceipt{Job: view, JobsRemainingToday: max(0, submitted.JobsRemaining), Resubmit: submitted.Resubmit}}, nil
}

// submitTimeout bounds a submission: an append, and what its kind prepares before it.
func (s submissions) submitTimeout(r commands.JobRequest) time.Duration {
	if kind := s.JobKinds.KindOf(r); kind != nil && kind.PrepareTimeout != nil {
		return s.Overhead + kind.PrepareTimeout(r)
	}
	return s.Overhead
}

// awaitEnd holds a submission until its job has ended, or the time is over.
func (s submissions) awaitEnd(ctx context.Context, state job.State, waitMS int64) (job.State, error) {
	id, wait := state.Queued.JobID, time.Duration(min(waitMS, maxWait.Milliseconds()))*time.Millisecond
	return s.JobView.WaitUntilComplete(ctx, id, wait, func(ctx context.Context) (job.State, error) { return s.Jobs.Read(ctx, id) })
}

// jobRequest makes the request that the command takes from the body. Its error is a problem.
func (s submissions) jobRequest(in *submitInput) (commands.JobRequest, error) {
	body := in.Body
	if body.Kind != nil && *body.Kind == "" {
		return commands.JobRequest{}, s.explainSubmitError(&commands.UnknownJobKindError{Known: s.JobKinds.Declarations().Names()}, time.Time{})
	}
	r := commands.JobRequest{Kind: job.Kind(value(body.Kind)), TimeoutMS: body.TimeoutMS, WaitMS: body.WaitMS}
	var err error
	if r.Fields, err = s.JobKinds.ReadFields(body.members); err != nil {
		return r, s.explainSubmitError(err, time.Time{})
	}
	r.IdempotencyKey, err = idempotencyKey(in.IdempotencyKey, body.IdempotencyKey)
	return r, err
}

// idempotencyKey is the header's or the field's; httpkit has refused an empty header.
func idempotencyKey(header string, field *string) (string, error) {
	const location = "body.idempotency_key"
	key := header
	switch {
	case field == nil && header == "":
		return "", nil
	case field != nil && header != "" && *field != header:
		return "", httpkit.InvalidRequest.Problem("idempotency_key and the header Idempotency-Key differ; send one of them").WithField(location, "differs from the header Idempotency-Key")
	case field != nil:
		key = *field
	}
	if key == "" || len(key) > maxIdempotencyKeyBytes || !utf8.ValidString(key) {
		return "", httpkit.InvalidRequest.Problem("an idempotency key is 1 to %d bytes of UTF-8", maxIdempotencyKeyBytes).WithField(location, "must be 1 to 255 bytes of UTF-8")
	}
	return key, nil
}

// explainSubmitError makes the problem of a refused submission; any other error is returned
// as it is. at is the time of the request, for the end of its UTC day.
func (s submissions) explainSubmitError(err error, at time.Time) error {
	var kind *commands.UnknownJobKindError
	var field *commands.JobFieldError
	var timeout *commands.TimeoutOverPlanError
	var refused *commands.JobRefusedError
	switch {
	case errors.Is(err, slots.ErrAllowanceSpent):
		return httpkit.AllowanceSpent.Problem("%s", slots.ErrAllowanceSpent.Error()).WithRetryAfter(untilMidnight(at))
	case errors.As(err, &kind):
		return httpkit.UnknownJobKind.Problem("%s", kind.Error()).WithField("body.kind", "unknown")
	case errors.As(err, &field):
		return httpkit.InvalidRequest.Problem("%s", field.Error()).WithField("body."+field.Field, field.Problem)
	case errors.As(err, &timeout):
		return httpkit.TimeoutOverPlan.Problem("%s", timeout.Error()).WithField("body.timeout_ms", "over the plan's")
	case errors.As(err, &refused):
		return s.api.Kind(refused.Code).Problem("%s", refused.Detail).WithField("body."+refused.Field, refused.Reason)
	}
	return explainRefusal(explainProofError(err))
}

// untilMidnight is the time from at to the end of its UTC day.
func untilMidnight(at time.Time) time.Duration {
	year, month, day := at.UTC().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Sub(at)
}

func (s Services) cancelJob(ctx context.Context, in *jobIDInput) (*cancelOutput, error) {
	id := string(in.ID)
	if !view.ValidID(id) {
		return nil, job.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.Overhead)
	defer cancel()
	intent := s.intent(ctx)
	cancelled, err := s.Jobs.CancelJob(ctx, intent, id)
	if err != nil {
		return nil, err
	}
	s.announceWrite(ctx, intent.Account, cancelled.Position)
	remaining, err := s.Jobs.Remaining(ctx, intent, s.plan(ctx))
	if err != nil {
		return nil, err
	}
	out := &cancelOutput{}
	out.Body.JobID, out.Body.Status = id, cancelled.Job.Status
	out.Body.Cancelled, out.Body.Refunded, out.Body.JobsRemainingToday = cancelled.Cancelled, cancelled.Refunded, remaining
	return out, nil
}

// value is the string that a pointer points to; empty for nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
