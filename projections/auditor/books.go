package auditor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/audit"
	"reckon/domain/event"
)

// The tables in which projections and reactions keep how far they are. No log makes their rows, but it bounds what they can say: a
// checkpoint is a position of the log, and what is parked is one of its events.
const (
	tableState          = "projection_state"
	tableParked         = "projection_parked"
	tableWriters        = "projection_writers"
	tableReactions      = "reaction_state"
	tableReactionParked = "reaction_parked"
)

// bookKeys are the columns that make the key of a row, in the order in which a finding shows them, and bookColumns the forms of columns.
var (
	bookKeys = map[string][]string{
		tableState: {"name", "version"}, tableParked: {"name", "version", "stream", "revision"}, tableWriters: {"name", "version"},
		tableReactions: {"name", "log_id"}, tableReactionParked: {"reaction", "event_id"},
	}
	bookColumns = map[string]map[string]form{
		tableState:          {"name": text, "version": count, "log_id": text, "position": count, "prepare": count, "phase": phase, "reason": text, "tables": text},
		tableParked:         {"name": text, "version": count, "stream": text, "revision": count, "position": count, "event_id": text, "event_name": text, "reason": text, "parked_at": moment},
		tableWriters:        {"name": text, "version": count, "process": text, "seen": number, "quiet": truth},
		tableReactions:      {"name": text, "log_id": text, "position": count, "prepare": count},
		tableReactionParked: {"reaction": text, "event_id": text, "stream": text, "revision": count, "event_name": text, "reason": text, "parked_at": moment},
	}
)

// form tells whether a column's value is of its form, and names the form.
type form struct {
	name string
	is   func(any) bool
}

var (
	text  = form{"a text", func(v any) bool { _, is := v.(string); return is }}
	count = form{"a number from 0", func(v any) bool { n, is := v.(int64); return is && n >= 0 }}
	// number is seconds since 1970, as a float on both databases.
	number = form{"a number", func(v any) bool { n, is := v.(float64); return is && !math.IsInf(n, 0) && !math.IsNaN(n) }}
	truth  = form{"true or false", func(v any) bool {
		_, is := v.(bool)
		return is || v == int64(0) || v == int64(1)
	}}
	moment = form{"a time", func(v any) bool {
		if _, is := v.(time.Time); is {
			return true
		}
		written, is := v.(string)
		_, err := time.Parse("2006-01-02 15:04:05.999999999Z07:00", written)
		return is && err == nil
	}}
	phases = []string{"running", "paused", "halted", "beyond"}
	phase  = form{"one of " + strings.Join(phases, ", "), func(v any) bool { s, is := v.(string); return is && slices.Contains(phases, s) }}
)

// bookRow is a row whose columns all have their forms.
type bookRow struct {
	table, key string
	columns    map[string]any
	seen       bool // the event that a parked row names was read
}

func (r *bookRow) text(column string) string { s, _ := r.columns[column].(string); return s }

func (r *bookRow) count(column string) uint64 {
	n, _ := r.columns[column].(int64)
	return uint64(n) //nolint:gosec // its form has no sign
}

// eventPlace is an event by stream and revision.
type eventPlace struct {
	stream   string
	revision event.Revision
}

// books compares these tables with the log. It holds their rows: one of each projection and reaction, and one of each parked event.
type books struct {
	made     map[string]string // tables of each projection that this binary has, by bookKey
	rows     []*bookRow
	parked   map[eventPlace][]*bookRow
	findings []audit.Finding
}

func bookKey(parts ...string) string { return strings.Join(parts, " ") }

// readBooks reads the tables that are there.
func readBooks(ctx context.Context, db bun.IDB, made map[string]string) (*books, error) {
	b := &books{made: made, parked: map[eventPlace][]*bookRow{}}
	for _, table := range slices.Sorted(maps.Keys(bookKeys)) {
		if err := b.read(ctx, db, table); err != nil {
			return nil, fmt.Errorf("table %s: %w", table, err)
		}
	}
	return b, nil
}

