package readapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"reckon/internal/httpkit"
	"reckon/internal/lifecycle"
	"reckon/internal/supervision"
	"reckon/projections/engine"
)

// Health is what /readyz asks.
type Health struct {
	// Dependencies are asked all at once; each has supervision.ReadinessLooks.
	Dependencies []Dependency
	// IsAway tells whether the error of a check means that the dependency cannot be reached.
	IsAway func(error) bool
	// Projections are the read models. What cannot be looked up is said in Detail: that the log or the database is away is said by Dependencies.
	Projections func(ctx context.Context) []ProjectionHealth
	// Parts are the background parts of this process; nil where there are none.
	Parts func(ctx context.Context) []PartHealth
	// Stopping tells whether the process has been told to stop: no new requests should come.
	// nil: never.
	Stopping func() bool
	// Walls are the boundaries around the engine's workers; nil where this process runs none.
	Walls func() []Wall
	// Outages logs what is wrong with dependencies.
	Outages *Outages
}

// Dependency is something the service does not work without.
type Dependency struct {
	Name string
	Part string // what it is, for people who know nothing of the installation: "the event log"
	// Check returns an error when it does not work. What that says goes to the log, unless it is a PublicError.
	Check func(ctx context.Context) error
}

// PublicError is an error of a check whose text may be read by anyone: it says what is wrong and what to do, and names no
// machine, file or account.
type PublicError struct{ Problem string }

func (e *PublicError) Error() string { return e.Problem }

// ProjectionHealth is how far a read model has come.
type ProjectionHealth struct {
	Name    string       `json:"name" doc:"Name of the read model"`
	Version int          `json:"version" doc:"Version of its tables, from 1"`
	Phase   engine.Phase `json:"phase" enum:"starting,running,retrying,standby,unwritten,paused,halted" doc:"What it is doing: starting, running, retrying (the database or an event fails for now), standby (another process writes it), unwritten (no process does), paused or halted"`
	Lag     uint64       `json:"lag" doc:"Distance to the end of the log in the log's own units (events of an embedded log and of reckon node, bytes of another server)"`
	Parked  int64        `json:"parked" doc:"Number of events set aside"`
	Ready   bool         `json:"ready" doc:"True once it has reached what the log held when this process started"`
	Detail  string       `json:"detail,omitempty" doc:"What is wrong, in words; left out when nothing is"`
}

// PartHealth is how a part of this process that works in the background is doing.
type PartHealth struct {
	Name     string          `json:"name" doc:"Name of the part"`
	Phase    lifecycle.Phase `json:"phase" enum:"running,restarting,ended" doc:"What it is doing: running, restarting (it has ended and is begun again after a pause) or ended"`
	Restarts int             `json:"restarts" doc:"How often it was begun again since the process started"`
	Parked   int64           `json:"parked" doc:"Number of events that a reaction has set aside; 0 for other parts"`
	Ready    bool            `json:"ready" doc:"True while it runs; after a restart, once it has run for as long as the pause before"`
	Detail   string          `json:"detail,omitempty" doc:"What is wrong, in words; left out when nothing is. A part that is ready may have it: checkpoints that are not signed keep nobody from evaluating"`
}

// Wall is one boundary around the engine's workers.
type Wall struct {
	Name    string `json:"name" doc:"Name of the boundary"`
	InForce bool   `json:"in_force" doc:"Whether it is in force"`
	Detail  string `json:"detail,omitempty" doc:"How it is enforced; left out when there is nothing to say"`
}

type healthzOutput struct {
	Body struct {
		Status  string `json:"status" enum:"ok" doc:"Always ok"`
		Version string `json:"version" doc:"Revision of the binary"`
	}
}

type readyzOutput struct {
	Status int
	Body   readiness
}

type readiness struct {
	Ready        bool               `json:"ready" doc:"True when every dependency, read model and part is, and the process is not stopping"`
	Stopping     bool               `json:"stopping" doc:"True once the process has been told to stop: it still answers, and new requests should go to others"`
	Dependencies []dependencyHealth `json:"dependencies" doc:"What the service does not work without"`
	Projections  []ProjectionHealth `json:"projections" doc:"The read models"`
	Parts        []PartHealth       `json:"parts" doc:"What this process does in the background"`
	EngineWalls  []Wall             `json:"engine_walls" doc:"What keeps evaluations in: each boundary and whether it is in force"`
}

type dependencyHealth struct {
	Name   string `json:"name" doc:"Name of the dependency"`
	Ready  bool   `json:"ready" doc:"Whether it answers as it should"`
	Detail string `json:"detail,omitempty" doc:"What is wrong, in words; left out when nothing is"`
}

