package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/internal/httpkit"
)

const (
	// maxWait is the longest that a call waits for a job, as GET /api/jobs/{id} does (interface §4.3).
	maxWait = 25 * time.Second
	// lookEvery is how often a job that is waited for is looked at: for progress, and for the credential, which may be revoked.
	lookEvery = 2 * time.Second
	// cancelTimeout bounds the cancelling of a job whose call was cancelled.
	cancelTimeout = 10 * time.Second
)

// waitSchema describes wait_ms with what it is when it is left out.
func waitSchema(byDefault time.Duration) schema {
	return schema{
		"type": "integer", "minimum": 0, "maximum": maxWait.Milliseconds(),
		"description": fmt.Sprintf("Wait up to so many milliseconds until the job has ended; %d when left out. Progress is reported to clients that ask for it", byDefault.Milliseconds()),
	}
}

// jobInput is what a tool takes that submits a job: the fields of the submission but for its kind, and wait_ms.
func jobInput(submission string) func(shapes) (schema, error) {
	return func(s shapes) (schema, error) {
		input, err := s.input(submission)
		if err != nil {
			return nil, err
		}
		properties := asSchema(input["properties"])
		delete(properties, "kind")
		properties["wait_ms"] = waitSchema(maxWait)
		var required []any
		for _, name := range input["required"].([]any) {
			if name != "kind" {
				required = append(required, name)
			}
		}
		input["required"] = required
		return input, nil
	}
}

// submitted is the call of a tool that submits a job of a kind and waits for it.
func submitted(kind string) func(context.Context, *call, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		body, wait, problem := readJobArguments(arguments(r), maxWait)
		if problem == nil && body["kind"] != nil {
			problem = httpkit.UnknownField.Problem("there is no argument %q: the tool has one kind of job", "kind")
		}
		if problem != nil {
			return refuse(problem, c.requestID()), nil
		}
		body["kind"] = json.RawMessage(strconv.Quote(kind))
		submission, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reply := c.ask(ctx, http.MethodPost, "/api/jobs", submission)
		if refused := refusal(reply); refused != nil {
			return refused, nil
		}
		var receipt struct {
			JobID     string `json:"job_id"`
			Resubmit  bool   `json:"resubmit"`
			Remaining int    `json:"jobs_remaining_today"`
		}
		if err := json.Unmarshal(reply.Body, &receipt); err != nil {
			return nil, fmt.Errorf("receipt of a job: %w", err)
		}
		job, err := c.awaitJob(ctx, r, receipt.JobID, wait)
		if c.wanted.Err() != nil && !receipt.Resubmit {
			c.cancelJob(ctx, receipt.JobID)
		}
		if err != nil {
			return nil, err
		}
		if refused := refusal(job); refused != nil {
			return refused, nil
		}
		return c.jobResult(ctx, job.Body, map[string]any{"jobs_remaining_today": receipt.Remaining, "resubmit": receipt.Resubmit})
	}
}

// getJob is the call of get_job. Cancelling it leaves the job alone, which another call has submitted.
func getJob(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	fields, wait, problem := readJobArguments(arguments(r), 0)
	var id string
	if problem == nil && (len(fields) != 1 || json.Unmarshal(fields["job_id"], &id) != nil || id == "") {
		problem = httpkit.InvalidRequest.Problem("the arguments are job_id, a text, and optionally wait_ms").WithField("body.job_id", "expected a job's id")
	}
	if problem != nil {
		return refuse(problem, c.requestID()), nil
	}
	job, err := c.awaitJob(ctx, r, id, wait)
	if err != nil {
		return nil, err
	}
	if refused := refusal(job); refused != nil {
		return refused, nil
	}
	return c.jobResult(ctx, job.Body, nil)
}

// readJobArguments are the arguments of a call without wait_ms, and how long to wait.
func readJobArguments(arguments []byte, byDefault time.Duration) (map[string]json.RawMessage, time.Duration, *httpkit.Problem) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(arguments, &fields) != nil || fields == nil {
		return nil, 0, httpkit.InvalidRequest.Problem("the arguments must be an object")
	}
	given := fields["wait_ms"]
	delete(fields, "wait_ms")
	if given == nil || bytes.Equal(given, []byte("null")) {
		return fields, byDefault, nil
	}
	milliseconds, err := strconv.ParseInt(string(given), 10, 64)
	if err != nil || milliseconds < 0 || milliseconds > maxWait.Milliseconds() {
		return nil, 0, httpkit.InvalidRequest.Problem("wait_ms is an integer from 0 to %d", maxWait.Milliseconds()).WithField("body.wait_ms", "out of range")
	}
	return fields, time.Duration(milliseconds) * time.Millisecond, nil
}

// awaitJob returns the answer of GET /api/jobs/{id} when the job has ended, or as it is when the wait is over, the process is
// about to stop or the reply is a problem. Its error is the end of the call.
func (c *call) awaitJob(ctx context.Context, r *mcp.CallToolRequest, id string, wait time.Duration) (*httpkit.Reply, error) {
	begun := time.Now()
	report := reporter{request: r, total: wait}
	for {
		rest := wait - time.Since(begun)
		look := max(0, min(rest, lookEvery)).Truncate(time.Millisecond)
		asked := time.Now()
		reply := c.ask(ctx, http.MethodGet, "/api/jobs/"+url.PathEscape(id)+"?wait_ms="+strconv.FormatInt(look.Milliseconds(), 10), nil)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// An answer before its time is the last one: of a job that has ended, or a process that is about to stop.
		if reply.Status != http.StatusOK || rest <= lookEvery || time.Since(asked) < look {
			return reply, nil
		}
		if err := report.tell(ctx, time.Since(begun), reply.Body); err != nil {
			return nil, err
		}
	}
}

// reporter tells a client that asked for it how a job stands.
type reporter struct {
	request *mcp.CallToolRequest
	total   time.Duration
}

// tell sends a notification: of the time that has passed of the wait, with the job's state in words.
func (p reporter) tell(ctx context.Context, passed time.Duration, job []byte) error {
	token := p.request.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var state struct {
		JobID    string `json:"job_id"`
		Status   string `json:"status"`
		Position int    `json:"position"`
	}
	if err := json.Unmarshal(job, &state); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	message := "job " + state.JobID + " is " + state.Status
	if state.Position > 0 {
		message += ", place " + strconv.Itoa(state.Position) + " in the queue"
	}
	err := p.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: passed.Seconds(), Total: p.total.Seconds(), Message: message})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("progress: %w", err)
	}
	return nil
}

// cancelJob cancels a job whose submitter does not want its result any more. Where that fails the job goes on, as when nobody
// had cancelled.
func (c *call) cancelJob(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	c.ask(ctx, http.MethodDelete, "/api/jobs/"+url.PathEscape(id), nil)
}

// jobResult is a job as a result, with further members of its JSON, and with links to what it has published.
func (c *call) jobResult(ctx context.Context, job []byte, further map[string]any) (*mcp.CallToolResult, error) {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(job))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	for name, value := range further {
		members[name] = value
	}
	var document bytes.Buffer
	encoder := json.NewEncoder(&document)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	result := answered(document.Bytes())
	if id, ok := members["certificate_id"].(string); ok {
		result.Content = append(result.Content, certificates.link(id, "Certificate of the proof check"))
	}
	var evaluated struct{ Result json.RawMessage }
	if members["kind"] != "evaluate" || members["run_id"] == nil || json.Unmarshal(job, &evaluated) != nil || evaluated.Result == nil {
		return result, nil
	}
	return result, c.addRun(ctx, result, evaluated.Result)
}
