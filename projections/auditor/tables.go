package auditor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reckon/domain/audit"
	"reckon/domain/event"
	"reckon/internal/private"
	"reckon/projections"
	"reckon/projections/engine"
)

// maxDifferences bounds what is reported of tables; a table that is wholly another's differs in every row.
const maxDifferences = 1000

// tables compares read models with what their projections make of the log, in a SQLite file of its own.
type tables struct {
	replay *engine.Replay
	books  *books
	close  []func() error
}

// openTables begins the comparison. address is that of the database; blobs holds the texts that rows have.
func openTables(ctx context.Context, address string, blobs event.BlobReader) (t *tables, err error) {
	t = &tables{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	have, err := projections.OpenForReading(ctx, address)
	if err != nil {
		return t, err
	}
	t.close = append(t.close, have.Close)
	folder, err := private.MakeTemporaryFolder("reckon-audit-")
	if err != nil {
		return t, err
	}
	t.close = append(t.close, func() error { return os.RemoveAll(folder) })
	fresh, err := projections.Open(ctx, "sqlite:"+filepath.Join(folder, "readmodels.db"))
	if err != nil {
		return t, err
	}
	t.close = append(t.close, fresh.Close)
	models := projections.New(fresh, blobs).All()
	if t.replay, err = engine.NewReplay(ctx, fresh, have, models...); err != nil {
		return t, fmt.Errorf("read models: %w", err)
	}
	t.close = append(t.close, t.replay.Close)
	made := map[string]string{}
	for _, m := range models {
		made[bookKey(m.Name, fmt.Sprint(m.Version))] = strings.Join(m.TableNames(fresh), ",")
	}
	t.books, err = readBooks(ctx, t.replay.Reading(), made)
	return t, err
}

// Close removes what was made, last things first.
func (t *tables) Close() error {
	var errs []error
	for i := len(t.close) - 1; i >= 0; i-- {
		errs = append(errs, t.close[i]())
	}
	t.close = nil
	return errors.Join(errs...)
}

// kindsOfDifferences are the kinds of findings of differences.
var kindsOfDifferences = map[engine.DifferenceKind]audit.Kind{
	engine.Differs: audit.KindRow, engine.Missing: audit.KindRowMissing, engine.Extra: audit.KindRowExtra, engine.State: audit.KindTableState, engine.Behind: audit.KindTableBehind,
}

// errEnough ends a comparison that has found enough.
var errEnough = errors.New("enough differences")

// compare returns the differences as findings. logCopy is the log to which this one was handed over, empty when it was not: tables of
// that log, or of one that came after it, are not compared.
func (t *tables) compare(ctx context.Context, logID, logCopy string, end uint64) (findings []audit.Finding, compared bool, err error) {
	if ids := t.replay.LogIDs(); logCopy != "" && len(ids) > 0 && !slices.Contains(ids, logID) {
		have := fmt.Sprintf("of log %s; this log was migrated, and became log %s", strings.Join(ids, ", "), logCopy)
		return []audit.Finding{audit.Complete(audit.CheckTables, audit.KindTableOfCopy, audit.Finding{Revision: -1}, "tables of log "+logID, have)}, false, nil
	}
	err = t.replay.Compare(ctx, logID, event.Position{Commit: end, Prepare: end}, func(d engine.Difference) error {
		table := d.Table
		if table == "" {
			table = d.Projection
		}
		place := audit.Finding{Revision: -1, Table: table, Key: d.Key, Column: d.Column}
		if findings = append(findings, audit.Complete(audit.CheckTables, kindsOfDifferences[d.Kind], place, d.Want, d.Have)); len(findings) == maxDifferences {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		findings = append(findings, audit.Complete(audit.CheckTables, audit.KindRow, audit.Finding{Revision: -1, Table: "more"}, "no more differences", fmt.Sprintf("the comparison ended after %d", maxDifferences)))
		err = nil
	}
	return append(findings, t.books.compare(logID, end)...), true, err
}
