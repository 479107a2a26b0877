package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"reckon/domain/run"
	"reckon/runners/fair"

	"golang.org/x/sys/unix"
)

// Worker is one forked child. It answers one request at a time.
type Worker struct {
	process    *zygoteProcess
	connection *net.UnixConn
	pid        int // in the zygote's own namespace
	done       chan struct{}

	mu     sync.Mutex
	handle int            // process descriptor, -1 once the process is gone
	exit   controlMessage // how the process ended, once it is gone
	lost   bool           // it ended with its zygote
}

// Alive tells whether the process is still there.
func (w *Worker) Alive() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// Done is closed when the process is gone.
func (w *Worker) Done() <-chan struct{} { return w.done }

// signal sends the process a signal. The caller holds w.mu, and the process has not been seen to end.
func (w *Worker) signal(number unix.Signal) {
	signalProcess(w.handle, w.pid, !w.process.namespaced, number)
}

// halt has the process stand still, or go on. It does nothing once the process is gone.
func (w *Worker) halt(still bool) {
	number := unix.SIGCONT
	if still {
		number = unix.SIGSTOP
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Alive() {
		w.signal(number)
	}
}

// Kill ends the process at once. It may be called at any time, more than once.
func (w *Worker) Kill() {
	w.mu.Lock()
	if w.Alive() {
		w.signal(unix.SIGKILL)
	}
	w.mu.Unlock()
	_ = w.connection.Close()
}

// recordExit records how the process ended.
func (w *Worker) recordExit(message controlMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exit = message
	w.gone()
}

// recordLoss records that the process ended with its zygote.
func (w *Worker) recordLoss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = true
	w.gone()
}

// gone notes that the process is gone. The caller holds w.mu.
func (w *Worker) gone() {
	if w.handle >= 0 {
		_ = unix.Close(w.handle)
		w.handle = -1
	}
	close(w.done)
}

// Call sends one request and waits for its reply. At the context's end the process is killed: the answer is
// ErrBudgetExhausted for a deadline, the *fair.SaturatedError that cancelled it, else ErrCancelled with the context's error. A worker that ended
// with its zygote is ErrLost. After any error the worker is of no more use.
func (w *Worker) Call(ctx context.Context, request, reply any) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if len(line) >= w.process.limits.RequestBytes {
		w.Kill()
		return &FailedError{Reason: run.FailureRefused, Detail: "the request is too large for the engine"}
	}
	stop := context.AfterFunc(ctx, func() { _ = w.connection.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer, err := w.exchange(append(line, '\n'))
	if err != nil {
		return w.callError(ctx, err)
	}
	if bytes.HasPrefix(answer, []byte(`{"failed":`)) {
		var failed struct {
			Failed run.FailureReason
			Detail string
		}
		if json.Unmarshal(answer, &failed) == nil {
			w.Kill()
			return &FailedError{Reason: failed.Failed, Detail: withoutSystem(failed.Detail)}
		}
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		w.Kill()
		return &FailedError{Reason: run.FailureCrashed, Detail: "the worker's reply is not readable"}
	}
	return nil
}

var errReplyTooLarge = errors.New("reply too large")

func (w *Worker) exchange(line []byte) ([]byte, error) {
	if _, err := w.connection.Write(line); err != nil {
		return nil, err
	}
	answer := make([]byte, 0, 4<<10)
	for {
		if len(answer) == cap(answer) {
			answer = append(answer, 0)[:len(answer)]
		}
		n, err := w.connection.Read(answer[len(answer):cap(answer)])
		fresh := answer[len(answer) : len(answer)+n]
		answer = answer[:len(answer)+n]
		if end := bytes.IndexByte(fresh, '\n'); end >= 0 {
			return answer[:len(answer)-len(fresh)+end], nil
		}
		if err != nil {
			return nil, err
		}
		if len(answer) > w.process.limits.ReplyBytes {
			return nil, errReplyTooLarge
		}
	}
}

// callError returns why no reply came, and makes sure that the process is gone.
func (w *Worker) callError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		w.Kill()
		saturated, is := errors.AsType[*fair.SaturatedError](context.Cause(ctx))
		switch {
		case is:
			return saturated
		case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
			return ErrBudgetExhausted
		}
		return fmt.Errorf("%w: %w", ErrCancelled, ctx.Err())
	}
	if errors.Is(err, errReplyTooLarge) {
		w.Kill()
		return &FailedError{Reason: run.FailureOutputTooLarge}
	}
	select { // the socket ends a moment before the zygote reports how
	case <-w.done:
	case <-time.After(spawnTimeout):
	}
	w.Kill()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return ErrLost
	}
	if unix.Signal(w.exit.Signal) == unix.SIGPROF { // the program's own timer of processor time
		return ErrBudgetExhausted
	}
	return exitFailure(w.exit)
}

// exitFailure is the error for the way a worker ended. The engine aborts when memory is refused to it; a fault is a stack that ran over.
func exitFailure(end controlMessage) *FailedError {
	switch unix.Signal(end.Signal) {
	case 0:
		if end.Code >= 70 {
			return &FailedError{Reason: run.FailureCrashed, Detail: fmt.Sprintf("the worker could not run (exit %d)", end.Code)}
		}
		return &FailedError{Reason: run.FailureQuit, Detail: "the expression ended its own process"}
	case unix.SIGABRT:
		return &FailedError{Reason: run.FailureMemory, Detail: "the evaluation ran over its memory limit"}
	default:
		return &FailedError{Reason: run.FailureCrashed, Detail: "the engine's process ended: " + unix.SignalName(unix.Signal(end.Signal))}
	}
}

// socketPair makes a connected pair of stream sockets: ours for the network poller, theirs to be handed over.
func socketPair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "engine"), os.NewFile(uintptr(pair[1]), "worker")
	defer func() { _ = ours.Close() }() // FileConn works on a copy
	connection, err := net.FileConn(ours)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return connection.(*net.UnixConn), theirs, nil
}

func receivedHandles(ancillary []byte) []int {
	messages, err := unix.ParseSocketControlMessage(ancillary)
	if err != nil {
		return nil
	}
	var handles []int
	for _, message := range messages {
		received, err := unix.ParseUnixRights(&message)
		if err == nil {
			handles = append(handles, received...)
		}
	}
	for _, handle := range handles {
		unix.CloseOnExec(handle)
	}
	return handles
}
