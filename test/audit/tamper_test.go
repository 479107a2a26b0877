package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
	"reckon/projections"
	"reckon/projections/auditor"
	"reckon/projections/engine"
)

var (
	tamperings = flag.Int("audit.tamperings", 150, "how many random tamperings; 1,000 and more for a release")
	seed       = flag.Uint64("audit.seed", 21, "of the random choices")
)

// every is the distance between the anchors that somebody keeps elsewhere.
const every = 8

// installation is a true log with its blobs and read models on disk.
type installation struct {
	folder string
	log    *audittest.Log
	stored []audit.Stored
	disk   *disk
	named  string // the log's id as read models have it
	export []byte // of the disk
	keys   map[string]ed25519.PublicKey
}

var logID = uuid.MustParse(audittest.LogID)

func newInstallation(t testing.TB) *installation {
	t.Helper()
	i := &installation{folder: t.TempDir(), log: audittest.True(), keys: map[string]ed25519.PublicKey{}}
	i.stored = i.log.Stored(t)
	i.disk = i.write(t, filepath.Join(i.folder, "log"), i.stored)
	file := filepath.Join(i.folder, "true"+exportSuffix)
	exportTo(t, i.disk.dir, file)
	var err error
	i.export, err = os.ReadFile(file)
	must(t, err)
	kept, err := blobs.OpenFolder(filepath.Join(i.folder, "blobs"))
	must(t, err)
	for _, content := range i.log.Blobs {
		_, err := kept.Put(t.Context(), content)
		must(t, err)
	}
	for _, e := range i.log.Events {
		if published, ok := e.Event.(keys.Published); ok {
			public, err := keys.DecodeX(published.X)
			must(t, err)
			i.keys[published.KID] = public
		}
	}
	i.project(t, kept)
	return i
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (i *installation) write(t testing.TB, dir string, all []audit.Stored) *disk {
	t.Helper()
	d, err := write(dir, logID, all)
	must(t, err)
	return d
}

// past is a log that projections follow.
type past []event.Recorded

func (p past) SubscribeAll(ctx context.Context, after event.Position, _ ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		for _, r := range p {
			if after.Less(r.Position) && !yield(r, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(event.Recorded{}, ctx.Err())
	}
}

func (p past) Event(context.Context, string, event.Revision) (event.Recorded, error) {
	return event.Recorded{}, fmt.Errorf("nobody asks for one event")
}

func (p past) Head(context.Context) (event.Position, error) { return p[len(p)-1].Position, nil }

func (p past) LogID(context.Context) (string, error) {
	i := slices.IndexFunc(p, func(r event.Recorded) bool { return r.Stream == eventstore.IdentityStream })
	return p[i].ID, nil
}

// project builds the read models with the service's own engine.
func (i *installation) project(t testing.TB, kept event.BlobReader) {
	t.Helper()
	db, err := projections.Open(t.Context(), i.readModels())
	must(t, err)
	codec := eventstore.NewCodec(domain.Catalogue())
	var log past
	for _, s := range i.stored {
		recorded := event.Recorded{ID: s.ID, Stream: s.Stream, Revision: s.Revision, Position: s.Position}
		if len(s.Metadata) > 0 {
			recorded, err = codec.Decode(eventstore.Raw{ID: uuid.MustParse(s.ID), Name: s.Name, Data: s.Data, Metadata: s.Metadata, Stream: s.Stream, Revision: s.Revision, Position: s.Position})
			must(t, err)
		}
		log = append(log, recorded)
	}
	models := projections.New(db, kept).All()
	e, err := engine.New(t.Context(), engine.Config{DB: db, Log: log}, models...)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	for _, p := range models {
		must(t, e.Wait(ctx, p.Name, log[len(log)-1].Position))
	}
	stop()
	must(t, <-ended)
	last := log[len(log)-1]
	i.named, err = log.LogID(t.Context())
	must(t, err)
	reactions, err := projections.NewReactionState(t.Context(), db)
	must(t, err)
	must(t, reactions.CheckpointsOf(i.named).Save(t.Context(), "refunds", last.Position))
	must(t, reactions.Park(t.Context(), projections.ParkedReaction{Reaction: "refunds", EventID: last.ID, Stream: last.Stream, Revision: int64(last.Revision),
		EventName: last.Event.EventName(), Reason: "an error", ParkedAt: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}))
	must(t, db.Close())
}

func (i *installation) readModels() string {
	return "sqlite:" + filepath.Join(i.folder, "readmodels.db")
}

// given is what an audit is given besides the log.
type given struct {
	anchors    []eventlog.Anchor
	keys       map[string]ed25519.PublicKey
	readModels string
}

// sourceOf is the source of a log in a folder or an export.
func sourceOf(path string, anchors []eventlog.Anchor) auditor.Source {
	if strings.HasSuffix(path, exportSuffix) {
		return auditor.Export{Path: path, Anchors: anchors}
	}
	return auditor.Folder{Dir: path, Anchors: anchors}
}

func (i *installation) audit(t testing.TB, source auditor.Source, g given) auditor.Report {
	t.Helper()
	report, err := auditor.Run(t.Context(), auditor.Config{
		Source: source, Blobs: blobs.ExistingFolder(filepath.Join(i.folder, "blobs")), OutsideKeys: g.keys,
		ReadModels: g.readModels, Reader: audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal},
	})
	must(t, err)
	report.Elapsed = 0
	return report
}

// TestTheTrueInstallationIsClean: given log, blobs, tables, keys and anchors that nobody touched, nothing is found, and the files that
// this test writes are those of the format.
func TestTheTrueInstallationIsClean(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for _, f := range i.audit(t, sourceOf(i.disk.dir, i.disk.anchors(every)), given{keys: i.keys, readModels: i.readModels()}).Findings {
		t.Error(f)
	}
	report, err := eventlog.VerifyFolder(t.Context(), i.disk.dir, nil)
	if err != nil || report.Records != uint64(len(i.stored)) || report.Segments < 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// tampering is one change with the place where it must be found.
type tampering struct {
	what string
	// found tells whether a finding is about it, at its place.
	found func(audit.Finding) bool
	given given
	path  string // of the log: a folder, or an export
}

type tamperer struct {
	*installation
	t      testing.TB
	random *rand.Rand
	number int
}

func (x *tamperer) dir() string {
	x.number++
	return filepath.Join(x.folder, fmt.Sprint("tampered-", x.number))
}

// copied is a copy of the true log's files.
func (x *tamperer) copied() string {
	dir := x.dir()
	must(x.t, os.CopyFS(dir, os.DirFS(x.disk.dir)))
	return dir
}

func (x *tamperer) edit(dir, name string, change func([]byte) []byte) {
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	must(x.t, err)
	must(x.t, os.WriteFile(path, change(content), 0o600))
}

func damagedAt(position uint64) func(audit.Finding) bool {
	return damagedBy(audit.KindUnreadable, position)
}

func damagedBy(kind audit.Kind, position uint64) func(audit.Finding) bool {
	return func(f audit.Finding) bool { return f.Kind == kind && f.Position == position }
}

// rewrittenAt: the anchor after a place differs, and none before it does.
func rewrittenAt(first uint64) func(audit.Finding) bool {
	return func(f audit.Finding) bool {
		return f.Kind == audit.KindAnchor && f.Position >= first && f.Position < first+every
	}
}

// flipByte flips a bit of a byte of any file of the log.
func (x *tamperer) flipByte() tampering {
	dir := x.copied()
	var files []string
	for _, f := range x.disk.frames {
		if !slices.Contains(files, f.file) {
			files = append(files, f.file)
		}
	}
	name := append(files, "HEAD")[x.random.IntN(len(files)+1)]
	position, offset := uint64(0), 0
	x.edit(dir, name, func(b []byte) []byte {
		offset = x.random.IntN(len(b))
		b[offset] ^= 1 << x.random.IntN(8)
		return b
	})
	switch {
	case name == "HEAD":
		position = uint64(len(x.stored) + 1)
	case offset < segmentHeaderBytes:
		_, err := fmt.Sscanf(filepath.Base(name), "%d.seg", &position)
		must(x.t, err)
		position++
	default:
		for _, f := range x.disk.frames {
			if f.file == name && offset >= f.offset && offset < f.offset+f.bytes {
				position = f.position
			}
		}
	}
	return tampering{what: fmt.Sprintf("byte %d of %s", offset, name), found: damagedAt(position), path: dir}
}

// flipByteAndChecksum flips a byte of a record and makes the record's checksum right.
func (x *tamperer) flipByteAndChecksum() tampering {
	dir, at := x.copied(), x.disk.frames[x.random.IntN(len(x.disk.frames))]
	offset := at.offset + frameHeaderBytes + x.random.IntN(at.bytes-frameHeaderBytes)
	x.edit(dir, at.file, func(b []byte) []byte {
		b[offset] ^= 1 << x.random.IntN(8)
		setChecksum(b, at)
		return b
	})
	return tampering{what: fmt.Sprintf("byte %d of %s with its checksum", offset, at.file), found: damagedAt(at.position), path: dir}
}

// moveRecords removes, repeats or exchanges whole records of a file.
func (x *tamperer) moveRecords() tampering {
	dir, n := x.copied(), x.random.IntN(len(x.disk.frames)-1)
	at, next := x.disk.frames[n], x.disk.frames[n+1]
	if next.file != at.file { // the last of its file
		at, next = x.disk.frames[n-1], at
	}
	what, position := "", at.position
	x.edit(dir, at.file, func(b []byte) []byte {
		one, other := slices.Clone(b[at.offset:at.offset+at.bytes]), slices.Clone(b[next.offset:next.offset+next.bytes])
		before, after := b[:at.offset:at.offset], b[next.offset+next.bytes:]
		switch x.random.IntN(3) {
		case 0:
			what = "removed"
			return slices.Concat(before, other, after)
		case 1:
			what, position = "repeated", next.position
			return slices.Concat(before, one, one, other, after)
		default:
			what = "exchanged with the next"
			return slices.Concat(before, other, one, after)
		}
	})
	return tampering{what: fmt.Sprintf("record %d %s", at.position, what), found: damagedAt(position), path: dir}
}

// truncate cuts the log and makes HEAD anew; what was kept elsewhere is the end of the true log.
func (x *tamperer) truncate() tampering {
	dir, last := x.copied(), uint64(1+x.random.IntN(len(x.disk.frames)-1))
	for _, f := range x.disk.frames {
		switch {
		case f.position == last+1:
			x.edit(dir, f.file, func(b []byte) []byte { return b[:f.offset] })
		case f.position > last && f.offset == segmentHeaderBytes:
			must(x.t, os.Remove(filepath.Join(dir, f.file)))
		}
	}
	must(x.t, os.WriteFile(filepath.Join(dir, "HEAD"), x.disk.head(last), 0o600))
	anchors := x.disk.anchors(every)
	return tampering{what: fmt.Sprintf("cut after %d", last), path: dir, given: given{anchors: anchors[len(anchors)-1:]},
		found: func(f audit.Finding) bool { return f.Kind == audit.KindAnchor && f.Position == last+1 }}
}

// leaves are the paths of the values in a JSON document that are no object and no list.
func leaves(v any, path string, into map[string]func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			into[path+"."+key] = func(to any) { v[key] = to }
			leaves(member, path+"."+key, into)
		}
	case []any:
		for i, member := range v {
			into[fmt.Sprint(path, ".", i)] = func(to any) { v[i] = to }
			leaves(member, fmt.Sprint(path, ".", i), into)
		}
	}
}

