// Package apitest runs the whole HTTP API for tests: a real server, real
// identity tables, real read models on SQLite and real blobs over a log in
// memory. Only the evaluation engine and the checker are stand-ins, because
// starting Python is the business of the end-to-end tests.
package apitest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/cmd/application"
	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/eventstore/memory"
	"reckon/internal/blobs"
	"reckon/internal/database"
	"reckon/internal/httpkit"
	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
	"reckon/internal/identity"
	"reckon/internal/passwords/passwordstest"
	"reckon/internal/payments"
	"reckon/internal/ratelimit"
	"reckon/internal/statefiles"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/readapi"
	"reckon/runners"
	"reckon/runners/cluster"
	"reckon/runners/kinds"
)

// Clock is a clock the test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is commands.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the clock on.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Server is a running API.
type Server struct {
	httpservertest.Server
	Clock *Clock
	Store *memory.Store
	API   *httpkit.API
	// Jobs, Evaluator and Subscription are what the API works with; no runner takes jobs up.
	Jobs         *commands.Jobs
	Kinds        []runners.Kind
	Evaluator    *commands.Evaluator
	Subscription *cluster.Subscription
	Models       *projections.ReadModels
	Running      *ratelimit.Concurrency // evaluations and checks of each account
	Closing      chan struct{}          // close it to end long polls
	Evaluated    *atomic.Int64          // what the engine was asked to evaluate

	blobs string // folder of the blobs

	mu      sync.Mutex
	limited map[string]bool // by stream: whether the last call for it had a limit of time
	away    bool
	watched map[string]int // requests that wait, by job
}

// Watched counts the requests that wait for a job.
func (s *Server) Watched(jobID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[jobID]
}

func (s *Server) notifyJobEnded(jobID string) (<-chan struct{}, func()) {
	count := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watched[jobID] += n
	}
	notified, stop := s.Subscription.NotifyJobEnded(jobID)
	count(1)
	return notified, func() {
		stop()
		count(-1)
	}
}

// RemoveBlobs removes every blob that is stored, as nobody should.
func (s *Server) RemoveBlobs(t testing.TB) {
	t.Helper()
	s.eachBlob(t, os.Remove)
}

// DamageBlobs replaces every blob that is stored by other bytes of its length.
func (s *Server) DamageBlobs(t testing.TB) {
	t.Helper()
	s.eachBlob(t, func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, make([]byte, info.Size()), 0o600)
	})
}

func (s *Server) eachBlob(t testing.TB, change func(path string) error) {
	t.Helper()
	changed := 0
	must(t, filepath.WalkDir(s.blobs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || len(entry.Name()) != 64 || entry.IsDir() {
			return err
		}
		changed++
		return change(path)
	}))
	if changed == 0 {
		t.Fatal("there are no blobs")
	}
}

// LogAway makes every read and append of the log fail as unavailable, or ends that.
func (s *Server) LogAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// store is the log as the commands see it.
type store struct {
	*memory.Store
	server *Server
}

// Limited tells whether the last read or append of a stream had a limit of time.
func (s *Server) Limited(stream string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limited[stream]
}

func (s store) refuse(ctx context.Context, stream string) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.limited == nil {
		s.server.limited = map[string]bool{}
	}
	_, s.server.limited[stream] = ctx.Deadline()
	if s.server.away {
		return commands.ErrUnavailable
	}
	return nil
}

// Read is commands.Store.
func (s store) Read(ctx context.Context, stream string) (commands.History, error) {
	if err := s.refuse(ctx, stream); err != nil {
		return commands.History{}, err
	}
	return s.Store.Read(ctx, stream)
}

// ReadFrom is commands.Store.
func (s store) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if err := s.refuse(ctx, stream); err != nil {
		return commands.History{}, err
	}
	return s.Store.ReadFrom(ctx, stream, from, count)
}

// Event is commands.Store.
func (s store) Event(ctx context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	if err := s.refuse(ctx, stream); err != nil {
		return event.Recorded{}, err
	}
	return s.Store.Event(ctx, stream, revision)
}

// Append is commands.Store.
func (s store) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if err := s.refuse(ctx, stream); err != nil {
		return commands.Appended{}, err
	}
	return s.Store.Append(ctx, stream, at, events)
}

// Options of a server.
type Options struct {
	Signer *receipt.Signer
	Plans  account.Plans
	Rules  identity.Rules
	TLS    bool
	// NoProjections leaves the read models where they stand.
	NoProjections bool
	Elaborator    commands.Elaborator
	Payments      payments.Provider
	// TrustedProxies may say from where requests come: by default all of them come from one address.
	TrustedProxies []netip.Prefix
	PublicURL      string
	Kinds          []runners.Kind // beside those of the service
	// ReadModels and Identity are addresses of databases; files of the test's own when empty.
	ReadModels, Identity string
	StateAge             time.Duration // of files of state vectors; a day when zero
	StateBytes           int64         // of an account's such files; 64 MiB when zero
	MaxPlaceWait         time.Duration // of a job's place in the queue; a minute when zero
	Showcase             bool          // the first page shows answers to questions of the service itself
	AnonymousPerHour     int           // evaluations without an account; 1000 when zero, none when negative
}

