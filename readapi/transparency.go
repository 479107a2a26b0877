package readapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/transparency"
	"reckon/internal/httpkit"
	"reckon/projections"
)

// Transparency is how the transparency log is served.
type Transparency struct {
	Origin   string        // of the first checkpoint
	Interval time.Duration // between checkpoints
	// Witnesses are the verifier keys of the witnesses that are asked, and Quorum how many must have cosigned a checkpoint that is served.
	Witnesses []string
	Quorum    int
}

const (
	// TilesPath is the prefix of the tiles by C2SP tlog-tiles.
	TilesPath = "/transparency"
	// checkpointAge is how long caches may keep a checkpoint, and tileAge a tile, which never changes.
	checkpointAge = 2 * time.Second
	tileAge       = 365 * 24 * time.Hour
)

type inclusionOutput struct{ Body inclusion }

// inclusion proves that a leaf is in the tree of a checkpoint.
type inclusion struct {
	Leaf      string `json:"leaf" doc:"What the tree commits to, a value a line. Of a receipt: form, kind, id, kid, signature. Of a certificate: form, kind, certificate_id, verdict, SHA-256 of the export, revision of the checker, created_at, SHA-256 of the findings. The entry in the tree is the SHA-256 of this text"`
	Index     int64  `json:"index" doc:"Place of the leaf in the tree, from 0"`
	TreeSize  int64  `json:"tree_size" doc:"Leaves in the tree of the checkpoint"`
	TlogProof string `json:"tlog_proof" doc:"The proof as a file that stands for itself (C2SP tlog-proof): index, the hashes from the leaf's sibling to the root's child, and the checkpoint with the signatures of the log and of witnesses"`
	Findings  string `json:"findings,omitempty" doc:"Of a certificate: the findings in the very bytes that the leaf has the hash of, JSON. They say what the certificate says"`
}

type transparencyKeysOutput struct {
	Body struct {
		Origin    string        `json:"origin" doc:"Name of the log: the first line of each checkpoint"`
		Prefix    string        `json:"prefix" doc:"Where the log is served, as C2SP tlog-tiles has it"`
		Keys      []verifierKey `json:"keys" doc:"Every key that may have signed a checkpoint, oldest first"`
		Witnesses []string      `json:"witnesses" doc:"Verifier keys of the witnesses that this deployment asks. Whom to believe is for you to say: get their keys from themselves"`
		Quorum    int           `json:"quorum" doc:"How many of them have cosigned each checkpoint that is served"`
	}
}

type verifierKey struct {
	KID string `json:"kid" doc:"Id of the key in /.well-known/service-keys.json"`
	Key string `json:"key" doc:"Verifier key: name, id and public half (C2SP signed-note)" example:"example.org/transparency+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"`
}

type textOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// TileLevel is the beginning of every tile's path; exported because huma reads no field of an unexported embedded struct, as the types
// after it are.
type TileLevel struct {
	A string `path:"a" doc:"Level of the tile, or entries"`
	B string `path:"b" doc:"Index, or its first digits"`
}

// TileIndex is TileLevel with one more element.
type TileIndex struct {
	TileLevel
	C string `path:"c" doc:"More digits of the index, or the width"`
}

// LongTileIndex is TileIndex with one more element.
type LongTileIndex struct {
	TileIndex
	D string `path:"d" doc:"More digits of the index, or the width"`
}

// PartialTileIndex is LongTileIndex with one more element.
type PartialTileIndex struct {
	LongTileIndex
	E string `path:"e" doc:"The width"`
}

func (t TileLevel) elements() []string        { return []string{t.A, t.B} }
func (t TileIndex) elements() []string        { return append(t.TileLevel.elements(), t.C) }
func (t LongTileIndex) elements() []string    { return append(t.TileIndex.elements(), t.D) }
func (t PartialTileIndex) elements() []string { return append(t.LongTileIndex.elements(), t.E) }

// handleTiles adds the route of tiles whose path has the elements of I. The router has no parameter of several elements.
func handleTiles[I interface{ elements() []string }](s Services, api *httpkit.API, path, id string) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: TilesPath + "/tile/" + path, ID: id, PublicFor: tileAge, ContentType: "application/octet-stream",
		Kinds: []httpkit.Kind{httpkit.NoTile, httpkit.Unavailable},
	}, func(ctx context.Context, in *I) (*textOutput, error) { return s.tile(ctx, (*in).elements()) })
}