// changeField changes one value of JSON, of any kind; nil where there is none to change.
func (x *tamperer) changeField(document []byte) (changed []byte, path string) {
	var v any
	if json.Unmarshal(document, &v) != nil {
		return nil, ""
	}
	setters := map[string]func(any){}
	leaves(v, "", setters)
	var paths []string
	for path := range setters {
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, ""
	}
	slices.Sort(paths)
	path = paths[x.random.IntN(len(paths))]
	setters[path](x.random.IntN(1 << 30))
	changed, err := event.Marshal(v)
	must(x.t, err)
	return changed, path
}

// forgeField changes a value of any event and writes the whole log anew: checksums, links and HEAD are right.
func (x *tamperer) forgeField() tampering {
	all := slices.Clone(x.stored)
	n := 2 + x.random.IntN(len(all)-2)
	part, path := &all[n].Data, ""
	if x.random.IntN(4) == 0 {
		part = &all[n].Metadata
	}
	changed, path := x.changeField(*part)
	if changed == nil {
		return x.forgeField()
	}
	*part = changed
	dir := x.dir()
	x.write(x.t, dir, all)
	return tampering{what: fmt.Sprintf("%s of %s at %d, the log written anew", path, all[n].Name, n+1), path: dir, given: given{anchors: x.disk.anchors(every)}, found: rewrittenAt(uint64(n + 1))}
}

