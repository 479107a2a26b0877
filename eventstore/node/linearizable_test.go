package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/anishathalye/porcupine"
)

// One stream is a register that holds its last revision. Whatever many clients do to it at
// once must look as if they had done it one after the other.

type streamOp struct {
	kind     string // append, delete, read
	expected esdb.ExpectedRevision
}

type streamOutcome struct {
	kind     string // ok, conflict, deleted, absent
	revision int64
}

type streamRegister struct {
	last    int64 // last revision, -1 before the first event
	deleted bool
}

func (s streamRegister) expects(e esdb.ExpectedRevision) string {
	switch e := e.(type) {
	case esdb.NoStream:
		if s.last >= 0 && !s.deleted {
			return "conflict"
		}
	case esdb.StreamExists:
		if s.deleted {
			return "deleted"
		}
		if s.last < 0 {
			return "conflict"
		}
	case esdb.StreamRevision:
		if s.last < 0 || e.Value != uint64(s.last) {
			return "conflict"
		}
	}
	return "ok"
}

func stepRegister(state, input, output any) (bool, any) {
	s, op, got := state.(streamRegister), input.(streamOp), output.(streamOutcome)
	switch op.kind {
	case "read":
		if s.last < 0 || s.deleted {
			return got.kind == "absent", s
		}
		return got == streamOutcome{"ok", s.last}, s
	case "delete":
		if s.last < 0 {
			return got.kind == "conflict", s
		}
		s.deleted = true
		return got.kind == "ok", s
	default:
		want := s.expects(op.expected)
		if want == "ok" {
			s.last++
			s.deleted = false
			return got == streamOutcome{"ok", s.last}, s
		}
		return got.kind == want, s
	}
}

func TestOneStreamIsLinearizable(t *testing.T) {
	t.Parallel()
	r := start(t)
	const clients, operations = 6, 60
	var mu sync.Mutex
	var history []porcupine.Operation
	begin := time.Now()
	var wait sync.WaitGroup
	for id := range clients {
		client := dial(t, r.ConnectionString())
		random := rand.New(rand.NewPCG(uint64(id), 1))
		wait.Go(func() {
			last := uint64(0)
			for range operations {
				op := drawOperation(random, last)
				called := time.Since(begin)
				outcome, err := perform(testCtx(t), client, op)
				returned := time.Since(begin)
				if err != nil {
					t.Error(err)
					return
				}
				if outcome.kind == "ok" && outcome.revision >= 0 {
					last = uint64(outcome.revision)
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: id, Input: op, Output: outcome, Call: int64(called), Return: int64(returned)})
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	model := porcupine.Model{Init: func() any { return streamRegister{last: -1} }, Step: stepRegister}
	if !porcupine.CheckOperations(model, history) {
		t.Fatalf("no order of these operations explains their outcomes: %s", describe(history))
	}
}

func drawOperation(random *rand.Rand, last uint64) streamOp {
	switch n := random.IntN(20); {
	case n < 6:
		return streamOp{"append", esdb.Revision(last)}
	case n < 10:
		return streamOp{"append", esdb.Any{}}
	case n < 12:
		return streamOp{"append", esdb.NoStream{}}
	case n < 14:
		return streamOp{"append", esdb.StreamExists{}}
	case n < 15:
		return streamOp{"delete", esdb.Any{}}
	default:
		return streamOp{kind: "read"}
	}
}

func perform(ctx context.Context, client *esdb.Client, op streamOp) (streamOutcome, error) {
	switch op.kind {
	case "append":
		result, err := client.AppendToStream(ctx, "register", esdb.AppendToStreamOptions{ExpectedRevision: op.expected}, note("x"))
		switch {
		case err == nil:
			return streamOutcome{"ok", int64(result.NextExpectedVersion)}, nil
		case code(err) == esdb.ErrorCodeWrongExpectedVersion:
			return streamOutcome{"conflict", -1}, nil
		case code(err) == esdb.ErrorCodeStreamDeleted:
			return streamOutcome{"deleted", -1}, nil
		}
		return streamOutcome{}, err
	case "delete":
		_, err := client.DeleteStream(ctx, "register", esdb.DeleteStreamOptions{ExpectedRevision: op.expected})
		if code(err) == esdb.ErrorCodeUnknown { // the client has no code of its own for this conflict
			return streamOutcome{"conflict", -1}, nil
		}
		return streamOutcome{"ok", -1}, err
	default:
		return readLast(ctx, client)
	}
}

func readLast(ctx context.Context, client *esdb.Client) (streamOutcome, error) {
	events, err := client.ReadStream(ctx, "register", esdb.ReadStreamOptions{From: esdb.End{}, Direction: esdb.Backwards}, 1)
	if err != nil {
		return streamOutcome{}, err
	}
	defer events.Close()
	e, err := events.Recv()
	switch {
	case code(err) == esdb.ErrorCodeResourceNotFound:
		return streamOutcome{"absent", -1}, nil
	case errors.Is(err, io.EOF):
		return streamOutcome{}, errors.New("an existing stream shows nothing")
	case err != nil:
		return streamOutcome{}, err
	}
	return streamOutcome{"ok", int64(e.Event.EventNumber)}, nil
}

func describe(history []porcupine.Operation) string {
	text := ""
	for _, o := range history {
		text += fmt.Sprintf("\n%d..%d client %d: %v -> %v", o.Call, o.Return, o.ClientId, o.Input, o.Output)
	}
	return text
}