// generous lets tests register and sign in as often as they need.
var generous = identity.Rules{
	Registrations: ratelimit.Rule{Requests: 1000, Window: time.Hour},
	SignIns:       ratelimit.Rule{Requests: 1000, Window: time.Minute},
}

// Origin names the transparency log of every server.
const Origin = "reckon.example/transparency"

const sessionIdle = 30 * time.Minute

// Start runs an API until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	debug.SetGCPercent(400) // tests start services by the dozen and throw them away: collecting took a fifth of their processor time
	if o.Plans == nil {
		o.Plans = account.DefaultPlans()
	}
	if o.AnonymousPerHour = cmp.Or(o.AnonymousPerHour, 1000); o.AnonymousPerHour < 0 {
		o.AnonymousPerHour = 0
	}
	if o.Rules == (identity.Rules{}) {
		o.Rules = generous
	}
	o.MaxPlaceWait = cmp.Or(o.MaxPlaceWait, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	server := &Server{Clock: &Clock{now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}, Store: memory.New(domain.Catalogue()), Subscription: cluster.NewSubscription(), Running: ratelimit.NewConcurrency(), Closing: make(chan struct{}), watched: map[string]int{}}
	log := store{server.Store, server}

	folder := t.TempDir()
	server.blobs = filepath.Join(folder, "blobs")
	kept, err := blobs.OpenFolder(server.blobs)
	must(t, err)
	states, err := statefiles.Open(filepath.Join(folder, "statevectors"), statefiles.Limits{
		Age: cmp.Or(o.StateAge, 24*time.Hour), AccountBytes: cmp.Or(o.StateBytes, 64<<20), TotalBytes: 64 << 20,
	}, time.Now, slog.New(slog.DiscardHandler))
	must(t, err)
	people, err := identity.Open(ctx, identity.Where{Address: cmp.Or(o.Identity, "sqlite:"+filepath.Join(folder, "identity.db")), Schema: "identity", Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	who := identity.New(people, server.Clock.Now, o.Rules, passwordstest.NewHasher())
	rows, err := projections.Open(ctx, cmp.Or(o.ReadModels, "sqlite:"+filepath.Join(folder, "readmodels.db")))
	must(t, err)
	models := projections.New(rows, kept)
	server.Models = models
	must(t, models.Queue.CreateProposalsTable(ctx))
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	projector, err := projecting.New(ctx, projecting.Config{DB: rows, Log: server.Store, Logger: quiet}, models.All()...)
	must(t, err)
	var running sync.WaitGroup
	if !o.NoProjections {
		running.Go(func() {
			if err := projector.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}

	calculator := &engine{sessions: map[string]string{}}
	server.Evaluated = &calculator.asked
	server.Jobs = &commands.Jobs{Store: log, Runs: commands.NewRunIDs(server.Store, "process-1"), Blobs: kept}
	signer := func() (*receipt.Signer, error) { return o.Signer, nil }
	evaluator, err := commands.NewEvaluator(commands.EvaluatorConfig{
		Store: log, Runs: server.Jobs.Runs, Engine: calculator, Checker: checker{}, Blobs: kept, Owners: alone{},
		Places: identity.NewPlaces(who, calculator.sessionsOf, func(err error) { t.Error(err) }), Clock: server.Clock, Signer: signer, Process: "process-1", QueueWait: time.Second,
	})
	must(t, err)
	server.Evaluator = evaluator
	running.Go(func() {
		if err := server.Subscription.Run(ctx, server.Store, event.Position{}); err != nil {
			t.Error(err)
		}
	})
	proofs := commands.NewProofs(commands.Proofs{Store: log, Blobs: kept, Jobs: server.Jobs, Judge: inspector{}, Elaborator: o.Elaborator, Clock: server.Clock}, 2)
	server.Kinds = append(kinds.All(kinds.Parts{
		Evaluator: evaluator, Proofs: proofs, Blobs: kept, States: states, Plans: account.DefaultPlans(), Catalogue: domain.Catalogue(), Clock: server.Clock, Build: "test",
	}), o.Kinds...)
	api, err := application.New(application.Parts{
		Store: log, Identity: who, Rules: o.Rules, Blobs: kept, States: states, Models: models, Projector: projector, Clock: server.Clock, Logger: quiet, Build: "test",
		Evaluate: evaluator.Evaluate, Verify: evaluator.Verify, CloseSession: calculator.CloseSession, Busy: func(string, string, int) bool { return false },
		Jobs: server.Jobs, Kinds: server.Kinds, NotifyJobEnded: server.notifyJobEnded, Closing: server.Closing, Proofs: proofs, Signer: signer, Payments: o.Payments,
		Plans: o.Plans, Anonymous: commands.Anonymous{Engine: calculator, Checker: checker{}}, AnonymousPerHour: o.AnonymousPerHour, Showcase: o.Showcase,
		Limiter: func() ratelimit.Limiter { return ratelimit.NewMemory() }, Running: server.Running, SessionIdle: sessionIdle, Overhead: time.Minute, MaxPlaceWait: o.MaxPlaceWait,
		PublicURL: o.PublicURL, TrustedProxies: o.TrustedProxies, Transparency: readapi.Transparency{Origin: Origin, Interval: 10 * time.Second},
		Health: readapi.Health{
			IsAway: func(err error) bool { return errors.Is(err, commands.ErrUnavailable) },
			Dependencies: []readapi.Dependency{
				{Name: "eventstore", Part: "the event log", Check: func(ctx context.Context) error { return log.refuse(ctx, "") }},
				{Name: "identity", Part: "the database of identities", Check: who.Ready}, {Name: "blobs", Part: "the store of blobs", Check: kept.Ready},
			},
			Projections: func(ctx context.Context) (healths []readapi.ProjectionHealth) {
				list, _ := projector.Status(ctx) // with an error, counts are missing
				for _, p := range list {
					healths = append(healths, readapi.ProjectionHealth{Name: p.Name, Version: p.Version, Phase: p.Phase, Lag: p.Lag, Parked: p.Parked, Ready: p.Ready})
				}
				return healths
			},
			Outages: readapi.NewOutages(quiet, time.Now),
		},
		UseNotKept: func(_ context.Context, err error) {
			// A busy machine may not store it within the second that a request waits for it.
			if _, away := errors.AsType[*database.UnavailableError](err); !away && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		},
	})
	must(t, err)
	server.API = api
	begin := httpservertest.Start
	if o.TLS {
		begin = httpservertest.StartTLS
	}
	server.Server = begin(t, api, httpserver.ClientLimits())
	t.Cleanup(func() {
		server.Close()
		cancel()
		running.Wait()
		must(t, people.Close())
		must(t, rows.Close())
	})
	return server
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Answer is what the server said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	JSON   map[string]any // nil when the body is not a JSON object
}

// Code is the code of a problem, empty for any other answer.
func (a Answer) Code() string {
	code, _ := a.JSON["code"].(string)
	return code
}

// Want fails the test unless the answer is a problem of this kind.
func (a Answer) Want(t testing.TB, kind httpkit.Kind) {
	t.Helper()
	if a.Status != kind.Status || a.Code() != kind.Code || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("got %d %.400s, want %d %s", a.Status, a.Body, kind.Status, kind.Code)
	}
}

// OK fails the test unless the answer is 200.
func (a Answer) OK(t testing.TB) Answer {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("got %d %.400s", a.Status, a.Body)
	}
	return a
}

// Do sends a request; path is taken exactly as written, headers are name, value pairs, of which a name may come again.
func (s *Server) Do(t testing.TB, method, path, body string, headers ...string) Answer {
	t.Helper()
	request, err := http.NewRequest(method, s.URL, strings.NewReader(body))
	must(t, err)
	request.URL.Opaque, request.URL.RawQuery, _ = strings.Cut(path, "?")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	if body != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.Client().Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	a := Answer{Status: response.StatusCode, Header: response.Header}
	a.Body, err = io.ReadAll(response.Body)
	must(t, err)
	if json.Unmarshal(a.Body, &a.JSON) != nil {
		a.JSON = nil
	}
	return a
}

// User is a registered account with a browser session and an API token.
type User struct {
	ID, Email, Password string
	Cookie              string // header value
	Token               string
	TokenID             string
	server              *Server
}

// NewUser registers, signs in and mints a token.
func (s *Server) NewUser(t testing.TB) *User {
	t.Helper()
	u := &User{Email: uuid.NewString() + "@example.com", Password: "correct horse", server: s}
	credentials := `{"email":"` + u.Email + `","password":"` + u.Password + `"}`
	u.ID, _ = s.Do(t, http.MethodPost, "/auth/register", credentials).OK(t).JSON["user_id"].(string)
	u.Cookie = strings.Split(s.Do(t, http.MethodPost, "/auth/login", credentials).OK(t).Header.Get("Set-Cookie"), ";")[0]
	minted := s.Do(t, http.MethodPost, "/api/tokens", `{"name":"test"}`, "Cookie", u.Cookie).OK(t)
	u.Token, _ = minted.JSON["token"].(string)
	u.TokenID, _ = minted.JSON["token_id"].(string)
	return u
}

// Do sends a request with the user's token.
func (u *User) Do(t testing.TB, method, path, body string, headers ...string) Answer {
	t.Helper()
	return u.server.Do(t, method, path, body, append([]string{"Authorization", "Bearer " + u.Token}, headers...)...)
}

// Evaluate evaluates an expression.
func (u *User) Evaluate(t testing.TB, expression string) Answer {
	t.Helper()
	body, err := json.Marshal(map[string]string{"expression": expression})
	must(t, err)
	return u.Do(t, http.MethodPost, "/api/evaluate", string(body))
}