// forgeOrder removes, repeats or exchanges events and writes the whole log anew, with positions and revisions right.
func (x *tamperer) forgeOrder() tampering {
	all := slices.Clone(x.stored)
	n := 2 + x.random.IntN(len(all)-3)
	what := ""
	switch x.random.IntN(3) {
	case 0:
		all, what = slices.Delete(all, n, n+1), "removed"
	case 1:
		again := all[2+x.random.IntN(len(all)-2)]
		again.ID = uuid.NewSHA1(logID, fmt.Append(nil, x.number)).String()
		all, what = slices.Insert(all, n, again), "inserted"
	default:
		all[n], all[n+1] = all[n+1], all[n]
		what = "exchanged"
	}
	revisions := map[string]event.Revision{}
	for i := range all {
		all[i].Revision = revisions[all[i].Stream]
		revisions[all[i].Stream]++
	}
	dir := x.dir()
	x.write(x.t, dir, all)
	return tampering{what: fmt.Sprintf("event %d %s, the log written anew", n+1, what), path: dir, given: given{anchors: x.disk.anchors(every)}, found: rewrittenAt(uint64(n + 1))}
}

// signedFields are what a receipt's signature covers, in the event of the run.
var signedFields = []func(*run.Evaluated, string){
	func(e *run.Evaluated, s string) { e.Expression = event.Inline(s) },
	func(e *run.Evaluated, s string) { e.Answer = event.Inline(s) },
	func(e *run.Evaluated, s string) { e.SessionID = s },
	func(e *run.Evaluated, s string) { e.Engine.Name = s },
	func(e *run.Evaluated, s string) { e.Engine.Revision = s },
	func(e *run.Evaluated, s string) { e.Warnings = []string{s} },
	func(e *run.Evaluated, s string) { stdout := event.Inline(s); e.Stdout = &stdout },
	func(e *run.Evaluated, _ string) { e.Account = audittest.Bob },
	func(e *run.Evaluated, _ string) { e.Status = run.Unevaluated },
	func(e *run.Evaluated, _ string) { e.EvaluatedAt = "2026-08-01T12:00:00.001Z" },
	func(e *run.Evaluated, s string) {
		e.Check = &run.Check{Verdict: run.VerdictRefuted, Basis: run.BasisExact, Method: s, Automatic: true}
	},
}

