package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/job"
	"reckon/domain/scope"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/eventstore"
	"reckon/test/need"
	"reckon/test/wait"
)

// States that two processes keep, over one real log.

const anna = "0198a1b2-0000-7000-8000-00000000000a"

func intent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Account: anna, Actor: "test"}
}

func twoProcesses(t *testing.T) (address string, processes [2]*eventstore.Store) {
	address = startNode(t, t.TempDir(), "").ConnectionString()
	for i := range processes {
		processes[i] = connect(t, address, domain.Catalogue())
	}
	return address, processes
}

// TestAKeptStateNoticesADeletedStream: what a process knew is gone; what was written then counts alone.
func TestAKeptStateNoticesADeletedStream(t *testing.T) {
	t.Parallel()
	listening := startNode(t, t.TempDir(), need.Address(t)).ConnectionString()
	processes := [2]*eventstore.Store{connect(t, listening, domain.Catalogue()), connect(t, listening, domain.Catalogue())}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plans := account.DefaultPlans()
	known := func(want account.State) {
		t.Helper()
		for range 2 {
			got, err := commands.ReadAccount(t.Context(), processes[0], anna)
			if err != nil || got != want {
				t.Fatalf("%+v, %v, want %+v", got, err, want)
			}
		}
	}
	_, err := commands.RegisterAccount(t.Context(), processes[0], plans, intent())
	must(err)
	_, err = commands.ChangePlan(t.Context(), processes[0], plans, intent(), "pro")
	must(err)
	known(account.State{Exists: true, Plan: "pro"})
	config, err := esdb.ParseConnectionString(listening)
	must(err)
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	must(err)
	defer client.Close()
	_, err = client.DeleteStream(t.Context(), account.Stream(anna), esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
	must(err)
	known(account.State{})
	if _, err = commands.CloseAccount(t.Context(), processes[0], intent()); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("an account that was deleted: %v", err)
	}
	_, err = commands.RegisterAccount(t.Context(), processes[1], plans, intent())
	must(err)
	known(account.State{Exists: true, Plan: plans[0].Name})
}

// TestARevokedTokenIsRefused by a process that knows it well, from the moment that another one has revoked it.
func TestARevokedTokenIsRefused(t *testing.T) {
	t.Parallel()
	_, processes := twoProcesses(t)
	for n := range 10 {
		id := fmt.Sprint("token", n)
		if _, err := commands.MintToken(t.Context(), processes[0], intent(), id, "n", "last", scope.Set{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		var revoked atomic.Bool
		var accepted atomic.Int64
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					before := revoked.Load()
					state, err := commands.ReadToken(t.Context(), processes[1], id)
					valid := state.ValidAt(time.Now())
					switch {
					case err != nil || before && valid || !valid && !state.Revoked:
						t.Errorf("revoked %v: %+v, %v", before, state, err)
						return
					case before:
						return
					}
					accepted.Add(1)
				}
			})
		}
		wait.Until(t, "20 are accepted", func() bool { return accepted.Load() >= 20 || t.Failed() })
		if _, err := commands.RevokeToken(t.Context(), processes[0], intent(), id); err != nil {
			t.Error(err)
		}
		revoked.Store(true)
		group.Wait()
	}
	if _, err := commands.RevokeToken(t.Context(), processes[1], intent(), "unknown"); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
}

// A day is a set of jobs that hold a slot. Commands of two processes must be answered, refusals included, as if they had
// been given one after the other.

const dayAllowance = 3

type dayOp struct{ kind, job string } // spend, refund, count

type dayOutcome struct {
	refused bool
	used    int // slots, as the command left them
}

func stepDay(state, input, output any) (bool, any) {
	held, op, got := state.(string), input.(dayOp), output.(dayOutcome)
	set := []byte(held) // one character a job, '1' if it holds a slot
	used := func() (n int) {
		for _, c := range set {
			n += int(c - '0')
		}
		return n
	}
	i := int(op.job[0] - '0')
	switch {
	case op.kind == "refund":
		set[i] = '0'
	case op.kind == "spend" && set[i] == '0' && used() >= dayAllowance:
		return got == dayOutcome{true, used()}, held
	case op.kind == "spend":
		set[i] = '1'
	}
	return got == dayOutcome{false, used()}, string(set)
}

func TestTwoProcessesAreLinearizable(t *testing.T) {
	t.Parallel()
	const clients, operations = 6, 50
	_, processes := twoProcesses(t)
	jobs := [2]*commands.Jobs{{Store: processes[0]}, {Store: processes[1]}}
	plan := account.Plan{JobsPerDay: dayAllowance}
	perform := func(process int, op dayOp) (dayOutcome, error) {
		ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
		defer cancel()
		in, day := intent(), "2026-08-01"
		var command slots.Command = slots.Refund{SlotID: op.job, JobID: op.job, Reason: slots.CancelledEarly}
		switch op.kind {
		case "count":
			left, err := jobs[process].Remaining(ctx, in, plan)
			return dayOutcome{used: dayAllowance - left}, err
		case "spend":
			command = slots.Spend{SlotID: op.job, Day: day, Submission: job.Submission{JobID: op.job}, Allowance: dayAllowance}
		}
		state, _, err := commands.Handle(ctx, processes[process], slots.Decider, slots.Stream(anna, day), in, command)
		if errors.Is(err, slots.ErrAllowanceSpent) {
			return dayOutcome{true, state.SlotsUsed()}, nil
		}
		return dayOutcome{false, state.SlotsUsed()}, err
	}
	var mu sync.Mutex
	var history []porcupine.Operation
	begin := time.Now()
	var wait sync.WaitGroup
	for id := range clients {
		random := rand.New(rand.NewPCG(uint64(id), 2))
		wait.Go(func() {
			for range operations {
				op := dayOp{[]string{"spend", "spend", "refund", "count"}[random.IntN(4)], fmt.Sprint(random.IntN(5))}
				called := time.Since(begin)
				outcome, err := perform(id%2, op)
				returned := time.Since(begin)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: id, Input: op, Output: outcome, Call: int64(called), Return: int64(returned)})
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	model := porcupine.Model{Init: func() any { return "00000" }, Step: stepDay}
	if !porcupine.CheckOperations(model, history) {
		t.Fatalf("no order of these operations explains their outcomes: %+v", history)
	}
}
