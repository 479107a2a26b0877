package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/session"
	"reckon/internal/config"
	"reckon/internal/httpserver"
	"reckon/projections"
	"reckon/runners"
	"reckon/runners/cluster"
)

// makeRunners wires what runs jobs, watches the other processes and reaches them.
// A process without the role run still runs the jobs of the sessions it owns.
func (s *service) makeRunners(ctx context.Context) error {
	if err := s.models.Queue.Prepare(ctx); err != nil {
		return err
	}
	s.hub = cluster.NewHub()
	s.watch = cluster.NewWatch(cluster.WatchConfig{Beat: s.config.Beat, Current: s.current})
	s.evaluator.Owners = s.watch
	s.rescuer = cluster.NewRescuer(cluster.Rescuer{
		Watch: s.watch, Jobs: s.jobs, Store: s.store, Clock: systemClock{}, Logger: s.logger, Name: s.process, Build: build(),
	})
	s.hub.Listen(s.watch.Observe)
	s.hub.Listen(s.rescuer.Observe)
	if s.engine == nil {
		return nil
	}
	if err := s.makePeers(ctx); err != nil {
		return err
	}
	slots := s.config.JobSlots
	if slots == 0 {
		slots = runtime.GOMAXPROCS(0)
	}
	s.pulse = cluster.NewPulse(cluster.PulseConfig{
		Runner: s.process, Address: s.evaluator.Address, Beat: s.config.Beat, Log: s.store, Clock: systemClock{}, Logger: s.logger, Build: build(),
		Isolated: s.isolated,
	})
	s.runner = runners.New(runners.Config{
		Claimant: runners.Claimant{Runner: s.process, OwnSessions: !s.config.Has(config.RoleRun)},
		Slots:    slots, Grace: s.config.Grace, Jobs: s.jobs, Queue: queue{s}, Pulse: s.pulse, Clock: systemClock{}, Logger: s.logger, Build: build(),
		Run: runners.ByName(s.kinds...),
	})
	s.hub.Listen(s.runner.Observe)
	s.hub.Listen(s.observeSessions)
	return nil
}

// current waits until this process has seen what is in the log now.
func (s *service) current(ctx context.Context) error {
	head, err := s.store.Head(ctx)
	if err != nil {
		return err
	}
	return s.hub.Reach(ctx, head)
}

// observeSessions keeps the engine's sessions those that the log says are ours.
func (s *service) observeSessions(r event.Recorded) {
	var key string
	switch e := r.Event.(type) {
	case session.Opened:
	case session.Cleared:
		key = commands.SessionKey(e.Account, e.SessionID, e.Epoch)
	case session.Expired:
		key = commands.SessionKey(e.Account, e.SessionID, e.Epoch)
	default:
		return
	}
	if key != "" {
		s.evaluator.Engine.CloseSession(key)
	}
	s.pulse.HoldSessions(len(s.watch.OwnedBy(s.process)))
}

// isolated kills all that others may soon take over.
func (s *service) isolated() {
	s.runner.KillAll()
	for _, live := range s.watch.OwnedBy(s.process) {
		s.evaluator.Engine.CloseSession(commands.SessionKey(live.Account, live.SessionID, live.Epoch))
	}
}

// leaveSessions ends the sessions of a process that stops: their variables go with it.
func (s *service) leaveSessions(ctx context.Context) {
	for _, live := range s.watch.OwnedBy(s.process) {
		in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: live.Account, Actor: "runner:" + s.process, Build: build()}
		expire := session.Expire{Account: live.Account, SessionID: live.SessionID, Epoch: live.Epoch, Reason: "shutdown"}
		if _, err := commands.ExpireSession(ctx, s.store, in, expire); err != nil {
			s.logger.Warn("a session's end was not logged", "session", live.SessionID, "error", err)
			return // the others would fare no better; the rescuer ends them
		}
	}
}