// sealFields are the fields of a receipt.
var sealFields = []func(*run.Sealed, string){
	func(e *run.Sealed, s string) { e.ReceiptID = audittest.Sum([]byte(s)) },
	func(e *run.Sealed, s string) { e.Canonical = event.Inline(s) },
	func(e *run.Sealed, _ string) { e.Signature = "A" + e.Signature[1:] },
	func(e *run.Sealed, s string) { e.KID = s },
	func(e *run.Sealed, s string) { e.Signature, e.KID, e.UnsignedReason = "", "", s },
	func(e *run.Sealed, s string) { e.UnsignedReason = s },
}

// forgeSigned changes what a signature covers, in the run or in the receipt, and writes the whole log anew. Nothing was kept elsewhere:
// the receipt alone shows it, at the event that was changed.
func (x *tamperer) forgeSigned() tampering {
	all := slices.Clone(x.stored)
	var of []int
	for i, e := range x.log.Events {
		if e.Name == "run.evaluated" || e.Name == "receipt.sealed" {
			of = append(of, i)
		}
	}
	n := of[x.random.IntN(len(of))]
	text := fmt.Sprintf("forged %d", x.random.IntN(1<<30))
	var changed event.Event
	if e, ok := x.log.Events[n].Event.(run.Evaluated); ok {
		signedFields[x.random.IntN(len(signedFields))](&e, text)
		changed = e
	} else {
		sealed, _ := x.log.Events[n].Event.(run.Sealed)
		if sealFields[x.random.IntN(len(sealFields))](&sealed, text); sealed == x.log.Events[n].Event {
			return x.forgeSigned() // the signature began with A
		}
		changed = sealed
	}
	data, err := event.Marshal(changed)
	must(x.t, err)
	all[n].Data = data
	dir := x.dir()
	x.write(x.t, dir, all)
	place := all[n]
	return tampering{what: fmt.Sprintf("%s at %d made %s, the log written anew", place.Name, n+1, data), path: dir, found: func(f audit.Finding) bool {
		return strings.HasPrefix(string(f.Kind), "receipt.") && f.Stream == place.Stream && f.Position == uint64(n+1) && f.Severity == audit.Error
	}}
}

