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

	"reckon/domain"
	"reckon/domain/job"
	"reckon/internal/config"
	"reckon/internal/httpserver"
	"reckon/internal/lifecycle"
	"reckon/runners"
	"reckon/runners/cluster"
	"reckon/runners/evaluate"
	"reckon/runners/proof"
	"reckon/runners/qsim"
	"reckon/runners/workers"
)

// makeWorkers wires what runs jobs, watches the other processes and reaches them.
// A process without the role run still runs the jobs of the sessions it owns.
func (s *service) makeWorkers(ctx context.Context) error {
	s.workers = workers.New(workers.Config{
		Process: s.id, Build: build(), Beat: s.config.Beat, Log: s.log.store, Jobs: s.writes.jobs, Models: s.rows.models, Projector: s.rows.projector,
		Clock: systemClock{}, Logger: s.logger, Recovers: s.config.Has(config.RoleReact), OthersAreGone: s.config.Eventstore == config.EmbeddedLog,
	})
	if s.engine == nil {
		s.life.Add(s.workers.Parts()...)
		return nil
	}
	peers, err := s.makePeers(ctx)
	if err != nil {
		return err
	}
	slots := s.config.JobSlots
	if slots == 0 {
		slots = runtime.GOMAXPROCS(0)
	}
	evaluator := s.writes.evaluator
	evaluator.Owners = s.workers.Liveness
	s.workers.Run(workers.RunConfig{
		Address: evaluator.Address, Slots: slots, Grace: s.config.Grace, OwnSessionsOnly: !s.config.Has(config.RoleRun),
		Kinds: map[string]runners.Kind{ // the one list of kinds
			job.Evaluate: evaluate.Jobs{Evaluator: evaluator, Plans: s.plans, Catalogue: domain.Catalogue()},
			job.Qsim:     qsim.New(),
			job.Proof:    proof.Jobs{Judge: s.writes.judge, Blobs: s.stores.blobs, Catalogue: domain.Catalogue(), Clock: systemClock{}, Rev: build()},
		},
		CloseSession: evaluator.Engine.CloseSession,
	})
	s.life.Add(s.workers.Parts()...)
	s.life.Add(peers)
	return nil
}

// makePeers opens the address at which other processes reach the sessions that live here.
func (s *service) makePeers(ctx context.Context) (lifecycle.Part, error) {
	secret, err := s.peerSecret()
	if err != nil {
		return lifecycle.Part{}, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.PeerListen)
	if err != nil {
		return lifecycle.Part{}, fmt.Errorf("listen for peers (--peer-listen): %w", err)
	}
	evaluator := s.writes.evaluator
	evaluator.Address = s.config.PeerAddress
	if evaluator.Address == "" {
		evaluator.Address = listener.Addr().String()
	}
	s.writes.peers = cluster.NewPeers(secret, evaluator.Evaluate)
	return httpPart("peers", httpserver.New(s.writes.peers, httpserver.Processes(), s.logger), listener), nil
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
