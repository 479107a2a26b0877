package projections

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/transparency"
	"reckon/projections/engine"
)

// Transparency holds the Merkle tree of the transparency log, its leaves and its checkpoints. Rows of nodes and leaves are written
// once and never change.
type Transparency struct{ from source }

// LeafRow is the row of a leaf.
type LeafRow struct {
	bun.BaseModel `bun:"table:transparency_leaves_v1,alias:l"`

	Stream string `bun:"stream,pk"`     // of the event: a stream has at most one leaf
	Place  int64  `bun:"place,notnull"` // index in the tree, from 0
	Entry  string `bun:"entry,notnull"` // hexadecimal
}

// NodeRow is the root of a full tile: the nodes between are computed from those below.
type NodeRow struct {
	bun.BaseModel `bun:"table:transparency_nodes_v1,alias:n"`

	Node int64  `bun:"node,pk"`      // nodeKey
	Hash string `bun:"hash,notnull"` // hexadecimal
}

// TreeRow is the one row of the tree up to now.
type TreeRow struct {
	bun.BaseModel `bun:"table:transparency_tree_v1,alias:t"`

	ID    int64  `bun:"id,pk"`         // 0
	Size  int64  `bun:"size,notnull"`  // number of leaves
	Roots string `bun:"roots,notnull"` // of its complete subtrees, base64, separated by spaces
}

// CheckpointRow is the row of a signed checkpoint.
type CheckpointRow struct {
	bun.BaseModel `bun:"table:transparency_checkpoints_v1,alias:c"`

	Size      int64  `bun:"size,pk"`
	Root      string `bun:"root,notnull"` // base64
	Note      Text   `bun:"note,type:text,notnull"`
	Witnesses int64  `bun:"witnesses,notnull"` // how many have cosigned it; below 0: a witness contradicts it, and it is not served
}

// contradicted is the number of witnesses of a checkpoint that is not served whatever the quorum.
const contradicted = -1 << 32

var (
	leafRows = engine.TableOf("stream", func(r *LeafRow) string { return r.Stream },
		engine.Index{Name: "transparency_leaves_v1_place", Columns: "place"})
	nodeRows       = engine.TableOf("node", func(r *NodeRow) int64 { return r.Node })
	treeRows       = engine.TableOf("id", func(r *TreeRow) int64 { return r.ID })
	checkpointRows = engine.TableOf("size", func(r *CheckpointRow) int64 { return r.Size },
		engine.Index{Name: "transparency_checkpoints_v1_witnesses", Columns: "witnesses, size DESC"})
)

const (
	tileHeight = 8 // C2SP tlog-tiles
	// levelShift is where the level of a tile stands in a node's key.
	levelShift = 48
	maxLevel   = 5 // a tree of 2^48 leaves has tiles of levels 0 to 5
)

// nodeKey is the key of the index-th node of a tile level, from 1.
func nodeKey(level int, index int64) int64 { return int64(level)<<levelShift | index }

// Projection declares the tables and handlers. An event that cannot be applied halts it: the leaves after it have other places.
func (*Transparency) Projection() engine.Projection {
	p := engine.Projection{Name: "transparency", Version: 1, Tables: []engine.Table{leafRows, nodeRows, treeRows, checkpointRows}}
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e run.Sealed, r event.Recorded) error {
		return putLeaf(ctx, tx, e, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e certificate.Issued, r event.Recorded) error {
		return putLeaf(ctx, tx, e, r)
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e transparency.Signed, _ event.Recorded) error {
		note, err := e.Note(nil)
		if err == nil {
			checkpointRows.Upsert(tx, &CheckpointRow{Size: e.Size, Root: e.Root, Note: Text(note)})
		}
		return err
	})
	engine.On(&p, putCosignatures)
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e transparency.Conflicted, _ event.Recorded) error {
		return checkpointRows.Update(ctx, tx, e.Size, func(c *CheckpointRow) {
			if c.Root == e.Root && e.Conflict == transparency.OtherHistory { // one that is only behind is a true beginning
				c.Witnesses = contradicted
			}
		})
	})
	return p
}

func putLeaf(ctx context.Context, tx *engine.Tx, e event.Event, r event.Recorded) error {
	leaf, ok, err := transparency.LeafOf(e)
	if err != nil || !ok {
		return err
	}
	if known, err := leafRows.Row(ctx, tx, r.Stream); err != nil || known != nil {
		return err
	}
	row, err := treeRows.Row(ctx, tx, 0)
	if err != nil {
		return err
	}
	var tree transparency.Tree
	if row != nil {
		if tree, err = transparency.DecodeTree(row.Size, strings.Fields(row.Roots)); err != nil {
			return err
		}
	}
	entry := transparency.EntryOf(leaf)
	leafRows.Upsert(tx, &LeafRow{Stream: r.Stream, Place: tree.Size, Entry: hex.EncodeToString(entry[:])})
	tree = tree.With(entry, func(height int, index int64, h transparency.Hash) {
		if level := height / tileHeight; height%tileHeight == 0 && level > 0 {
			nodeRows.Upsert(tx, &NodeRow{Node: nodeKey(level, index), Hash: hex.EncodeToString(h[:])})
		}
	})
	treeRows.Upsert(tx, &TreeRow{Size: tree.Size, Roots: strings.Join(tree.EncodeRoots(), " ")})
	return nil
}