// replaceKey replaces a key: alone, or with all receipts sealed anew by another one. Then only keys that were handed out tell.
func (x *tamperer) replaceKey() tampering {
	all, dir := slices.Clone(x.stored), x.dir()
	n := slices.IndexFunc(all, func(s audit.Stored) bool { return s.Name == "key.published" })
	kinds, outside := []audit.Kind{audit.KindKey}, map[string]ed25519.PublicKey(nil)
	what := "alone"
	if x.random.IntN(2) == 0 {
		all = audittest.TrueSealedWith(fmt.Sprint("another key ", x.random.IntN(1<<30))).Stored(x.t)
		kinds, outside, what = []audit.Kind{audit.KindKeyOutside}, x.keys, "and all receipts"
	} else {
		public, _, err := ed25519.GenerateKey(chacha(x.random))
		must(x.t, err)
		all[n].Data, err = event.Marshal(keys.Published{KID: x.log.Events[n].Event.(keys.Published).KID, X: keys.EncodeX(public), At: "2026-08-01T12:00:00.000Z"})
		must(x.t, err)
	}
	x.write(x.t, dir, all)
	return tampering{what: "the first key " + what, path: dir, given: given{keys: outside}, found: func(f audit.Finding) bool {
		return slices.Contains(kinds, f.Kind) && f.Position == uint64(n+1) && f.Stream == keys.Stream
	}}
}

// reader yields random bytes.
type reader struct{ random *rand.Rand }

func chacha(random *rand.Rand) reader { return reader{random} }

func (r reader) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.random.Uint32())
	}
	return len(b), nil
}

