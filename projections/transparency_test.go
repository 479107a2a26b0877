package projections_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/transparency"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
)

// transparentLog is a log with leaves and checkpoints.
type transparentLog struct {
	projectiontest.Log
	leaves  []string
	entries []transparency.Entry // since the last checkpoint
	state   transparency.State
}

const transparencyOrigin = "reckon.example/transparency"

func (l *transparentLog) leaf(t testing.TB, stream string, e event.Event) {
	t.Helper()
	l.Add(stream, noon, e)
	leaf, ok, err := transparency.LeafOf(e)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		l.leaves, l.entries = append(l.leaves, leaf), append(l.entries, transparency.EntryOf(leaf))
	}
}

func (l *transparentLog) seal(t testing.TB, id int64, signature string) {
	t.Helper()
	l.leaf(t, run.Stream(id), run.Sealed{RunID: id, ReceiptID: fmt.Sprint("r", id), KID: "k", Signature: signature})
}

func (l *transparentLog) certify(t testing.TB, id string) {
	t.Helper()
	l.leaf(t, certificate.Stream(id), certificate.Issued{CertificateID: id, Account: alice, Verdict: certificate.Verified})
}

func (l *transparentLog) sign(t testing.TB) transparency.Signed {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	tree := l.state.Extended(l.entries)
	place := transparency.LeafPlace{Stream: fmt.Sprint("run-", tree.Size)}
	events, err := transparency.Decider.Decide(transparency.Sign{
		Origin: transparencyOrigin, After: l.state.Last.Last, Entries: l.entries, Last: place, Public: key.Public().(ed25519.PublicKey),
		Signature: ed25519.Sign(key, []byte(transparency.Body(transparencyOrigin, tree.Size, tree.Root()))),
	}, l.state)
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	l.Add(transparency.Stream, noon, events[0])
	l.state, l.entries = transparency.Decider.FoldFrom(l.state, events), nil
	return events[0].(transparency.Signed)
}

// TestTransparencyRows: leaves have their places in the log's order, however often and in whatever batches events are applied, and
// an unsigned receipt has none.
func TestTransparencyRows(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		model := projections.New(db, nil).Transparency
		var l transparentLog
		l.seal(t, 1, "s1")
		l.seal(t, 2, "")
		l.certify(t, "c")
		signed := l.sign(t)
		l.Add(transparency.Stream, noon, transparency.Cosigned{Size: 2, Root: signed.Root, Cosignatures: []string{"— w1 AAAA", "— w2 AAAA"}})
		l.Add(transparency.Stream, noon, transparency.Cosigned{Size: 2, Root: "another", Cosignatures: []string{"— w3 AAAA"}})
		l.seal(t, 3, "s3")
		note, err := signed.Note([]string{"— w1 AAAA", "— w2 AAAA"})
		if err != nil {
			t.Fatal(err)
		}
		projectiontest.Given(t, db, model.Projection()).When(l.Events...).Then(func(ctx context.Context) (any, error) {
			var places []int64
			for _, stream := range []string{"run-1", "run-2", "certificate-c", "run-3", "run-9"} {
				place, found, err := model.Place(ctx, stream)
				if err != nil {
					return nil, err
				}
				if !found {
					place = -1
				}
				places = append(places, place)
			}
			size, err := model.Size(ctx)
			checkpoint, failed := model.Checkpoint(ctx, 2)
			if err = errors.Join(err, failed); err != nil {
				return nil, err
			}
			none, err := model.Checkpoint(ctx, 3)
			return fmt.Sprint(places, size, checkpoint.Size, none == nil, string(checkpoint.Note) == note), err
		}, "[0 -1 1 2 -1] 3 2 true true")
	})
}

// recordTiles reads tiles, and remembers which.
type recordTiles struct {
	of   *projections.Transparency
	in   projections.CheckpointRow
	read []tlog.Tile
}

func (*recordTiles) Height() int { return 8 }