func (s Services) registerInclusion(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/receipts/{id}/inclusion", ID: "get-receipt-inclusion", Tag: "Transparency", Summary: "Proof that a receipt is in the transparency log",
		Description: "Verify it offline with reckon verify or docs/verify.py. A receipt is in the tree some seconds after it was sealed.",
		Kinds:       []httpkit.Kind{httpkit.NoSuchRun, httpkit.NoReceipt, httpkit.NotYetLogged, httpkit.Unavailable},
	}, s.receiptInclusion)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/certificates/{id}/inclusion", ID: "get-certificate-inclusion", Tag: "Transparency", Summary: "Proof that a certificate is in the transparency log",
		Description: "For anyone who may read the public certificate. Verify it offline with reckon verify or docs/verify.py.",
		PublicFor:   checkpointAge, Kinds: []httpkit.Kind{httpkit.NoCertificate, httpkit.NotYetLogged, httpkit.Unavailable},
	}, s.certificateInclusion)
}

func (s Services) registerTransparency(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/.well-known/transparency-log.json", ID: "transparency-log", Tag: "Transparency", Summary: "Name and keys of the transparency log",
		Description: "What a verifier needs beside a proof. Keep it: keys that were handed out once are what a later one is compared with.",
		PublicFor:   300 * time.Second, Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.transparencyKeys)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: TilesPath + "/checkpoint", ID: "transparency-checkpoint", PublicFor: checkpointAge, ContentType: "text/plain; charset=utf-8",
		Kinds: []httpkit.Kind{httpkit.NotYetLogged, httpkit.Unavailable},
	}, s.checkpoint)
	handleTiles[TileLevel](s, api, "{a}/{b}", "transparency-tile")
	handleTiles[TileIndex](s, api, "{a}/{b}/{c}", "transparency-tile-2")
	handleTiles[LongTileIndex](s, api, "{a}/{b}/{c}/{d}", "transparency-tile-3")
	handleTiles[PartialTileIndex](s, api, "{a}/{b}/{c}/{d}/{e}", "transparency-tile-4")
}

func (s Services) receiptInclusion(ctx context.Context, in *runIDInput) (*inclusionOutput, error) {
	state, err := s.run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case state.Sealed == nil:
		return nil, httpkit.NoReceipt.Problem("run %d ended without an answer, so it has no receipt", in.ID)
	case state.Sealed.Signature == "":
		return nil, httpkit.NoReceipt.Problem("the receipt of run %d is not signed, so it is not in the transparency log", in.ID)
	}
	return s.inclusion(ctx, run.Stream(in.ID), transparency.ReceiptLeaf(*state.Sealed))
}

func (s Services) certificateInclusion(ctx context.Context, in *certificateInput) (*inclusionOutput, error) {
	issued, err := s.issued(ctx, string(in.ID))
	if err != nil {
		return nil, err
	}
	leaf, err := transparency.CertificateLeaf(issued)
	if err != nil {
		return nil, err
	}
	findings, err := event.Marshal(issued.Findings)
	if blob := issued.FindingsBlob; blob != nil {
		findings, err = s.Blobs.Get(ctx, *blob)
	}
	if err != nil {
		return nil, err
	}
	out, err := s.inclusion(ctx, certificate.Stream(issued.CertificateID), leaf)
	if err == nil {
		out.Body.Findings = string(findings)
	}
	return out, err
}

// inclusion proves the leaf of a stream's event.
func (s Services) inclusion(ctx context.Context, stream, leaf string) (*inclusionOutput, error) {
	checkpoint, err := s.Models.Transparency.Checkpoint(ctx, s.Transparency.Quorum)
	if err != nil {
		return nil, err
	}
	index, known, err := s.Models.Transparency.Place(ctx, stream)
	if err != nil {
		return nil, err
	}
	if !known || checkpoint == nil || index >= checkpoint.Size {
		return nil, s.notYetLogged()
	}
	proof, err := s.Models.Transparency.ProveLeaf(ctx, index, leaf, *checkpoint)
	if err != nil {
		return nil, err
	}
	var file strings.Builder
	fmt.Fprintf(&file, "c2sp.org/tlog-proof@v1\nextra %s\nindex %d\n", base64.StdEncoding.EncodeToString([]byte(leaf)), index)
	for _, hash := range proof {
		fmt.Fprintf(&file, "%s\n", hash)
	}
	fmt.Fprintf(&file, "\n%s", checkpoint.Note)
	return &inclusionOutput{inclusion{Leaf: leaf, Index: index, TreeSize: checkpoint.Size, TlogProof: file.String()}}, nil
}