// changeRow changes, removes or inserts a row of a read model.
func (x *tamperer) changeRow() tampering {
	path := filepath.Join(x.folder, fmt.Sprintf("readmodels-%d.db", x.number))
	x.number++
	content, err := os.ReadFile(strings.TrimPrefix(x.readModels(), "sqlite:"))
	must(x.t, err)
	must(x.t, os.WriteFile(path, content, 0o600))
	db, err := projections.Open(x.t.Context(), "sqlite:"+path)
	must(x.t, err)
	defer func() { must(x.t, db.Close()) }()
	var tables []string
	for _, p := range projections.New(db, nil).All() {
		tables = append(tables, p.TableNames(db)...)
	}
	table, rows := "", 0
	for rows == 0 {
		table = tables[x.random.IntN(len(tables))]
		must(x.t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&rows))
	}
	var columns []string
	key := ""
	info, err := db.Query("SELECT name, pk FROM pragma_table_info('" + table + "')")
	must(x.t, err)
	for info.Next() {
		var name string
		var pk int
		must(x.t, info.Scan(&name, &pk))
		if pk > 0 {
			key = name
		} else {
			columns = append(columns, name)
		}
	}
	must(x.t, info.Close())
	row, id := x.random.IntN(rows), ""
	one := fmt.Sprintf("(SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d)", key, table, key, row)
	must(x.t, db.QueryRow("SELECT CAST("+one+" AS TEXT)").Scan(&id))
	kind, column, statement := audit.KindRow, "", ""
	switch x.random.IntN(3) {
	case 0:
		column = columns[x.random.IntN(len(columns))]
		statement = fmt.Sprintf(`UPDATE %[1]s SET "%[2]s" = CASE WHEN typeof("%[2]s") = 'integer' THEN ("%[2]s" | 1) - ("%[2]s" & 1) WHEN "%[2]s" IS NULL THEN 1 ELSE "%[2]s" || 'x' END WHERE %[3]s = %[4]s`, table, column, key, one)
	case 1:
		kind, statement = audit.KindRowMissing, fmt.Sprintf("DELETE FROM %s WHERE %s = %s", table, key, one)
	default:
		kind, id = audit.KindRowExtra, "987654321"
		quoted := `"` + strings.Join(columns, `", "`) + `"`
		if table == "history_v3" {
			id = "987654321"
		}
		statement = fmt.Sprintf(`INSERT INTO %[1]s ("%[2]s", %[3]s) SELECT '%[4]s', %[3]s FROM %[1]s WHERE %[2]s = %[5]s`, table, key, quoted, id, one)
	}
	changed, err := db.Exec(statement)
	must(x.t, err)
	if n, _ := changed.RowsAffected(); n != 1 {
		x.t.Fatalf("%s changed %d rows", statement, n)
	}
	return tampering{what: statement, path: x.disk.dir, given: given{readModels: "sqlite:" + path}, found: func(f audit.Finding) bool {
		// A column that does not hold what its type can is named with its row only.
		return f.Kind == kind && f.Table == table && f.Key == id && (f.Column == column || f.Column == "" && kind == audit.KindRow)
	}}
}

