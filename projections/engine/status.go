package engine

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
)

// Status is the state of a projection, for operators.
type Status struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Phase    Phase          `json:"phase"`
	Reason   string         `json:"reason,omitempty"`
	Writer   string         `json:"writer"` // the process that writes it; empty: none does
	Position event.Position `json:"position"`
	Head     event.Position `json:"head"`
	Lag      uint64         `json:"lag"`        // head - position, in the log's own units (bytes)
	Rate     float64        `json:"rate_per_s"` // events per second over the last 5 to 10 s
	ETA      float64        `json:"eta_s"`      // seconds to the head at that rate; 0 when there, -1 when unknown
	Percent  float64        `json:"percent"`    // of the way to the head; while it is built: to the position from which it is ready
	Parked   int64          `json:"parked"`     // events set aside
	Ready    bool           `json:"ready"`      // has reached what the log held when this process started, or when it was last built anew
}

// Status returns the state of every projection. With an error of the log or the database, Head, Lag and Parked are not known; the rest is.
func (e *Engine) Status(ctx context.Context) ([]Status, error) {
	head, noHead := e.log.Head(ctx)
	parked, notCounted := countParked(ctx, e.db)
	list := make([]Status, len(e.workers))
	for i, w := range e.workers {
		list[i] = w.status(head)
		list[i].Parked = parked[w.id()]
	}
	return list, errors.Join(noHead, notCounted)
}

// StoredStatus is Status as the database has it, for a process that does not run the projections and changes nothing. Rates and
// times are unknown. A projection that was never made is Unwritten at the zero position. Errors: *ForeignLogError, or of
// the database or the log.
func StoredStatus(ctx context.Context, db bun.IDB, log Log, projections ...Projection) ([]Status, error) {
	if err := createStateTables(ctx, db); err != nil {
		return nil, err
	}
	logID, err := log.LogID(ctx)
	if err != nil {
		return nil, err
	}
	parked, err := countParked(ctx, db)
	if err != nil {
		return nil, err
	}
	claims, err := readClaims(ctx, db)
	if err != nil {
		return nil, err
	}
	list := make([]Status, len(projections))
	for i, p := range projections {
		row := stateRow{Name: p.Name, Version: p.Version, LogID: logID, Phase: phaseRunning}
		if err := db.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if row.LogID != logID {
			return nil, &ForeignLogError{Projection: p.id(), Built: row.LogID, Given: logID}
		}
		head, err := log.Head(ctx) // after the checkpoint, which moves only to what the log holds
		if err != nil {
			return nil, err
		}
		w := worker{Projection: p, now: time.Now, readyFrom: head, position: positionOf(row), phase: Standby, seen: seen{row.Phase, row.Reason, claims[p.id()]}}
		if row.Phase != phaseBeyond && head.Less(w.position) {
			beyond := &BeyondLogError{Projection: p.Name, Position: w.position, Head: head}
			w.seen.phase, w.seen.reason = phaseBeyond, beyond.Error()
		}
		list[i] = w.status(head)
		if list[i].Phase == Standby {
			list[i].Phase = Running // in the process that writes it
		}
		list[i].Parked = parked[p.id()]
	}
	return list, nil
}

// countParked is how many events each version of a projection has parked, by its id; one that has none is left out.
func countParked(ctx context.Context, db bun.IDB) (map[string]int64, error) {
	var rows []struct {
		Name    string
		Version int
		Parked  int64
	}
	err := db.NewSelect().Model((*parkedRow)(nil)).Column("name", "version").ColumnExpr("count(*) AS parked").Group("name", "version").Scan(ctx, &rows)
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[Projection{Name: row.Name, Version: row.Version}.id()] = row.Parked
	}
	return counts, err
}

// Building returns the state of the projections that are not ready, without asking the log or the
// database: Head is the position from which each is ready, and Parked is not counted.
func (e *Engine) Building() []Status {
	var list []Status
	for _, w := range e.workers {
		if w.paused() || w.ready() {
			continue
		}
		w.mu.Lock()
		target := w.readyFrom
		w.mu.Unlock()
		list = append(list, w.status(target))
	}
	return list
}

// Ready tells whether every projection has reached what the log held when this
// process started, or when it was last built anew, and goes on from there; a paused one counts as asked for.
func (e *Engine) Ready() bool {
	for _, w := range e.workers {
		if !w.paused() && !w.ready() {
			return false
		}
	}
	return true
}

// IsReady tells whether the named projection is; one that is paused or halted is ready once it had been: what it holds
// is complete up to where it stands.
func (e *Engine) IsReady(name string) bool {
	w := e.byName[name]
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.position.Less(w.readyFrom)
}

func (w *worker) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	phase, _, _ := w.shown()
	return phase != Halted && !w.position.Less(w.readyFrom)
}

func (w *worker) status(head event.Position) Status {
	ready := w.ready()
	w.mu.Lock()
	defer w.mu.Unlock()
	phase, reason, writer := w.shown()
	s := Status{Name: w.Name, Version: w.Version, Phase: phase, Reason: reason, Writer: writer, Position: w.position, Head: head, Ready: ready}
	if w.position.Less(head) {
		s.Lag = head.Commit - w.position.Commit
	}
	target := head
	if !ready {
		target = w.readyFrom
	}
	s.Percent = 100
	if w.position.Less(target) {
		s.Percent = 100 * float64(w.position.Commit) / float64(target.Commit)
	}
	if phase == Halted || w.position.Less(target) {
		const shown = 99.9 // of what is not there yet, however little is left
		s.Percent = min(shown, s.Percent)
	}
	var units float64
	s.Rate, units = w.meter.rates(w.now())
	stands := phase == Halted || phase == Paused || phase == Unwritten // it goes nowhere, whatever its rate was
	switch {
	case s.Lag == 0 && phase != Halted:
	case stands, units == 0:
		s.ETA = -1
	default:
		s.ETA = float64(s.Lag) / units
	}
	return s
}

// meter measures rates over the last one to two meterWindows.
type meter struct{ previousWindow, currentWindow, latest sample }

type sample struct {
	at       time.Time
	position uint64
	events   int
}

const meterWindow = 5 * time.Second

// record counts events on the way to a position; a move without events starts anew.
func (m *meter) record(now time.Time, p event.Position, events int) {
	m.latest = sample{now, p.Commit, m.latest.events + events}
	switch {
	case m.currentWindow.at.IsZero() || events == 0:
		m.previousWindow, m.currentWindow = m.latest, m.latest
	case now.Sub(m.currentWindow.at) >= meterWindow:
		m.previousWindow, m.currentWindow = m.currentWindow, m.latest
	}
}

// rates are events and log units per second.
func (m *meter) rates(now time.Time) (events, units float64) {
	passed := now.Sub(m.previousWindow.at).Seconds()
	if m.previousWindow.at.IsZero() || passed <= 0 {
		return 0, 0
	}
	return float64(m.latest.events-m.previousWindow.events) / passed, float64(m.latest.position-m.previousWindow.position) / passed
}
