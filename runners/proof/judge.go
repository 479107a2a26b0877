package proof

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"reckon/domain/lean/check"
	"reckon/internal/tracing"
)

const (
	// DefaultMemoryBytes is what a check may use.
	DefaultMemoryBytes = 2 << 30
	// inspectMemoryBytes is what an inspection may use.
	inspectMemoryBytes = 1 << 30
	// inspectBudget is how long an inspection may take.
	inspectBudget = 15 * time.Second
	// killGrace is what a child gets past its budget to say that it is over.
	killGrace = 2 * time.Second
	// maxReplyBytes bounds what a child may answer.
	maxReplyBytes = 8 << 20
	// maxKeptBytes is the largest export after which a child waits for another; a larger one leaves too much memory behind.
	maxKeptBytes = 1 << 20
	// startTimeout is how long a child may take to begin, on a slow and busy machine.
	startTimeout = 30 * time.Second
	// maxWaiting is how many children wait for work.
	maxWaiting = 2
	// fileName is what refusals call the export.
	fileName = "export.ndjson"
)

// JudgeConfig configures a judge.
type JudgeConfig struct {
	Command     []string // starts a process that calls Serve on its standard streams
	Environment []string // of that process
	MemoryBytes int64    // 0: DefaultMemoryBytes
	Workers     int      // of the kernel; 0: one per processor
}

// Judge has exports judged by child processes. One that has answered in time
// waits for the next request; one that has not is ended.
type Judge struct {
	config JudgeConfig

	mu      sync.Mutex
	waiting []*child
	closed  bool

	unable atomic.Bool // the last child that was to be started did not begin
}

// StartError says that no process could be started to judge an export. The next one may be.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "start the checking process: " + e.Err.Error() }

// Unwrap is why.
func (e *StartError) Unwrap() error { return e.Err }

// UnavailablePart is for the answer to people (httpkit.Translate).
func (e *StartError) UnavailablePart() string { return "the proof kernel" }

// NewJudge starts nothing yet.
func NewJudge(c JudgeConfig) *Judge {
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = DefaultMemoryBytes
	}
	return &Judge{config: c}
}

// Inspect is commands.ProofJudge.
func (j *Judge) Inspect(ctx context.Context, content []byte, declarations []string) (check.Report, error) {
	return j.ask(ctx, request{Declarations: declarations, TimeoutMS: inspectBudget.Milliseconds(), MemoryBytes: min(j.config.MemoryBytes, inspectMemoryBytes), Workers: 1}, content)
}

// Check has the kernel judge an export within a budget. A check that does not
// end within it, or within its memory, is reported as inconclusive.
func (j *Judge) Check(ctx context.Context, content []byte, declarations []string, budget time.Duration) (check.Report, error) {
	return j.ask(ctx, request{Kernel: true, Declarations: declarations, TimeoutMS: max(1, budget.Milliseconds()), MemoryBytes: j.config.MemoryBytes, Workers: j.config.Workers}, content)
}

// Ready returns why the last child did not begin, once another does not either; nil while they begin.
func (j *Judge) Ready(context.Context) error {
	if !j.unable.Load() {
		return nil
	}
	c, err := j.take()
	if err == nil {
		j.give(c, true)
	}
	return err
}

// ask has one child answer one request. An error is the context's, or a *StartError.
func (j *Judge) ask(ctx context.Context, r request, content []byte) (check.Report, error) {
	ctx, span := tracing.Below(ctx, tracing.Judge, "")
	defer span.End()
	report, err := j.askChild(ctx, r, content)
	span.Set(tracing.Flag(tracing.Kernel, r.Kernel), tracing.Text(tracing.Verdict, string(report.Verdict)))
	if err != nil {
		span.Fail()
	}
	return report, err
}

// askChild has a process of its own answer a request.
func (j *Judge) askChild(ctx context.Context, r request, content []byte) (check.Report, error) {
	r.FileName, r.Bytes = fileName, int64(len(content))
	c, err := j.take()
	if err != nil {
		return check.Report{}, err
	}
	budget := time.Duration(r.TimeoutMS) * time.Millisecond
	bounded, cancel := context.WithTimeout(ctx, budget+killGrace)
	defer cancel()
	fit, stop := false, context.AfterFunc(bounded, c.kill)
	defer func() { j.give(c, stop() && fit) }() // where the kill has begun, it is not fit for another request
	report, err := c.exchange(r, content)
	switch {
	case err == nil:
		fit = report.Verdict != check.Inconclusive && len(content) <= maxKeptBytes
		return report, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return check.Report{}, context.Cause(ctx)
	case bounded.Err() != nil:
		return *check.Unfinished(fmt.Sprintf("the check ran past its time budget of %v and was stopped", budget)), nil
	}
	return *check.Unfinished("the checking process ended before it had an answer: " + err.Error()), nil
}

