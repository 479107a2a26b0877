package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"reckon/commands"
	"reckon/domain"
	"reckon/internal/config"
	"reckon/internal/httpserver"
	"reckon/internal/identity"
	"reckon/internal/lifecycle"
	"reckon/runners"
	"reckon/runners/cluster"
	"reckon/runners/kinds"
	"reckon/runners/workers"
)

// makeWorkers makes the parts that run jobs, observe the other processes and forward to them.
// A process without the role run still runs the jobs of the sessions it owns.
func (s *service) makeWorkers(ctx context.Context) error {
	wiring := workers.Config{
		Process: s.id, Build: buildRevision(), Beat: s.config.Beat, Log: s.log.store, Jobs: s.writeSide.jobs, Models: s.readSide.models, Projector: s.readSide.projector,
		Clock: systemClock{}, Logger: s.logger, Recovers: s.config.Has(config.RoleReact), HostsLog: s.log.node != nil,
	}
	if err := wiring.Validate(); err != nil {
		return err
	}
	s.workers = workers.New(wiring)
	if s.engine == nil {
		s.life.Add(s.workers.Parts()...)
		return nil
	}
	peers, address, err := s.makePeers(ctx)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	slots := s.config.JobSlots
	if slots == 0 {
		slots = runtime.GOMAXPROCS(0) + 1 // which long jobs never have
	}
	s.kinds = kinds.All(kinds.Parts{
		Evaluator: s.writeSide.evaluator, Proofs: s.writeSide.proofs, Judge: s.writeSide.judge, Program: s.writeSide.program, Judged: s.observeKernels, Blobs: s.stores.blobs, States: s.stores.states, Simulator: []string{self, "qsim-child"},
		Plans: s.plans, Catalogue: domain.Catalogue(), Clock: systemClock{}, Build: buildRevision(),
	})
	s.workers.Run(workers.RunConfig{
		Address: address, Slots: slots, Grace: s.config.Grace, OwnSessionsOnly: !s.config.Has(config.RoleRun),
		Kinds: s.kinds, CloseSession: s.engine.engine.CloseSession, KillSessions: s.engine.engine.KillSessions, AwaitAble: s.ability().Await,
		Ended: s.observeJob(), Tracer: s.tracer,
	})
	s.measureWorkers(slots)
	if s.log.node != nil {
		s.log.node.OnForeignClients(func(clients int) { s.workers.SetWatched(clients > 0) })
	}
	s.workers.Subscription.Listen(s.writeSide.signing.Observe)
	s.life.Add(s.workers.Parts()...)
	s.life.Add(s.writeSide.signing.part(), peers)
	return nil
}

// ability is what this process must have to do jobs: all that it does not work without, but for identities, which no job asks for.
func (s *service) ability() *runners.Ability {
	a := &runners.Ability{Logger: s.logger}
	for _, d := range s.health().Dependencies {
		if d.Name != "identity" {
			a.Needs = append(a.Needs, runners.Need{Name: d.Part, Check: d.Check})
		}
	}
	return a
}

// makeEvaluator makes the evaluator of this process; other processes forward evaluations to address.
func (s *service) makeEvaluator(address string) (err error) {
	engines, checks := s.engine.forAccounts()
	s.writeSide.evaluator, err = commands.NewEvaluator(commands.EvaluatorConfig{
		Store: s.log.store, Runs: s.writeSide.jobs.Runs, Blobs: s.stores.blobs, Owners: s.workers.Liveness, Clock: systemClock{},
		Places: identity.NewPlaces(s.stores.identity, func(accountID string) int { return len(s.engine.engine.Sessions(accountID)) }, func(err error) {
			s.logger.Warn("live sessions are counted by this process alone", "error", err)
		}),
		Engine: engines, Checker: checks,
		Signer: s.writeSide.signing.Signer, Process: s.id, Address: address, QueueWait: s.config.QueueWait,
	})
	return err
}

// makePeers makes the evaluator and listens on --peer-listen, where other processes forward evaluations for
// sessions of this process.
func (s *service) makePeers(ctx context.Context) (part lifecycle.Part, address string, err error) {
	secret, err := s.peerSecret()
	if err != nil {
		return part, "", err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.PeerListen)
	if err != nil {
		return part, "", fmt.Errorf("listen for peers (--peer-listen): %w", err)
	}
	if address = s.config.PeerAddress; address == "" {
		address = listener.Addr().String()
	}
	if err := s.makeEvaluator(address); err != nil {
		return part, "", errors.Join(err, listener.Close())
	}
	s.writeSide.peers, err = cluster.NewPeers(cluster.PeersConfig{
		Process: s.id, Secret: secret, Local: s.writeSide.evaluator.Evaluate, WaitUntilDead: s.workers.Liveness.WaitUntilDead, Now: time.Now, Tracer: s.tracer,
	})
	if err != nil {
		return part, "", errors.Join(err, listener.Close())
	}
	server := httpserver.New(s.writeSide.peers, httpserver.ProcessLimits(), s.logger)
	part = httpPart("peers", server, s.writeSide.peers.Listener(listener))
	part.Drain = func(ctx context.Context) error { return s.drainPeers(ctx, server) }
	return part, address, nil
}

// drainPeers lets forwarded evaluations end. It begins when the API is drained: until then
// requests for sessions of this process are as welcome from other processes as from clients.
func (s *service) drainPeers(ctx context.Context, server *httpserver.Server) error {
	defer s.writeSide.peers.CloseIdleConnections()
	if s.api != nil && s.api.listener != nil { // otherwise it was never started, and is not drained
		select {
		case <-s.api.drained:
		case <-ctx.Done():
		}
	}
	return server.Shutdown(ctx)
}

// peerSecret returns the secret that the processes of an installation share: the
// configured one, or that in the folder of keys. The first process to start creates it.
func (s *service) peerSecret() ([]byte, error) {
	if s.config.PeerSecret != "" {
		return []byte(s.config.PeerSecret), nil
	}
	path := filepath.Join(s.config.KeyFolder(), "peer.secret")
	var fresh [32]byte
	_, _ = rand.Read(fresh[:]) // never fails (crypto/rand documents it)
	draft := path + "." + s.id
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