// startRunners begins what makeRunners made, from what the read models know.
func (s *service) startRunners(ctx context.Context, run func(string, func(context.Context) error)) error {
	running, live, seen, err := s.models.Queue.Snapshot(ctx, s.models.Sessions)
	if err != nil {
		return err
	}
	seed := cluster.Seed{Dead: s.config.Eventstore == "embedded"}
	for _, row := range running {
		seed.Running = append(seed.Running, cluster.SeenAttempt{JobID: row.JobID, Nonce: row.Nonce, Runner: row.Runner})
	}
	for _, row := range live {
		seed.Sessions = append(seed.Sessions, cluster.SeenSession{Account: row.Account, SessionID: row.SessionID, Epoch: row.Epoch, Owner: row.Owner})
	}
	s.watch.Begin(seed)
	run("following the log", func(ctx context.Context) error { return s.hub.Run(ctx, s.store, seen) })
	if s.config.Has(config.RoleReact) {
		run("rescuer", s.rescuer.Run)
	}
	if s.runner == nil {
		return nil
	}
	run("heartbeats", s.pulse.Run)
	run("peers", func(context.Context) error {
		if err := s.peerServer.Serve(s.peerListener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	s.stoppers = append(s.stoppers, func() { _ = s.peerServer.Close() })
	claiming, stopClaims := context.WithCancel(ctx)
	drained := make(chan struct{})
	run("jobs", func(context.Context) error {
		defer close(drained)
		return s.runner.Start(claiming)
	})
	s.drain = func() {
		stopClaims()
		<-drained
	}
	return nil
}

// makePeers opens the address at which other processes reach the sessions that live here.
func (s *service) makePeers(ctx context.Context) error {
	secret, err := s.peerSecret()
	if err != nil {
		return err
	}
	if s.peerListener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.PeerListen); err != nil {
		return fmt.Errorf("listen for peers (--peer-listen): %w", err)
	}
	s.onClose(func(context.Context) error {
		if err := s.peerListener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	s.evaluator.Address = s.config.PeerAddress
	if s.evaluator.Address == "" {
		s.evaluator.Address = s.peerListener.Addr().String()
	}
	s.peers = cluster.NewPeers(secret, s.evaluator.Evaluate)
	s.peerServer = httpserver.New(s.peers, httpserver.Processes(), s.logger)
	return nil
}

// peerSecret is what the processes of an installation know each other by: the
// one configured, or the one in the folder of keys, made by whoever comes first.
func (s *service) peerSecret() ([]byte, error) {
	if s.config.PeerSecret != "" {
		return []byte(s.config.PeerSecret), nil
	}
	path := filepath.Join(s.config.KeyFolder(), "peer.secret")
	var fresh [32]byte
	_, _ = rand.Read(fresh[:]) // never fails (crypto/rand documents it)
	draft := path + "." + s.process
	if err := os.WriteFile(draft, []byte(hex.EncodeToString(fresh[:])+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("secret between processes: %w", err)
	}
	linked := os.Link(draft, path) // only the first succeeds
	if err := os.Remove(draft); err != nil {
		return nil, err
	}
	if linked != nil && !errors.Is(linked, os.ErrExist) {
		return nil, fmt.Errorf("secret between processes: %w", linked)
	}
	secret, err := os.ReadFile(path)
	return []byte(strings.TrimSpace(string(secret))), err
}

// queue is runners.Queue over the read models.
type queue struct{ s *service }

// Propose is runners.Queue.
func (q queue) Propose(ctx context.Context, c runners.Claimant, n int) ([]runners.Proposal, time.Duration, error) {
	found, again, err := q.s.models.Queue.Propose(ctx, projections.Claimant(c), n)
	list := make([]runners.Proposal, len(found))
	for i, p := range found {
		list[i] = runners.Proposal{JobID: p.JobID, Correlation: p.Correlation}
	}
	return list, again, err
}

// Keep is runners.Queue.
func (q queue) Keep(ctx context.Context, runner string, jobIDs []string) error {
	return q.s.models.Queue.Keep(ctx, runner, jobIDs)
}

// Await is runners.Queue: proposals are made from both read models.
func (q queue) Await(ctx context.Context, jobs, sessions event.Position) error {
	return errors.Join(q.s.projector.Wait(ctx, "queue", jobs), q.s.projector.Wait(ctx, "sessions", sessions))
}