func putCosignatures(ctx context.Context, tx *engine.Tx, e transparency.Cosigned, _ event.Recorded) error {
	return checkpointRows.Update(ctx, tx, e.Size, func(c *CheckpointRow) {
		for _, line := range e.Cosignatures {
			if added := line + "\n"; c.Root == e.Root && !strings.Contains(string(c.Note), added) {
				c.Note += Text(added)
				c.Witnesses++
			}
		}
	})
}

// ErrNoTile is returned for a tile that the tree does not have.
var ErrNoTile = errors.New("no such tile")

// Checkpoint returns the newest checkpoint that so many witnesses have cosigned; nil: there is none.
func (t *Transparency) Checkpoint(ctx context.Context, witnesses int) (*CheckpointRow, error) {
	row := new(CheckpointRow)
	err := t.from.db.NewSelect().Model(row).Where("witnesses >= ?", witnesses).Order("size DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return row, err
}

// Size is the number of leaves, covered by a checkpoint or not.
func (t *Transparency) Size(ctx context.Context) (size int64, err error) {
	err = t.from.db.NewSelect().Model((*TreeRow)(nil)).Column("size").Scan(ctx, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return size, err
}

// Place returns the index of the leaf of a stream's event; false: there is none yet.
func (t *Transparency) Place(ctx context.Context, stream string) (place int64, found bool, err error) {
	err = t.from.db.NewSelect().Model((*LeafRow)(nil)).Column("place").Where("stream = ?", stream).Scan(ctx, &place)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return place, err == nil, err
}

// DamagedTreeError means that the tables do not hold the tree that was signed: what is in them is not served.
type DamagedTreeError struct{ cause error }

func (e *DamagedTreeError) Error() string {
	return fmt.Sprintf("the tables of the transparency log are not what was signed (%v): `reckon projections boot transparency` makes them from the log", e.cause)
}

// Tile returns the hashes of the first width nodes of a tile of C2SP tlog-tiles, 32 bytes each, which the tree of a checkpoint has; checked
// against its root. Errors: ErrNoTile, *DamagedTreeError.
func (t *Transparency) Tile(ctx context.Context, in CheckpointRow, level int, index int64, width int) ([]byte, error) {
	if level < 0 || level > maxLevel || index < 0 || index >= 1<<(levelShift-tileHeight) || width < 1 || width > 1<<tileHeight ||
		index<<tileHeight+int64(width) > in.Size>>(level*tileHeight) {
		return nil, ErrNoTile
	}
	tile := make([]byte, 0, width*tlog.HashSize)
	stored := make([]int64, width)
	for i := range stored {
		stored[i] = tlog.StoredHashIndex(level*tileHeight, index<<tileHeight+int64(i))
	}
	err := t.signed(ctx, in.Size, in.Root, func(tree tlog.HashReader) error {
		hashes, err := tree.ReadHashes(stored)
		for _, h := range hashes {
			tile = append(tile, h[:]...)
		}
		return err
	})
	return tile, err
}

// Entries returns a bundle of entries of C2SP tlog-tiles, which the tree of a checkpoint has: each with its length, in two bytes, before it;
// checked against the root. Errors: ErrNoTile, *DamagedTreeError.
func (t *Transparency) Entries(ctx context.Context, in CheckpointRow, index int64, width int) ([]byte, error) {
	hashes, err := t.Tile(ctx, in, 0, index, width)
	if err != nil {
		return nil, err
	}
	return t.leafTile(ctx, index, width, func(to []byte, e transparency.Entry) ([]byte, error) {
		hash := transparency.LeafHash(e)
		if !bytes.Equal(hash[:], hashes[:tlog.HashSize]) {
			return nil, &DamagedTreeError{errors.New("an entry is another")}
		}
		hashes = hashes[tlog.HashSize:]
		return append(append(to, 0, byte(len(e))), e[:]...), nil
	})
}

// tile returns the hashes of the first width nodes of a tile, as the tables have them; ErrNoTile.
func (t *Transparency) tile(ctx context.Context, level int, index int64, width int) ([]byte, error) {
	if level == 0 {
		return t.leafTile(ctx, index, width, func(to []byte, e transparency.Entry) ([]byte, error) {
			h := transparency.LeafHash(e)
			return append(to, h[:]...), nil
		})
	}
	first := nodeKey(level, index<<tileHeight)
	var hashes []string
	err := t.from.db.NewSelect().Model((*NodeRow)(nil)).Column("hash").Where("node >= ?", first).Where("node < ?", first+int64(width)).Order("node").Scan(ctx, &hashes)
	if err != nil {
		return nil, err
	}
	return decodeTile(hashes, width, func(to []byte, e transparency.Entry) ([]byte, error) { return append(to, e[:]...), nil })
}

func (t *Transparency) leafTile(ctx context.Context, index int64, width int, put func([]byte, transparency.Entry) ([]byte, error)) ([]byte, error) {
	first := index << tileHeight
	var entries []string
	err := t.from.db.NewSelect().Model((*LeafRow)(nil)).Column("entry").Where("place >= ?", first).Where("place < ?", first+int64(width)).Order("place").Scan(ctx, &entries)
	if err != nil {
		return nil, err
	}
	return decodeTile(entries, width, put)
}

func decodeTile(hashes []string, width int, put func([]byte, transparency.Entry) ([]byte, error)) ([]byte, error) {
	if len(hashes) != width {
		return nil, ErrNoTile
	}
	tile := make([]byte, 0, width*(2+len(transparency.Entry{})))
	for _, text := range hashes {
		var e transparency.Entry
		if n, err := hex.Decode(e[:], []byte(text)); err != nil || n != len(e) {
			return nil, &DamagedTreeError{fmt.Errorf("a hash is %q", text)}
		}
		var err error
		if tile, err = put(tile, e); err != nil {
			return nil, err
		}
	}
	return tile, nil
}

// ProveLeaf returns the inclusion proof (RFC 6962, section 2.1.1) of a leaf in the tree of a checkpoint. What is read of the
// tables is checked against the checkpoint's root, and so is the leaf's text: it is an error where the tables differ from what was signed.
func (t *Transparency) ProveLeaf(ctx context.Context, place int64, leaf string, in CheckpointRow) (proof tlog.RecordProof, err error) {
	root, err := tlog.ParseHash(in.Root)
	if err != nil {
		return nil, err
	}
	err = t.signed(ctx, in.Size, in.Root, func(tree tlog.HashReader) error {
		if proof, err = tlog.ProveRecord(in.Size, place, tree); err != nil {
			return err
		}
		if err := tlog.CheckRecord(proof, in.Size, root, place, tlog.Hash(transparency.LeafHash(transparency.EntryOf(leaf)))); err != nil {
			return fmt.Errorf("leaf %d is another: %w", place, err)
		}
		return nil
	})
	return proof, err
}

// ProveGrowth returns the consistency proof (RFC 6962, section 2.1.2) between the trees of an older size and of a signed root.
func (t *Transparency) ProveGrowth(ctx context.Context, older, size int64, root string) (proof tlog.TreeProof, err error) {
	if older == 0 {
		return nil, nil
	}
	err = t.signed(ctx, size, root, func(tree tlog.HashReader) error {
		proof, err = tlog.ProveTree(size, older, tree)
		return err
	})
	return proof, err
}

// signed has the tree of a root read, whose every hash is checked against it. Where the tables lag behind it that is a *transparency.BehindError; another
// error of read that is not one of the tables' own is a *DamagedTreeError.
func (t *Transparency) signed(ctx context.Context, size int64, root string, read func(tlog.HashReader) error) error {
	hash, err := tlog.ParseHash(root)
	if err != nil {
		return err
	}
	leaves, err := t.Size(ctx)
	if err != nil {
		return err
	}
	if leaves < size {
		return &transparency.BehindError{Leaves: leaves, Signed: size}
	}
	tiles := &tileReader{ctx: ctx, of: t}
	err = read(tlog.TileHashReader(tlog.Tree{N: size, Hash: hash}, tiles))
	if tiles.failed != nil || err == nil {
		return err
	}
	return &DamagedTreeError{err}
}

// tileReader reads the tiles of the tables for package tlog.
type tileReader struct {
	ctx    context.Context
	of     *Transparency
	failed error // why the tables could not be read
}

// Height is tlog.TileReader.
func (*tileReader) Height() int { return tileHeight }

// ReadTiles is tlog.TileReader.
func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		var err error
		if data[i], err = r.of.tile(r.ctx, tile.L, tile.N, tile.W); err != nil {
			err = fmt.Errorf("tile %s of the transparency log: %w", tile.Path(), err)
			if _, damaged := errors.AsType[*DamagedTreeError](err); !damaged && !errors.Is(err, ErrNoTile) {
				r.failed = err
			}
			return nil, err
		}
	}
	return data, nil
}

// SaveTiles is tlog.TileReader: nothing is cached.
func (*tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
