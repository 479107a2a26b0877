package engine_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

// countedLog counts the reads of the log that begin before a position.
type countedLog struct {
	engine.Log
	before event.Position
	reads  atomic.Int64
}

func (l *countedLog) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	if after.Less(l.before) {
		l.reads.Add(1)
	}
	return l.Log.SubscribeAll(ctx, after, only...)
}

// named is the shelf under another name, with a table of its own.
func named[R any](name string, row func(added) *R, key func(*R) string) engine.Projection {
	rows := engine.TableOf("key", key)
	p := engine.Projection{Name: name, Version: 1, Tables: []engine.Table{rows}}
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e added, _ event.Recorded) error {
		rows.Upsert(tx, row(e))
		return nil
	})
	return p
}

type secondRow struct {
	bun.BaseModel `bun:"table:second_v1"`

	Key string `bun:"key,pk"`
}

type thirdRow struct {
	bun.BaseModel `bun:"table:third_v1"`

	Key string `bun:"key,pk"`
}

// TestOneReadForAll: however many projections are behind at the start, and however far, the log is read once for them.
func TestOneReadForAll(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		second := named("second", func(e added) *secondRow { return &secondRow{Key: e.Key} }, func(r *secondRow) string { return r.Key })
		third := named("third", func(e added) *thirdRow { return &thirdRow{Key: e.Key} }, func(r *thirdRow) string { return r.Key })
		e, stop := f.start(third)
		for i := range 700 {
			f.append(fmt.Sprint("s", i%3), added{fmt.Sprint("early", i), "v"})
		}
		if err := e.Wait(t.Context(), "third", f.append("s0", added{"k", "v"})); err != nil {
			t.Fatal(err)
		}
		stop()
		var last event.Position
		for i := range 700 {
			last = f.append(fmt.Sprint("s", i%3), added{fmt.Sprint("late", i), "v"}, ignored{})
		}
		counted := &countedLog{Log: f.store, before: last}
		f.log = counted
		e, stop = f.start(shelf(&f.bad, engine.Halt), second, third)
		for _, name := range []string{"shelf", "second", "third"} {
			if err := e.Wait(t.Context(), name, last); err != nil {
				t.Fatal(err)
			}
		}
		for _, rows := range []any{(*thing)(nil), (*secondRow)(nil)} {
			if n, err := f.db.NewSelect().Model(rows).Count(t.Context()); err != nil || n != 1401 {
				t.Errorf("%d rows, %v", n, err)
			}
		}
		if n := counted.reads.Load(); n != 1 {
			t.Errorf("the log was read %d times", n)
		}
		stop()
	})
}

func indexExists(t *testing.T, db *bun.DB, name string) bool {
	t.Helper()
	query := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND name = ?"
	if db.Dialect().Name() == dialect.PG {
		query = "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ?"
	}
	var n int
	if err := db.NewRaw(query, name).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// TestIndexesAfterTheLoad: the indexes of a table are made once it is filled, in the transaction that makes it ready, also
// when the process that began to fill it is not the one that ends it; those of an empty log's at once.
func TestIndexesAfterTheLoad(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		const index = "shelf_v1_value"
		_, stop := f.start(shelf(&f.bad, engine.Halt))
		stop()
		if !indexExists(t, f.db, index) {
			t.Error("no index on the table of an empty log")
		}
		if err := engine.TearDown(t.Context(), f.db, "shelf", 1); err != nil {
			t.Fatal(err)
		}
		f.append("s", added{"a", "1"}, added{"b", "bad"})
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.phase(e, engine.Halted)
		f.wantRows("a=1")
		if indexExists(t, f.db, index) {
			t.Error("there is an index while the table is filled")
		}
		stop()
		f.bad.Store(false)
		e, stop = f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, f.append("s", added{"c", "3"}))
		if !indexExists(t, f.db, index) {
			t.Error("no index once the table is filled")
		}
		if err := e.Boot(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.reach(e, f.append("s", added{"d", "4"}))
		if !indexExists(t, f.db, index) {
			t.Error("no index on the table built anew")
		}
		f.wantRows("a=1 b=bad c=3 d=4")
		stop()
	})
}

// TestLargeRowsEndTheBatch: a transaction ends when its rows hold much text, however few they are.
func TestLargeRowsEndTheBatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		const large, count = 1 << 20, 40
		var last event.Position
		for i := range count {
			last = f.append(fmt.Sprint("s", i%3), added{fmt.Sprint(i), "v"})
		}
		rows := engine.TableOf("key", func(r *thing) string { return r.Key })
		p := engine.Projection{Name: "shelf", Version: 1, Tables: []engine.Table{rows}}
		committed := map[event.Position]bool{}
		engine.On(&p, func(ctx context.Context, tx *engine.Tx, e added, _ event.Recorded) error {
			at, err := engine.Checkpoint(ctx, f.db, engine.Projection{Name: "shelf", Version: 1})
			committed[at] = true
			rows.Upsert(tx, &thing{Key: e.Key, Value: strings.Repeat("x", large)})
			return err
		})
		e, stop := f.start(p)
		f.reach(e, last)
		if n, err := f.db.NewSelect().Model((*thing)(nil)).Where("length(value) = ?", large).Count(t.Context()); err != nil || n != count {
			t.Errorf("%d rows, %v", n, err)
		}
		stop()
		if len(committed) < 3 { // 16 MiB each
			t.Errorf("%d MiB of rows were written in %d transactions", count, len(committed))
		}
	})
}

