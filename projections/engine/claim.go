package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/internal/database"
)

const (
	// claimInterval is how often a process reports which projections it writes, claimLease how long a report holds.
	claimInterval = 5 * time.Second
	claimLease    = 4 * claimInterval
	// claimReadInterval is the least time between two looks at who writes a projection.
	claimReadInterval = time.Second
)

// claimRow says which process writes a projection. It is there to be told to people, and for processes in standby;
// what keeps two processes from writing the same projection is the checkpoint (moveCheckpoint).
type claimRow struct {
	bun.BaseModel `bun:"table:projection_writers,alias:w"`

	Name    string  `bun:"name,pk"`
	Version int     `bun:"version,pk"`
	Process string  `bun:"process,notnull"`
	Seen    float64 `bun:"seen,notnull"`  // of the last report, in seconds since 1970 by the database's clock
	Quiet   bool    `bun:"quiet,notnull"` // no report can be made for a while: SQLite has one transaction at a time
}

// claim is who writes a projection, as another process sees it.
type claim struct {
	Process string // empty: nobody ever has
	Quiet   bool
	Age     float64 // of the last report, in seconds
}

func (c claim) inForce() bool { return c.Process != "" && c.Age < claimLease.Seconds() }

// nobody says that a projection is not written, and what to do.
func (c claim) nobody() string {
	const advice = "start a server with the role project"
	age := time.Duration(c.Age * float64(time.Second)).Round(time.Second)
	switch {
	case c.Process == "":
		return "nobody writes it: " + advice
	case c.Quiet:
		return fmt.Sprintf("%s was making indexes when it was last seen, %s ago, and cannot report meanwhile; if it does not run any more, %s", c.Process, age, advice)
	}
	return fmt.Sprintf("nobody writes it (last: %s, not seen for %s): %s", c.Process, age, advice)
}

// databaseNow is the database's clock as SQL, in seconds since 1970: clocks of processes may differ.
func databaseNow(db bun.IDB) string {
	if db.Dialect().Name() == dialect.PG {
		return "EXTRACT(EPOCH FROM clock_timestamp())"
	}
	return "((julianday('now') - 2440587.5) * 86400.0)"
}

// readClaims reads who writes each version of a projection, by its id.
func readClaims(ctx context.Context, db bun.IDB) (map[string]claim, error) {
	var rows []struct {
		Name    string
		Version int
		Process string
		Quiet   bool
		Age     float64
	}
	err := db.NewRaw("SELECT name, version, process, quiet, "+databaseNow(db)+" - seen AS age FROM projection_writers").Scan(ctx, &rows)
	claims := make(map[string]claim, len(rows))
	for _, r := range rows {
		claims[Projection{Name: r.Name, Version: r.Version}.id()] = claim{r.Process, r.Quiet, r.Age}
	}
	return claims, err
}

// writeClaim reports that a process writes a projection, and returns whether it is the one that does: with taken whoever
// did before, otherwise only if nobody else's claim is in force.
func writeClaim(ctx context.Context, db bun.IDB, p Projection, process string, taken, quiet bool) (held bool, err error) {
	result, err := db.NewRaw("INSERT INTO projection_writers (name, version, process, seen, quiet) VALUES (?, ?, ?, "+databaseNow(db)+", ?) "+
		"ON CONFLICT (name, version) DO UPDATE SET process = excluded.process, seen = excluded.seen, quiet = excluded.quiet "+
		"WHERE ? OR projection_writers.process = excluded.process OR projection_writers.seen < excluded.seen - ?",
		p.Name, p.Version, process, quiet, taken, claimLease.Seconds()).Exec(ctx)
	if err != nil {
		return false, err
	}
	written, err := result.RowsAffected()
	return written > 0, err
}

// reportClaims keeps the claims of the projections that this process writes, and ends the transactions of processes that are silent, until the context
// ends; then it gives the claims up.
func (e *Engine) reportClaims(ctx context.Context) {
	ticker := time.NewTicker(claimInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := e.reportOnce(ctx); err != nil && ctx.Err() == nil {
			e.logger.Debug("who writes the projections was not reported", "error", err)
		}
		if ended, err := database.EndSilent(ctx, e.db); err != nil && ctx.Err() == nil {
			e.logger.Debug("silent transactions were not looked for", "error", err)
		} else if ended > 0 {
			e.logger.Warn("transactions were ended whose processes are cut off or frozen", "transactions", ended)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := e.db.NewDelete().Model((*claimRow)(nil)).Where("process = ?", e.process).Exec(ending); err != nil {
		e.logger.Debug("who writes the projections was not reported", "error", err)
	}
}

func (e *Engine) reportOnce(ctx context.Context) error {
	for _, w := range e.workers {
		if phase, _ := w.currentPhase(); phase == Standby {
			continue
		}
		held, err := writeClaim(ctx, e.db, w.Projection, e.process, false, false)
		if err != nil {
			return err
		}
		w.claims.Store(held)
	}
	return nil
}

// claimTaken claims the projection for this process, which has just moved its checkpoint. Who writes it is reported again
// if that fails.
func (w *worker) claimTaken(ctx context.Context) {
	if w.claims.Load() {
		return
	}
	if held, err := writeClaim(ctx, w.db, w.Projection, w.processName, true, false); err == nil {
		w.claims.Store(held)
	}
}

// announceQuiet reports that indexes are about to be made in a transaction during which SQLite takes no report.
func (w *worker) announceQuiet(ctx context.Context) error {
	if w.db.Dialect().Name() != dialect.SQLite {
		return nil
	}
	_, err := writeClaim(ctx, w.db, w.Projection, w.processName, true, true)
	return err
}

// seen is what a process that does not write a projection knows of it.
type seen struct {
	phase  storedPhase
	reason string
	claim  claim
}

// shown is the phase of a projection for people, the reason for it, and the process that writes it; "" is nobody.
func (s seen) shown() (phase Phase, reason, writer string) {
	if s.claim.inForce() {
		writer = s.claim.Process
	}
	switch s.phase {
	case "": // not read yet
		return Starting, "", ""
	case phasePaused:
		return Paused, s.reason, writer
	case phaseHalted, phaseBeyond:
		return Halted, s.reason, writer
	}
	if writer == "" {
		return Unwritten, s.claim.nobody(), ""
	}
	return Standby, "", writer
}