// changeBook changes, removes or inserts a checkpoint of a projection or a reaction, or what is parked.
func (x *tamperer) changeBook() tampering {
	path := filepath.Join(x.folder, fmt.Sprintf("readmodels-%d.db", x.number))
	x.number++
	content, err := os.ReadFile(strings.TrimPrefix(x.readModels(), "sqlite:"))
	must(x.t, err)
	must(x.t, os.WriteFile(path, content, 0o600))
	db, err := projections.Open(x.t.Context(), "sqlite:"+path)
	must(x.t, err)
	defer func() { must(x.t, db.Close()) }()
	var rows int
	must(x.t, db.QueryRow("SELECT count(*) FROM projection_state").Scan(&rows))
	row := x.random.IntN(rows)
	var name, key string
	must(x.t, db.QueryRow("SELECT name || '_v' || version, name || ' ' || version FROM projection_state ORDER BY name LIMIT 1 OFFSET ?", row).Scan(&name, &key))
	one := fmt.Sprintf("rowid = (SELECT rowid FROM projection_state ORDER BY name LIMIT 1 OFFSET %d)", row)
	changes := []struct{ statement, table, key string }{
		{"UPDATE projection_state SET name = 'another' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET version = 'x' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET log_id = 'x' WHERE " + one, name, ""},
		{"UPDATE projection_state SET position = 'x' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET position = position + 1, prepare = prepare + 1 WHERE " + one, name, ""},
		{"UPDATE projection_state SET prepare = 'x' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET phase = 'x' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET reason = 'x' WHERE " + one, "projection_state", key},
		{"UPDATE projection_state SET tables = 'x' WHERE " + one, "projection_state", key},
		{"DELETE FROM projection_state WHERE " + one, "projection_state", key},
		{"INSERT INTO projection_state SELECT 'another', version, log_id, position, prepare, phase, reason, tables FROM projection_state WHERE " + one, "projection_state", ""},
		{"DROP TABLE projection_state", "projection_state", key},
		{"UPDATE reaction_state SET position = 'x'", "reaction_state", "refunds " + x.named},
		{"UPDATE reaction_state SET position = position + 1, prepare = prepare + 1", "reaction_state", "refunds " + x.named},
		{"UPDATE reaction_parked SET stream = 'x'", "reaction_parked", ""},
		{"UPDATE reaction_parked SET revision = revision + 1", "reaction_parked", ""},
		{"UPDATE reaction_parked SET event_id = 'x'", "reaction_parked", "refunds x"},
	}
	change := changes[x.random.IntN(len(changes))]
	_, err = db.Exec(change.statement)
	must(x.t, err)
	return tampering{what: change.statement, path: x.disk.dir, given: given{readModels: "sqlite:" + path}, found: func(f audit.Finding) bool {
		return f.Severity == audit.Error && f.Table == change.table && (change.key == "" || f.Key == change.key)
	}}
}

// TestTamperings changes a true installation at random, one thing at a time: each change is found, where it is.
func TestTamperings(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	x := &tamperer{installation: i, t: t, random: rand.New(rand.NewPCG(*seed, 0))}
	ways := []struct {
		name string
		make func() tampering
	}{
		{"byte", x.flipByte}, {"byte with its checksum", x.flipByteAndChecksum}, {"records moved", x.moveRecords}, {"end cut", x.truncate},
		{"field, chain made anew", x.forgeField}, {"order, chain made anew", x.forgeOrder}, {"signed, chain made anew", x.forgeSigned},
		{"key, chain made anew", x.replaceKey}, {"row", x.changeRow}, {"checkpoint or parked event", x.changeBook},
		{"byte of an export", x.flipExportByte}, {"lines of an export moved", x.moveLines}, {"end of an export cut", x.cutExport},
	}
	found, without := map[string]int{}, 0
	for n := range *tamperings {
		way := ways[n%len(ways)]
		change := way.make()
		report := i.audit(t, sourceOf(change.path, change.given.anchors), change.given)
		findings := report.Findings
		if !slices.ContainsFunc(findings, change.found) {
			t.Errorf("%d, %s: %s: not found where it is; found was %v", n, way.name, change.what, findings)
			continue
		}
		found[way.name]++
		if strings.HasSuffix(way.name, "made anew") {
			if len(change.given.anchors) > 0 && isFound(i.audit(t, sourceOf(change.path, nil), given{}).Findings) {
				without++
			}
			file := change.path + exportSuffix
			exportTo(t, change.path, file)
			if other := i.audit(t, sourceOf(file, change.given.anchors), change.given); !reflect.DeepEqual(other, report) {
				t.Errorf("%d, %s: %s: the export says\n%+v\nand the folder\n%+v", n, way.name, change.what, other, report)
			}
			must(t, os.Remove(file))
		}
		if change.path != i.disk.dir {
			must(t, os.RemoveAll(change.path))
		}
	}
	t.Logf("found and located: %v of %d", found, *tamperings)
	t.Logf("of the %d logs whose chain was made anew and that no signature covers, %d are found without an anchor too", found["field, chain made anew"]+found["order, chain made anew"], without)
}

func isFound(findings []audit.Finding) bool {
	return slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Severity != audit.Note })
}