// escaped is a text that stores itself otherwise.
type escaped string

func (e escaped) Value() (driver.Value, error) { return "<" + string(e) + ">", nil }

type everyKind struct {
	bun.BaseModel `bun:"table:kinds_v1"`

	Key     string   `bun:"key,pk"`
	Text    string   `bun:"text,notnull"`
	Maybe   string   `bun:"maybe,nullzero"`
	Escaped escaped  `bun:"escaped,type:text,notnull"`
	Number  int64    `bun:"number,notnull"`
	Small   int      `bun:"small,nullzero"`
	Flag    bool     `bun:"flag,notnull"`
	List    []string `bun:"list,type:text,nullzero"`
}

// TestStoredAsBunStores: rows that the engine writes with its own statements hold, byte for byte, what bun writes.
func TestStoredAsBunStores(t *testing.T) {
	t.Parallel()
	db := projectiontest.Open(t, projections.Open, projectiontest.SQLite(t))
	rows := engine.TableOf("key", func(r *everyKind) string { return r.Key })
	p := engine.Projection{Name: "kinds", Version: 1, Tables: []engine.Table{rows}}
	texts := []string{"", "plain", `'quoted' "twice" \ back`, "é\u2028\U0001f600", "a\xff\xfeb", `\u0000`, "line\nfeed\ttab", "<&>"}
	stored := func(write func([]*everyKind)) string {
		if err := p.Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var all []*everyKind
		for i, text := range texts {
			all = append(all, &everyKind{Key: fmt.Sprint(i), Text: text, Maybe: text, Escaped: escaped(text), Number: int64(i) - 3, Small: i % 2, Flag: i%3 == 0})
			all = append(all, &everyKind{Key: fmt.Sprint("list", i), List: []string{text, "\x00", "second"}})
		}
		write(all)
		var dump []string
		for _, column := range []string{"key", "text", "maybe", "escaped", "number", "small", "flag", "list"} {
			var values []string
			if err := db.NewRaw("SELECT typeof(?0) || ' ' || coalesce(hex(?0), '') FROM kinds_v1 ORDER BY key", bun.Ident(column)).Scan(t.Context(), &values); err != nil {
				t.Fatal(err)
			}
			dump = append(dump, column+": "+strings.Join(values, ", "))
		}
		if _, err := db.NewDropTable().Model((*everyKind)(nil)).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		return strings.Join(dump, "\n")
	}
	byBun := stored(func(all []*everyKind) {
		if _, err := db.NewInsert().Model(&all).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	for _, times := range []int{1, 2} { // inserted, and replaced by the same
		byEngine := stored(func(all []*everyKind) {
			for range times {
				err := engine.InTx(t.Context(), db, func(_ context.Context, tx *engine.Tx) error {
					for _, row := range all {
						rows.Upsert(tx, row)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if byEngine != byBun {
			t.Errorf("the engine stores\n%s\nbun stores\n%s", byEngine, byBun)
		}
	}
	err := engine.InTx(t.Context(), db, func(_ context.Context, tx *engine.Tx) error {
		rows.Upsert(tx, &everyKind{Key: "k", Text: "a\x00b"})
		return nil
	})
	if err == nil {
		t.Error("a text with U+0000 was stored on SQLite, and PostgreSQL cannot hold it")
	}
}

// TestBuiltAsBunStores: rows that are written while a projection is built hold, byte for byte, what bun writes: on PostgreSQL they are copied.
func TestBuiltAsBunStores(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		texts := []string{"", "plain", `'quoted' "twice" \ back`, "é\u2028\U0001f600", "a\xff\xfeb", `\u0000`, "line\nfeed\ttab", "<&>"}
		all := map[string]*everyKind{}
		var last event.Position
		for i, text := range texts {
			all[fmt.Sprint(i)] = &everyKind{Key: fmt.Sprint(i), Text: text, Maybe: text, Escaped: escaped(text), Number: int64(i) - 3, Small: i % 2, Flag: i%3 == 0}
			all[fmt.Sprint("list", i)] = &everyKind{Key: fmt.Sprint("list", i), List: []string{text, "\x00", "second"}}
			last = f.append("s", added{fmt.Sprint(i), "v"}, added{fmt.Sprint("list", i), "v"})
		}
		rows := engine.TableOf("key", func(r *everyKind) string { return r.Key })
		p := engine.Projection{Name: "kinds", Version: 1, Tables: []engine.Table{rows}}
		engine.On(&p, func(_ context.Context, tx *engine.Tx, e added, _ event.Recorded) error {
			rows.Upsert(tx, all[e.Key])
			return nil
		})
		e, stop := f.start(p)
		if err := e.Wait(t.Context(), "kinds", last); err != nil {
			t.Fatal(err)
		}
		stop()
		built := projectiontest.Dump(t, f.db, p)
		if _, err := f.db.NewDelete().Model((*everyKind)(nil)).Where("TRUE").Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, row := range all {
			if _, err := f.db.NewInsert().Model(row).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if byBun := projectiontest.Dump(t, f.db, p); built != byBun || len(all) != 2*len(texts) {
			t.Errorf("built:\n%s\nbun stores\n%s", built, byBun)
		}
	})
}

// Environment of the process of TestKilledBoot, which is this test's binary.
const (
	bootLogVariable      = "ENGINE_TEST_LOG"
	bootDatabaseVariable = "ENGINE_TEST_DATABASE"
)

func TestMain(m *testing.M) {
	if os.Getenv(bootLogVariable) == "" {
		os.Exit(m.Run())
	}
	if err := bootInThisProcess(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func shelfStore(ctx context.Context, folder string) (*eventstore.Store, func(), error) {
	n, err := node.Open(node.Config{Dir: folder, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	catalogue, err := event.NewCatalogue([]event.Type{event.Of(added{}), event.Of(changed{}), event.Of(removed{}), event.Of(ignored{})})
	if err != nil {
		return nil, nil, err
	}
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: n.ConnectionString(), Catalogue: catalogue})
	return store, func() {
		store.Close()
		_ = n.Close(context.WithoutCancel(ctx)) // the process ends
	}, err
}

func bootInThisProcess() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, closeStore, err := shelfStore(ctx, os.Getenv(bootLogVariable))
	if err != nil {
		return err
	}
	defer closeStore()
	db, err := projections.Open(ctx, os.Getenv(bootDatabaseVariable))
	if err != nil {
		return err
	}
	e, err := engine.New(ctx, engine.Config{DB: db, Log: store}, shelf(new(atomic.Bool), engine.Halt))
	if err != nil {
		return err
	}
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	go func() { _ = e.Run(ctx) }() // Wait reports what matters
	return e.Wait(ctx, "shelf", head)
}

// TestKilledBoot: a process that is killed again and again while it builds a table leaves, in the end, the rows and the
// indexes of one that was left alone.
func TestKilledBoot(t *testing.T) {
	t.Parallel()
	log := t.TempDir()
	store, closeStore, err := shelfStore(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for s := range 16 {
		group.Go(func() {
			at := event.NoStream
			for i := range 30 {
				var proposed []event.Proposed
				for j := range 20 {
					var e event.Event = added{fmt.Sprint(s, "-", i*7%50, "-", j), fmt.Sprint(i)}
					if j%5 == 4 {
						e = changed{fmt.Sprint(s, "-", i%50, "-", j-1), fmt.Sprint("c", i)}
					}
					proposed = append(proposed, event.Proposed{ID: uuid.NewString(), Event: e, Metadata: event.Metadata{At: time.Unix(int64(i), 0).UTC()}})
				}
				appended, err := store.Append(t.Context(), fmt.Sprint("s", s), at, proposed)
				if err != nil {
					t.Error(err)
					return
				}
				at = appended.Revision
			}
		})
	}
	group.Wait()
	closeStore()
	for name, address := range databaseAddresses(t) {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			boot := func(address string) *exec.Cmd {
				command := exec.CommandContext(t.Context(), self)
				command.Env = append(os.Environ(), bootLogVariable+"="+log, bootDatabaseVariable+"="+address)
				command.Stderr = os.Stderr
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				return command
			}
			alone, killed := address(t), address(t)
			if err := boot(alone).Wait(); err != nil {
				t.Fatal(err)
			}
			p := shelf(new(atomic.Bool), engine.Halt)
			db := projectiontest.Open(t, projections.Open, killed)
			kills := 0
			for done := false; !done; {
				before := checkpointOf(db, p)
				command := boot(killed)
				ended := make(chan error, 1)
				go func() { ended <- command.Wait() }()
				for waiting := true; waiting; {
					select {
					case err := <-ended:
						if err != nil {
							t.Fatal(err)
						}
						waiting, done = false, true
					default:
						if before.Less(checkpointOf(db, p)) {
							_ = command.Process.Kill() // it may have ended
							if err := <-ended; err != nil {
								kills++
							} else {
								done = true
							}
							waiting = false
						}
					}
				}
			}
			if kills < 2 {
				t.Errorf("killed %d times only", kills)
			}
			want := projectiontest.Dump(t, projectiontest.Open(t, projections.Open, alone), p)
			if got := projectiontest.Dump(t, db, p); got != want {
				t.Error("a killed boot leaves other rows")
			}
			if !indexExists(t, db, "shelf_v1_value") {
				t.Error("a killed boot leaves no index")
			}
		})
	}
}

// checkpointOf is the zero position while there is none.
func checkpointOf(db *bun.DB, p engine.Projection) event.Position {
	at, err := engine.Checkpoint(context.Background(), db, p)
	if err != nil {
		return event.Position{}
	}
	return at
}

func databaseAddresses(testing.TB) map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database}
}
