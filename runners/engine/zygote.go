package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	startTimeout = 3 * time.Minute // import and warm-up, with forty others at work for each processor
	spawnTimeout = 10 * time.Second
)

// Zygote is a running program that forks workers. Should its process die it is started again by the next Spawn.
type Zygote struct {
	program Program
	idle    chan *Worker

	mu      sync.Mutex
	process *zygoteProcess
	closed  bool
	ended   func(said string)
	forking sync.WaitGroup // idle workers being forked in the background

	unable atomic.Bool // the last worker that was asked for could not be started
}

// StartZygote starts the program and proves its boundaries from inside a worker.
func StartZygote(ctx context.Context, program Program) (*Zygote, error) {
	if program.Sandbox != SandboxOff && !sandboxSupported {
		_, err := seccompHex(false, false)
		return nil, err
	}
	program, err := program.withAbsolutePaths()
	if err != nil {
		return nil, err
	}
	program.Limits = program.Limits.orDefaults()
	z := &Zygote{program: program, idle: make(chan *Worker, program.Idle)}
	if _, err := z.liveProcess(ctx); err != nil {
		return nil, err
	}
	for range program.Idle {
		z.addIdleWorker()
	}
	return z, nil
}

// Close ends the zygote and every worker.
func (z *Zygote) Close() error {
	z.mu.Lock()
	z.closed = true
	process := z.process
	z.mu.Unlock()
	if process != nil {
		process.kill()
	}
	z.forking.Wait()
	return nil
}

// Info is what the program says of itself.
func (z *Zygote) Info() map[string]string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.process.info
}

// MemoryBytes is what the process that forks the workers holds; 0 where that cannot be known.
func (z *Zygote) MemoryBytes() int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	return processMemory(z.process.command.Process.Pid)
}

// Boundaries tells what is in force around the workers.
func (z *Zygote) Boundaries() []Boundary {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Clone(z.process.boundaries)
}

// WhenEnded has a function called each time when the program's process ends though Close was not called, with the last that it said.
func (z *Zygote) WhenEnded(ended func(said string)) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.ended = ended
}

// awaitEnd tells whoever asked (WhenEnded) of the end of a process.
func (z *Zygote) awaitEnd(process *zygoteProcess) {
	<-process.exited
	z.mu.Lock()
	closed, ended := z.closed, z.ended
	z.mu.Unlock()
	if !closed && ended != nil {
		ended(process.errors.String())
	}
}

// Call runs one request in a fresh worker within a budget, at the context's place (fair.At), and ends it. A worker that is lost with
// the program's process is replaced once.
func (z *Zygote) Call(ctx context.Context, budget time.Duration, request, reply any) error {
	err := z.callOnce(ctx, budget, request, reply)
	if errors.Is(err, ErrLost) && ctx.Err() == nil {
		return z.callOnce(ctx, budget, request, reply)
	}
	return err
}

func (z *Zygote) callOnce(ctx context.Context, budget time.Duration, request, reply any) error {
	worker, err := z.Spawn(ctx)
	if err != nil {
		return err
	}
	defer worker.Kill()
	_, _, err = compute(ctx, budget, worker, request, reply)
	return err
}

// Ready returns why the last worker could not be started, once another could not be either; nil while workers start.
func (z *Zygote) Ready(ctx context.Context) error {
	if !z.unable.Load() {
		return nil
	}
	worker, err := z.Spawn(ctx)
	if err == nil {
		worker.Kill()
	}
	return err
}

// Spawn gives a fresh worker: an idle one where there is one, else a new fork.
func (z *Zygote) Spawn(ctx context.Context) (*Worker, error) {
	worker, err := z.spawn(ctx)
	if _, failed := errors.AsType[*SpawnError](err); failed || err == nil {
		z.unable.Store(failed)
	}
	return worker, err
}

func (z *Zygote) spawn(ctx context.Context) (*Worker, error) {
	for {
		select {
		case worker := <-z.idle:
			z.addIdleWorker()
			if worker.Alive() {
				return worker, nil
			}
			worker.Kill() // it went with an earlier zygote
			continue
		default:
		}
		process, err := z.liveProcess(ctx)
		if err != nil {
			return nil, err
		}
		worker, err := process.spawn(ctx)
		if _, failed := errors.AsType[*SpawnError](err); failed && !process.alive() {
			continue // it died just now: liveProcess starts another or returns why it cannot
		}
		return worker, err
	}
}

// addIdleWorker forks one idle worker in the background.
func (z *Zygote) addIdleWorker() {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return
	}
	z.forking.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		process, err := z.liveProcess(ctx)
		if err != nil {
			return // the next Spawn meets the same error and reports it
		}
		worker, err := process.spawn(ctx)
		if err != nil {
			return
		}
		select {
		case z.idle <- worker:
		default:
			worker.Kill()
		}
	})
}

// liveProcess returns the running zygote process. It starts one if there is none.
func (z *Zygote) liveProcess(ctx context.Context) (*zygoteProcess, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return nil, ErrClosed
	}
	if z.process != nil && z.process.alive() {
		return z.process, nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	first := z.process == nil
	namespaced := z.program.Sandbox != SandboxOff && (first || z.process.namespaced)
	process, err := startProcess(ctx, z.program, namespaced)
	if err != nil && namespaced && first { // a kernel or container that refuses namespaces: the workers' own filter still holds
		var second error
		if process, second = startProcess(ctx, z.program, false); second != nil {
			err = errors.Join(err, second)
		} else {
			err = nil
		}
	}
	if err != nil {
		return nil, &SpawnError{fmt.Errorf("start %s: %w", z.program.Name, err)}
	}
	z.process = process
	go z.awaitEnd(process)
	return process, nil
}