// take returns a child that waits for work, or a new one.
func (j *Judge) take() (*child, error) {
	c, err := j.takeWaiting()
	if c != nil || err != nil {
		return c, err
	}
	c, err = j.start()
	j.unable.Store(err != nil)
	return c, err
}

// takeWaiting returns a child that waits for work; nil without one.
func (j *Judge) takeWaiting() (*child, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, &StartError{errors.New("the judge is closed")}
	}
	for len(j.waiting) > 0 {
		c := j.waiting[len(j.waiting)-1]
		j.waiting = j.waiting[:len(j.waiting)-1]
		if !c.gone() {
			return c, nil
		}
		c.end()
	}
	return nil, nil
}

// give lets a child wait for work, or ends it.
func (j *Judge) give(c *child, fit bool) {
	j.mu.Lock()
	if fit = fit && !j.closed && len(j.waiting) < maxWaiting; fit {
		j.waiting = append(j.waiting, c)
	}
	j.mu.Unlock()
	if !fit {
		c.end()
	}
}

// Close ends the children that wait. Checks under way end by their contexts.
func (j *Judge) Close() {
	j.mu.Lock()
	waiting := j.waiting
	j.waiting, j.closed = nil, true
	j.mu.Unlock()
	for _, c := range waiting {
		c.end()
	}
}

// child is a process that answers requests, one at a time.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	ended   chan struct{}
}

func (j *Judge) start() (*child, error) {
	c := &child{command: exec.Command(j.config.Command[0], j.config.Command[1:]...), ended: make(chan struct{})}
	c.command.Env = append([]string{}, j.config.Environment...) // never this process's
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, &StartError{err}
	}
	// Not StdoutPipe: what was written is still read after the process has been waited for.
	reads, writes, err := os.Pipe()
	if err != nil {
		return nil, &StartError{err}
	}
	c.out, c.command.Stdout = reads, writes
	err = c.command.Start()
	_ = writes.Close() // the child's now
	if err != nil {
		_ = reads.Close()
		return nil, &StartError{err}
	}
	go func() {
		_ = c.command.Wait() // how it ended is told by what it has answered
		close(c.ended)
	}()
	if err := c.awaitReady(); err != nil {
		c.end()
		return nil, &StartError{err}
	}
	return c, nil
}

// awaitReady returns nil once the child has begun: one that cannot begin says nothing about an export.
func (c *child) awaitReady() error {
	late := time.AfterFunc(startTimeout, c.kill)
	defer late.Stop()
	said := make([]byte, len(ready))
	if _, err := io.ReadFull(c.out, said); err != nil {
		return fmt.Errorf("it ended before it was ready: %w", err)
	}
	if string(said) != ready {
		return fmt.Errorf("it is another program: it says %q", said)
	}
	return nil
}

// exchange sends the request and reads the answer, a line. The child's input stays open: it ends when that does.
func (c *child) exchange(r request, content []byte) (report check.Report, err error) {
	line, err := json.Marshal(r)
	if err != nil {
		return report, err
	}
	for _, part := range [][]byte{append(line, '\n'), content} {
		if _, err := c.in.Write(part); err != nil {
			return report, err
		}
	}
	answer, err := bufio.NewReader(io.LimitReader(c.out, maxReplyBytes+1)).ReadBytes('\n')
	switch {
	case len(answer) > maxReplyBytes:
		return *check.Unfinished(fmt.Sprintf("what there is to say about the declarations is larger than %d MiB", maxReplyBytes>>20)), nil
	case err != nil:
		return report, err
	}
	err = json.Unmarshal(answer, &report)
	return report, err
}

func (c *child) gone() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// kill ends the process at once.
func (c *child) kill() { _ = c.command.Process.Kill() }

// end closes everything and waits until the process is gone.
func (c *child) end() {
	c.kill()
	<-c.ended
	_ = errors.Join(c.in.Close(), c.out.Close())
}