func (r *recordTiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		var err error
		if data[i], err = r.of.Tile(context.Background(), r.in, tile.L, tile.N, tile.W); err != nil {
			return nil, err
		}
	}
	r.read = append(r.read, tiles...)
	return data, nil
}

func (*recordTiles) SaveTiles([]tlog.Tile, [][]byte) {}

// TestTilesAreReadByAnIndependentReader: golang.org/x/mod/sumdb/tlog proves every leaf in the tree of every checkpoint from the
// tiles, and every growth from one checkpoint to a later one; bundles have the entries. Of a tree with tiles of three levels the places
// at their edges are looked at.
func TestTilesAreReadByAnIndependentReader(t *testing.T) {
	t.Parallel()
	db := projectiontest.Open(t, projections.Open, projectiontest.SQLite(t))
	model := projections.New(db, nil).Transparency
	var l transparentLog
	var signed []transparency.Signed
	const leaves = 66_000
	for id := range int64(leaves) {
		l.seal(t, id+1, "s")
		if slices.Contains([]int64{1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, leaves}, id+1) {
			signed = append(signed, l.sign(t))
		}
	}
	p := model.Projection()
	if err := p.Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for batch := range slices.Chunk(l.Events, 2000) {
		if err := engine.InTx(t.Context(), db, func(ctx context.Context, tx *engine.Tx) error {
			for _, r := range batch {
				if err := p.Apply(ctx, tx, r); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i, checkpoint := range signed {
		root, err := tlog.ParseHash(checkpoint.Root)
		if err != nil {
			t.Fatal(err)
		}
		in := projections.CheckpointRow{Size: checkpoint.Size, Root: checkpoint.Root}
		reader := tlog.TileHashReader(tlog.Tree{N: checkpoint.Size, Hash: root}, &recordTiles{of: model, in: in})
		for _, place := range []int64{0, 1, 254, 255, 256, 300, 511, 512, 65_535, 65_536, 65_999} {
			if place >= checkpoint.Size {
				continue
			}
			entry := transparency.EntryOf(l.leaves[place])
			proof, err := tlog.ProveRecord(checkpoint.Size, place, reader)
			if err != nil || tlog.CheckRecord(proof, checkpoint.Size, root, place, tlog.RecordHash(entry[:])) != nil {
				t.Fatalf("leaf %d in %d: %v", place, checkpoint.Size, err)
			}
			own, err := model.ProveLeaf(t.Context(), place, l.leaves[place], in)
			if err != nil || !slices.Equal(own, proof) {
				t.Fatalf("leaf %d in %d: %v, %v", place, checkpoint.Size, own, err)
			}
			if _, err := model.ProveLeaf(t.Context(), place, "another", in); err == nil {
				t.Fatalf("another leaf is proved at %d in %d", place, checkpoint.Size)
			}
		}
		for _, older := range signed[:i] {
			was, err := tlog.ParseHash(older.Root)
			if err != nil {
				t.Fatal(err)
			}
			growth, err := model.ProveGrowth(t.Context(), older.Size, checkpoint.Size, checkpoint.Root)
			if err != nil || tlog.CheckTree(growth, checkpoint.Size, root, older.Size, was) != nil {
				t.Fatalf("from %d to %d: %v", older.Size, checkpoint.Size, err)
			}
		}
	}
	last := signed[len(signed)-1]
	in := projections.CheckpointRow{Size: last.Size, Root: last.Root}
	bundle, err := model.Entries(t.Context(), in, 257, 208)
	if err != nil || len(bundle) != 208*34 {
		t.Fatal(len(bundle), err)
	}
	for i := range 208 {
		entry := transparency.EntryOf(l.leaves[257*256+i])
		if one := bundle[i*34 : (i+1)*34]; binary.BigEndian.Uint16(one) != 32 || !bytes.Equal(one[2:], entry[:]) {
			t.Fatalf("entry %d of the bundle: %x", i, one)
		}
	}
	for _, none := range []struct {
		level int
		index int64
		width int
	}{{0, 257, 209}, {0, 258, 1}, {1, 1, 2}, {2, 0, 2}, {3, 0, 1}, {64, 0, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 0, 0}, {0, 0, 257}, {0, 1 << 62, 1}} {
		if _, err := model.Tile(t.Context(), in, none.level, none.index, none.width); !errors.Is(err, projections.ErrNoTile) {
			t.Errorf("tile %+v: %v", none, err)
		}
	}
	// Leaves that the tables have not applied yet are a lag and no damage.
	var behind *transparency.BehindError
	later := projections.CheckpointRow{Size: last.Size + 7, Root: last.Root}
	if _, err := model.ProveGrowth(t.Context(), last.Size, later.Size, later.Root); !errors.As(err, &behind) || behind.Leaves != last.Size || isDamaged(err) {
		t.Errorf("from a tree that is behind: %v", err)
	}
	if _, err := model.ProveLeaf(t.Context(), 5, l.leaves[5], later); !errors.As(err, &behind) || strings.Contains(err.Error(), "boot") {
		t.Errorf("a leaf of a tree that is ahead: %v", err)
	}
	tampered(t, db, model, l, in)
}

// tampered changes tables: what rests on them is refused, and nothing wrong is proved.
func tampered(t *testing.T, db *bun.DB, model *projections.Transparency, l transparentLog, in projections.CheckpointRow) {
	t.Helper()
	for name, change := range map[string]string{
		"a leaf that is no hash": "UPDATE transparency_leaves_v1 SET entry = 'zz' WHERE place = 5",
		"a leaf":                 "UPDATE transparency_leaves_v1 SET entry = (SELECT entry FROM transparency_leaves_v1 WHERE place = 6) WHERE place = 5",
		"a node":                 "UPDATE transparency_nodes_v1 SET hash = (SELECT hash FROM transparency_nodes_v1 WHERE node = 281474976710658) WHERE node = 281474976710657",
		"a leaf is gone":         "DELETE FROM transparency_leaves_v1 WHERE place = 5",
		"two change sides":       "UPDATE transparency_leaves_v1 SET place = 11 - place WHERE place IN (5, 6)",
	} {
		t.Run(name, func(t *testing.T) {
			execute(t, db, "CREATE TABLE leaves_before AS SELECT * FROM transparency_leaves_v1", "CREATE TABLE nodes_before AS SELECT * FROM transparency_nodes_v1", change)
			for _, place := range []int64{4, 300} {
				proof, err := model.ProveLeaf(t.Context(), place, l.leaves[place], in)
				if name == "a node" && err == nil || name != "a node" && place == 4 && err == nil {
					t.Errorf("leaf %d is proved: %v", place, proof)
				}
			}
			hashes := func() (err error) {
				_, err = model.Tile(t.Context(), in, 0, 0, 256)
				return err
			}
			if name == "a node" {
				hashes = func() (err error) {
					_, err = model.Tile(t.Context(), in, 1, 0, 2)
					return err
				}
			} else if _, err := model.Entries(t.Context(), in, 0, 256); !isDamaged(err) {
				t.Errorf("entries: %v", err)
			}
			if err := hashes(); !isDamaged(err) || !strings.Contains(err.Error(), "projections boot transparency") {
				t.Errorf("the tile: %v", err)
			}
			execute(t, db, "DELETE FROM transparency_leaves_v1", "INSERT INTO transparency_leaves_v1 SELECT * FROM leaves_before", "DROP TABLE leaves_before",
				"DELETE FROM transparency_nodes_v1", "INSERT INTO transparency_nodes_v1 SELECT * FROM nodes_before", "DROP TABLE nodes_before")
			if _, err := model.ProveLeaf(t.Context(), 4, l.leaves[4], in); err != nil {
				t.Errorf("as it was: %v", err)
			}
		})
	}
}

func isDamaged(err error) bool {
	_, is := errors.AsType[*projections.DamagedTreeError](err)
	return is
}

func execute(t *testing.T, db *bun.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