func (s Services) notYetLogged() error {
	return httpkit.NotYetLogged.Problem("no checkpoint that is served covers it yet; one is signed every %s while there is something new", s.Transparency.Interval).WithRetryAfter(s.Transparency.Interval)
}

func (s Services) transparencyKeys(ctx context.Context, _ *struct{}) (*transparencyKeysOutput, error) {
	history, err := s.Streams(ctx, keys.Stream)
	if err != nil {
		return nil, err
	}
	checkpoint, err := s.Models.Transparency.Checkpoint(ctx, 0)
	if err != nil {
		return nil, err
	}
	origin := s.Transparency.Origin
	if checkpoint != nil {
		origin, _, _ = strings.Cut(string(checkpoint.Note), "\n")
	}
	out := &transparencyKeysOutput{}
	out.Body.Origin, out.Body.Prefix, out.Body.Quorum = origin, s.PublicURL+TilesPath, s.Transparency.Quorum
	out.Body.Keys, out.Body.Witnesses = []verifierKey{}, append([]string{}, s.Transparency.Witnesses...)
	for _, key := range keys.Decider.Fold(event.Events(history)).Keys() {
		public, err := keys.DecodeX(key.X)
		if err != nil {
			return nil, err
		}
		out.Body.Keys = append(out.Body.Keys, verifierKey{KID: key.KID, Key: transparency.VerifierKey(origin, public)})
	}
	return out, nil
}

func (s Services) checkpoint(ctx context.Context, _ *struct{}) (*textOutput, error) {
	checkpoint, err := s.Models.Transparency.Checkpoint(ctx, s.Transparency.Quorum)
	if err != nil {
		return nil, err
	}
	if checkpoint == nil {
		return nil, s.notYetLogged()
	}
	return &textOutput{ContentType: "text/plain; charset=utf-8", Body: []byte(checkpoint.Note)}, nil
}

func (s Services) tile(ctx context.Context, path []string) (*textOutput, error) {
	asked, ok := parseTile(path[0], strings.Join(path[1:], "/"))
	if !ok {
		return nil, noTile()
	}
	checkpoint, err := s.Models.Transparency.Checkpoint(ctx, s.Transparency.Quorum)
	if err != nil {
		return nil, err
	}
	if checkpoint == nil || !asked.within(checkpoint.Size) {
		return nil, noTile()
	}
	read := func() ([]byte, error) {
		return s.Models.Transparency.Tile(ctx, *checkpoint, asked.level, asked.index, asked.width)
	}
	if asked.entries {
		read = func() ([]byte, error) {
			return s.Models.Transparency.Entries(ctx, *checkpoint, asked.index, asked.width)
		}
	}
	content, err := read()
	if errors.Is(err, projections.ErrNoTile) {
		return nil, noTile()
	}
	return &textOutput{ContentType: "application/octet-stream", Body: content}, err
}

func noTile() error {
	return httpkit.NoTile.Problem("the tree of the last checkpoint has no such tile")
}

// tileName is a tile, or a bundle of entries, of C2SP tlog-tiles.
type tileName struct {
	entries bool
	level   int
	index   int64
	width   int
}

var (
	levelPattern = regexp.MustCompile(`^(0|[1-9]|[1-5][0-9]|6[0-3])$`)
	indexPattern = regexp.MustCompile(`^((?:x[0-9]{3}/){0,2}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?$`)
)

// fullTile is the width of a full tile.
const fullTile = 256

// parseTile reads the level of a tile's path, and the rest of it.
func parseTile(level, rest string) (t tileName, ok bool) {
	found := indexPattern.FindStringSubmatch(rest)
	if t.entries = level == "entries"; found == nil || !t.entries && !levelPattern.MatchString(level) {
		return t, false
	}
	if !t.entries {
		t.level, _ = strconv.Atoi(level)
	}
	if strings.HasPrefix(found[1], "x000/") {
		return t, false // a number has one name
	}
	t.index, _ = strconv.ParseInt(strings.NewReplacer("x", "", "/", "").Replace(found[1]), 10, 64)
	if t.width = fullTile; found[2] != "" {
		t.width, _ = strconv.Atoi(found[2])
		return t, t.width < fullTile
	}
	return t, true
}

// within tells whether the tree of a size has all of a tile.
func (t tileName) within(size int64) bool {
	for range t.level {
		size /= fullTile
	}
	return t.index <= size/fullTile && t.index*fullTile+int64(t.width) <= size
}