func (s Services) registerHealth(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/healthz", ID: "healthz", Tag: "Service", Summary: "The process is alive",
		Description: "Answers 200 as long as the process serves requests, whatever else is away: see /readyz for that.",
	}, func(context.Context, *struct{}) (*healthzOutput, error) {
		out := &healthzOutput{}
		out.Body.Status, out.Body.Version = "ok", s.Build
		return out, nil
	})
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/readyz", ID: "readyz", Tag: "Service", Summary: "Everything asked for works",
		Description:  "200 when it does; 503 with the same body when something does not, a read model is still being built, or the process has been told to stop: from then on it answers requests for as long as --unready-grace says.",
		AlsoStatuses: []int{http.StatusServiceUnavailable},
	}, s.readyz)
}

func (s Services) readyz(ctx context.Context, _ *struct{}) (*readyzOutput, error) {
	body := s.Health.look(ctx)
	if !body.Ready {
		httpkit.AnswerHeader(ctx).Set("Retry-After", retryAfter())
		return &readyzOutput{Status: http.StatusServiceUnavailable, Body: body}, nil
	}
	return &readyzOutput{Status: http.StatusOK, Body: body}, nil
}

func retryAfter() string {
	return strconv.FormatInt(httpkit.WholeSeconds(supervision.ReadinessLooks), 10)
}

// ServeReadiness answers as GET /readyz does, for processes that serve no API.
func (h Health) ServeReadiness(w http.ResponseWriter, r *http.Request) {
	body := h.look(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if !body.Ready {
		w.Header().Set("Retry-After", retryAfter())
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(body) // whoever asked has gone
}

// ServeStarting answers as GET /readyz does in a process that is being started; detail says what it does, to anyone.
func ServeStarting(w http.ResponseWriter, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", retryAfter())
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(readiness{ // whoever asked has gone
		Dependencies: []dependencyHealth{{Name: "start", Detail: detail}},
		Projections:  []ProjectionHealth{}, Parts: []PartHealth{}, EngineWalls: []Wall{},
	})
}

// Summary is what metrics have of readiness: whether all is well, and which dependency and which part is.
type Summary struct {
	Ready        bool
	Dependencies map[string]bool
	Parts        []PartHealth
	Projections  []ProjectionHealth
}

// Summarise looks at everything once.
func (h Health) Summarise(ctx context.Context) Summary {
	body := h.look(ctx)
	s := Summary{Ready: body.Ready, Dependencies: map[string]bool{}, Parts: body.Parts, Projections: body.Projections}
	for _, d := range body.Dependencies {
		s.Dependencies[d.Name] = d.Ready
	}
	return s
}

// look asks everything at once, for at most supervision.ReadinessLooks: what one waits for is not taken for a silence of the next.
func (h Health) look(ctx context.Context) readiness {
	ctx, cancel := context.WithTimeout(ctx, supervision.ReadinessLooks)
	defer cancel()
	body := readiness{Ready: true, Projections: []ProjectionHealth{}, Parts: []PartHealth{}, EngineWalls: []Wall{}}
	var asked sync.WaitGroup
	asked.Go(func() { body.Dependencies = h.ask(ctx) })
	asked.Go(func() { body.Projections = append(body.Projections, h.Projections(ctx)...) })
	if h.Parts != nil {
		asked.Go(func() { body.Parts = append(body.Parts, h.Parts(ctx)...) })
	}
	asked.Wait()
	if h.Stopping != nil {
		body.Stopping = h.Stopping()
		body.Ready = !body.Stopping
	}
	if h.Walls != nil {
		body.EngineWalls = append(body.EngineWalls, h.Walls()...)
	}
	for _, d := range body.Dependencies {
		body.Ready = body.Ready && d.Ready
	}
	for _, p := range body.Parts {
		body.Ready = body.Ready && p.Ready
	}
	for _, p := range body.Projections {
		body.Ready = body.Ready && p.Ready
	}
	return body
}

// ask asks every dependency at once. What is wrong with one may name machines
// and addresses: it goes to the log, not to whoever asks.
func (h Health) ask(ctx context.Context) []dependencyHealth {
	answers := make([]dependencyHealth, len(h.Dependencies))
	var group sync.WaitGroup
	for i, d := range h.Dependencies {
		group.Go(func() {
			answers[i] = dependencyHealth{Name: d.Name, Ready: true}
			if err := d.Check(ctx); h.Outages.isAway(ctx, d.Name, err) {
				answers[i].Ready, answers[i].Detail = false, h.describe(d, err)
			}
		})
	}
	group.Wait()
	return answers
}

// describe says what is wrong with a dependency, to anyone.
func (h Health) describe(d Dependency, err error) string {
	if public, ok := errors.AsType[*PublicError](err); ok {
		return public.Problem
	}
	if httpkit.RefusesWrites(err) {
		return d.Part + " refuses what is written to it until an operator makes room: its disk is full, or it fails; what it has is read"
	}
	if h.IsAway(err) {
		return d.Part + " cannot be reached"
	}
	return d.Part + " answers with an error; the log of the server has it"
}