func (b *books) read(ctx context.Context, db bun.IDB, table string) (err error) {
	query := "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"
	if db.Dialect().Name() == dialect.PG {
		query = "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?)"
	}
	var there bool
	if err := db.NewRaw(query, table).Scan(ctx, &there); err != nil || !there {
		return err
	}
	columns := slices.Sorted(maps.Keys(bookColumns[table]))
	selected := make([]string, len(columns))
	for i, column := range columns {
		// SQLite has no type for times, and its driver makes one of any text in such a column
		if selected[i] = column; db.Dialect().Name() == dialect.SQLite && bookColumns[table][column].name == moment.name {
			selected[i] = "CAST(" + column + " AS TEXT)"
		}
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(selected, ", ")+" FROM "+table+" ORDER BY "+strings.Join(bookKeys[table], ", "))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := b.scan(rows, table, columns); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (b *books) scan(rows *sql.Rows, table string, columns []string) error {
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	r := &bookRow{table: table, columns: map[string]any{}}
	for i, column := range columns {
		if bytes, is := values[i].([]byte); is {
			values[i] = string(bytes)
		}
		r.columns[column] = values[i]
	}
	for i, column := range bookKeys[table] {
		if i > 0 {
			r.key += " "
		}
		r.key += fmt.Sprint(r.columns[column])
	}
	whole := true
	for _, column := range columns {
		if wanted := bookColumns[table][column]; !wanted.is(r.columns[column]) {
			whole = false
			b.differs(r, column, wanted.name, fmt.Sprintf("%v", r.columns[column]))
		}
	}
	if !whole {
		return nil
	}
	b.rows = append(b.rows, r)
	if table == tableParked || table == tableReactionParked {
		place := eventPlace{r.text("stream"), event.Revision(r.count("revision"))} //nolint:gosec // read from an int64
		b.parked[place] = append(b.parked[place], r)
	}
	return nil
}

func (b *books) found(kind audit.Kind, r *bookRow, column, expected, found string) {
	if len(b.findings) < maxDifferences {
		b.findings = append(b.findings, audit.Complete(audit.CheckTables, kind, audit.Finding{Revision: -1, Table: r.table, Key: r.key, Column: column}, expected, found))
	}
}

func (b *books) differs(r *bookRow, column, expected, found string) {
	if expected != found {
		b.found(audit.KindRow, r, column, expected, found)
	}
}

// take compares the rows that say that an event is parked with the event.
func (b *books) take(it *audit.Item) {
	if len(b.parked) == 0 {
		return
	}
	for _, r := range b.parked[eventPlace{it.Stream, it.Revision}] {
		r.seen = true
		b.differs(r, "event_id", it.ID, r.text("event_id"))
		b.differs(r, "event_name", it.Name, r.text("event_name"))
		if r.table == tableParked {
			b.differs(r, "position", strconv.FormatUint(it.Position.Commit, 10), strconv.FormatUint(r.count("position"), 10))
		}
	}
}

// compare returns what is wrong, when the log was read to its end.
func (b *books) compare(logID string, end uint64) []audit.Finding {
	states, owners := map[string]bool{}, map[string]string{}
	for _, r := range b.rows {
		switch r.table {
		case tableState:
			states[r.key] = true
			b.compareState(r, logID, end, owners)
		case tableReactions:
			b.compareCheckpoint(r, logID, end)
		}
	}
	for _, r := range b.rows {
		switch {
		case (r.table == tableParked || r.table == tableReactionParked) && !r.seen:
			b.found(audit.KindRowExtra, r, "", "no row: the log has no such event", "a row")
		case r.table == tableParked || r.table == tableWriters:
			if of := bookKey(r.text("name"), fmt.Sprint(r.count("version"))); !states[of] {
				b.found(audit.KindRowExtra, r, "", "no row: "+tableState+" has none of that version", "a row")
			}
		}
	}
	return b.findings
}

// compareState compares a projection's row: its tables are those that this binary makes, and nobody else's. Its log and position are
// compared with those of its tables, where this binary has them.
func (b *books) compareState(r *bookRow, logID string, end uint64, owners map[string]string) {
	for _, table := range strings.Split(r.text("tables"), ",") {
		if other, taken := owners[table]; taken {
			b.differs(r, "tables", "tables of its own", table+", which "+other+" has")
		}
		owners[table] = r.key
	}
	if r.text("phase") == "running" {
		b.differs(r, "reason", "", r.text("reason"))
	}
	tables, known := b.made[r.key]
	if !known {
		b.compareCheckpoint(r, logID, end)
		return
	}
	b.differs(r, "tables", tables, r.text("tables"))
	b.comparePrepare(r)
}

// compareCheckpoint compares a checkpoint that no table is compared by.
func (b *books) compareCheckpoint(r *bookRow, logID string, end uint64) {
	if r.text("log_id") != logID {
		b.found(audit.KindTableBehind, r, "log_id", "a checkpoint in log "+logID, "one in log "+r.text("log_id")+", which says nothing of this one")
		return
	}
	if at := r.count("position"); at > end {
		b.differs(r, "position", fmt.Sprintf("a position up to the log's end, %d", end), strconv.FormatUint(at, 10))
	}
	b.comparePrepare(r)
}

// comparePrepare: an event that is not part of a transaction has one position, and the service writes none that is.
func (b *books) comparePrepare(r *bookRow) {
	b.differs(r, "prepare", strconv.FormatUint(r.count("position"), 10), strconv.FormatUint(r.count("prepare"), 10))
}
