//go:build bench

package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"reckon/internal/database"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

// copyRatioGoal is the least that building read models from the log is to be of copying the same rows.
const copyRatioGoal = 0.5

// BenchmarkRebuildAgainstCopy measures building all read models in PostgreSQL from the log of an embedded node, as a ratio to COPY of the
// same rows into the same empty tables, whose indexes are made afterwards as a rebuild makes them: 1 would mean that reading,
// decoding and applying the events cost nothing. Both take turns; the best of -boot.rounds counts.
func BenchmarkRebuildAgainstCopy(b *testing.B) {
	store, events := bootLog(b)
	db := projectiontest.Open(b, projections.Open, pgtest.Database(b))
	models := projections.New(db, nil).All()
	for b.Loop() {
		const never = time.Duration(1 << 62)
		boot, bootCores, read := never, never, never
		copied := copying{clock: never, cores: never, withoutIndexes: never}
		for range *bootRounds {
			used := serverTime(b, db)
			took, processor := bootOnce(b, db, store, true)
			boot, bootCores = min(boot, took), min(bootCores, processor+serverTime(b, db)-used)
			read = min(read, readOnly(b, store))
			copied = copied.best(copyTables(b, db, models))
		}
		b.ReportMetric(float64(events)/boot.Seconds(), "events/s")
		b.ReportMetric(float64(events)/read.Seconds(), "read-events/s")
		b.ReportMetric(float64(copied.rows), "rows")
		b.ReportMetric(boot.Seconds(), "boot-s")
		b.ReportMetric(bootCores.Seconds(), "boot-processor-s")
		b.ReportMetric(copied.clock.Seconds(), "copy-s")
		b.ReportMetric(copied.cores.Seconds(), "copy-processor-s")
		b.ReportMetric(copied.withoutIndexes.Seconds(), "copy-without-indexes-s")
		ratio := copied.clock.Seconds() / boot.Seconds()
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(copied.cores.Seconds()/bootCores.Seconds(), "processor-ratio")
		b.ReportMetric(0, "ns/op")
		if ratio < copyRatioGoal {
			b.Logf("a rebuild is %.2f of COPY of the same rows; goal %.2f", ratio, copyRatioGoal)
		}
	}
}

// copying is what COPY of all tables takes.
type copying struct {
	rows                  int
	clock, withoutIndexes time.Duration
	cores                 time.Duration // processor time of this process and the server
}

func (c copying) best(other copying) copying {
	return copying{other.rows, min(c.clock, other.clock), min(c.withoutIndexes, other.withoutIndexes), min(c.cores, other.cores)}
}

// serverTime is the processor time that a PostgreSQL server of this machine has used: of its first process, of those that it has, and of
// those that have ended. proc(5) has it in hundredths of a second.
func serverTime(b *testing.B, db *bun.DB) time.Duration {
	b.Helper()
	var folder string
	if err := db.NewRaw("SHOW data_directory").Scan(b.Context(), &folder); err != nil {
		b.Fatal(err)
	}
	noted, err := os.ReadFile(filepath.Join(folder, "postmaster.pid"))
	if err != nil {
		b.Fatal(err)
	}
	server, _, _ := strings.Cut(string(noted), "\n")
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	hundredths := 0
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after) // from the third of the page on: the parent is the fourth, times are 14 to 17
		own := strings.HasPrefix(string(stat), server+" ")
		if !own && fields[1] != server {
			continue
		}
		last := 12
		if own {
			last = 14
		}
		for _, field := range fields[11 : last+1] {
			n, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			hundredths += n
		}
	}
	return time.Duration(hundredths) * 10 * time.Millisecond
}

// copyTables copies what all tables hold into the same tables, made anew: each in one transaction, in PostgreSQL's binary format.
func copyTables(b *testing.B, db *bun.DB, models []engine.Projection) (all copying) {
	b.Helper()
	ctx := b.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it has done its work, or the benchmark fails
	onServer := func(f func(*pgconn.PgConn) error) {
		if err := conn.Raw(func(raw any) error { return f(database.Unwrapped(raw).(*stdlib.Conn).Conn().PgConn()) }); err != nil {
			b.Fatal(err)
		}
	}
	for _, p := range models {
		var contents []*bytes.Buffer
		for _, table := range p.TableNames(db) {
			content := &bytes.Buffer{}
			onServer(func(c *pgconn.PgConn) error {
				tag, err := c.CopyTo(ctx, content, `COPY "`+table+`" TO STDOUT (FORMAT binary)`)
				all.rows += int(tag.RowsAffected())
				return err
			})
			contents = append(contents, content)
			if err := engine.DropTable(ctx, db, table); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Create(ctx, db); err != nil {
			b.Fatal(err)
		}
		dropIndexes(b, db)
		begin, used := time.Now(), processorTime(b)+serverTime(b, db)
		for i, table := range p.TableNames(db) {
			onServer(func(c *pgconn.PgConn) error { return copyFrom(ctx, c, table, contents[i]) })
		}
		all.withoutIndexes += time.Since(begin)
		if err := p.Create(ctx, db); err != nil {
			b.Fatal(err)
		}
		all.clock += time.Since(begin)
		all.cores += processorTime(b) + serverTime(b, db) - used
	}
	return all
}

func copyFrom(ctx context.Context, c *pgconn.PgConn, table string, content *bytes.Buffer) error {
	_, err := c.CopyFrom(ctx, content, `COPY "`+table+`" FROM STDIN (FORMAT binary)`)
	if err != nil {
		return errors.Join(errors.New(table), err)
	}
	return nil
}
