package readapi_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"reckon/commands"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/domain/transparency"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// signCheckpoint signs what there is, and waits until the read model has it.
func signCheckpoint(t *testing.T, s *apitest.Server, signer *receipt.Signer) {
	t.Helper()
	c := &commands.Checkpoints{Log: s.Store, Origin: apitest.Origin, Signer: func() (*receipt.Signer, error) { return signer, nil }}
	if _, err := c.Sign(t.Context(), commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Actor: "signer:transparency"}); err != nil {
		t.Fatal(err)
	}
	state, _, err := c.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the checkpoint is served", func() bool {
		row, err := s.Models.Transparency.Checkpoint(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return row != nil && row.Size == state.Last.Size
	})
}

// opened is a proof that was verified with nothing but the keys of the log.
func opened(t *testing.T, log []note.Verifier, answer apitest.Answer) tlog.Tree {
	t.Helper()
	proof, _ := answer.JSON["tlog_proof"].(string)
	head, checkpoint, ok := strings.Cut(proof, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		t.Fatalf("%q is no proof", proof)
	}
	signed, err := note.Open([]byte(checkpoint), note.VerifierList(log...))
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Split(signed.Text, "\n")
	size, err := strconv.ParseInt(body[1], 10, 64)
	if err != nil || body[0] != apitest.Origin {
		t.Fatalf("%q %v", body, err)
	}
	root, err := tlog.ParseHash(body[2])
	if err != nil {
		t.Fatal(err)
	}
	extra, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil || string(extra) != answer.JSON["leaf"] {
		t.Fatalf("extra %q, leaf %q", extra, answer.JSON["leaf"])
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil || float64(index) != answer.JSON["index"] || float64(size) != answer.JSON["tree_size"] {
		t.Fatalf("%q: %v", lines[2], err)
	}
	var hashes tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	entry := transparency.EntryOf(string(extra))
	if err := tlog.CheckRecord(hashes, size, root, index, tlog.RecordHash(entry[:])); err != nil {
		t.Fatal(err)
	}
	return tlog.Tree{N: size, Hash: root}
}

func TestInclusionOfReceipts(t *testing.T) {
	t.Parallel()
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer := &receipt.Signer{KID: keys.Thumbprint(private.Public().(ed25519.PublicKey)), Key: private}
	s := apitest.Start(t, apitest.Options{Plans: unlimited(), Signer: signer})
	u, other := s.NewUser(t), s.NewUser(t)
	run := func() string { return fmt.Sprint(u.Evaluate(t, "1+1").OK(t).JSON["run_id"]) }
	first := run()
	inclusion := func(id string) string { return "/api/receipts/" + id + "/inclusion" }

	early := u.Do(t, "GET", inclusion(first), "")
	early.Want(t, httpkit.NotYetLogged)
	if early.Header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After %q", early.Header.Get("Retry-After"))
	}
	s.Do(t, "GET", "/transparency/checkpoint", "").Want(t, httpkit.NotYetLogged)
	signCheckpoint(t, s, signer)
	second := run()
	u.Do(t, "GET", inclusion(second), "").Want(t, httpkit.NotYetLogged)
	signCheckpoint(t, s, signer)

	published := verifiers(t, s, signer)
	one, two := opened(t, published, u.Do(t, "GET", inclusion(first), "").OK(t)), opened(t, published, u.Do(t, "GET", inclusion(second), "").OK(t))
	if one.N != 2 || one != two {
		t.Errorf("%v, %v", one, two)
	}
	// The leaf is the receipt's.
	sealed := u.Do(t, "GET", "/api/receipts/"+first, "").OK(t).JSON
	leaf := u.Do(t, "GET", inclusion(first), "").OK(t).JSON["leaf"]
	if want := fmt.Sprintf("reckon leaf v1\nreceipt\n%s\n%s\n%s\n", sealed["id"], sealed["kid"], sealed["signature"]); leaf != want {
		t.Errorf("%q, want %q", leaf, want)
	}

	other.Do(t, "GET", inclusion(first), "").Want(t, httpkit.NoSuchRun)
	s.Do(t, "GET", inclusion(first), "").Want(t, httpkit.Unauthenticated)
	u.Do(t, "GET", inclusion("99999"), "").Want(t, httpkit.NoSuchRun)

	// The checkpoint and the tiles are public, with the headers of C2SP tlog-tiles.
	checkpoint := s.Do(t, "GET", "/transparency/checkpoint", "").OK(t)
	if checkpoint.Header.Get("Content-Type") != "text/plain; charset=utf-8" || checkpoint.Header.Get("Cache-Control") != "public, max-age=2" {
		t.Errorf("%v", checkpoint.Header)
	}
	if signed, err := note.Open(checkpoint.Body, note.VerifierList(published...)); err != nil || signed.Text != transparency.Body(apitest.Origin, 2, transparency.Hash(one.Hash)) {
		t.Errorf("%+v %v", signed, err)
	}
	tile := s.Do(t, "GET", "/transparency/tile/0/000.p/2", "").OK(t)
	if tile.Header.Get("Content-Type") != "application/octet-stream" || tile.Header.Get("Cache-Control") != "public, max-age=31536000" || len(tile.Body) != 64 ||
		tile.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v %d", tile.Header, len(tile.Body))
	}
	if got := tlog.NodeHash(tlog.Hash(tile.Body[:32]), tlog.Hash(tile.Body[32:])); got != one.Hash {
		t.Errorf("the tile's root is %v, want %v", got, one.Hash)
	}
	if entries := s.Do(t, "GET", "/transparency/tile/entries/000.p/2", "").OK(t); len(entries.Body) != 68 || tlog.RecordHash(entries.Body[2:34]) != tlog.Hash(tile.Body[:32]) {
		t.Errorf("%x", entries.Body)
	}
	for _, none := range []string{
		"0/000", "0/000.p/3", "0/000.p/0", "0/000.p/02", "0/000.p/256", "0/001.p/1", "1/000.p/1", "0/0", "0/x000/000.p/2", "0/x001/000.p/1", "00/000.p/2", "64/000.p/1", "x/000.p/2",
		"entries/000", "0/000.p", "0/000.p/2/3", "0/x001/x234/067.p/1", "0/+00.p/1", "data/000.p/2",
	} {
		s.Do(t, "GET", "/transparency/tile/"+none, "").Want(t, httpkit.NoTile)
	}
}

// verifiers are those of the keys that the service hands out.
func verifiers(t *testing.T, s *apitest.Server, signer *receipt.Signer) []note.Verifier {
	t.Helper()
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Actor: "operator"}
	if _, err := commands.PublishKey(t.Context(), s.Store, in, signer.Key.Public().(ed25519.PublicKey)); err != nil {
		t.Fatal(err)
	}
	var published []note.Verifier
	answer := s.Do(t, "GET", "/.well-known/transparency-log.json", "").OK(t).JSON
	if answer["origin"] != apitest.Origin || answer["prefix"] != "/transparency" {
		t.Errorf("%v", answer)
	}
	for _, key := range answer["keys"].([]any) {
		verifier, err := note.NewVerifier(key.(map[string]any)["key"].(string))
		if err != nil {
			t.Fatal(err)
		}
		published = append(published, verifier)
	}
	return published
}

// TestInclusionOfCertificates: anyone who may read the public certificate may have the proof, and the findings that it has the hash of.
func TestInclusionOfCertificates(t *testing.T) {
	t.Parallel()
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer := &receipt.Signer{KID: keys.Thumbprint(private.Public().(ed25519.PublicKey)), Key: private}
	s := apitest.Start(t, apitest.Options{Signer: signer})
	issued := certificate.Events()[0].Sample.(certificate.Issued)
	path := certificate.Path(issued.CertificateID) + "/inclusion"
	s.Do(t, "GET", path, "").Want(t, httpkit.NoCertificate)
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: issued.Account, Actor: "runner:test"}
	if _, err := s.Store.Append(t.Context(), certificate.Stream(issued.CertificateID), event.NoStream, in.Propose(certificate.Stream(issued.CertificateID), []event.Event{issued})); err != nil {
		t.Fatal(err)
	}
	s.Do(t, "GET", path, "").Want(t, httpkit.NotYetLogged)
	signCheckpoint(t, s, signer)
	answer := s.Do(t, "GET", path, "").OK(t)
	opened(t, verifiers(t, s, signer), answer)
	lines := strings.Split(answer.JSON["leaf"].(string), "\n")
	public := s.Do(t, "GET", certificate.PublicPath(issued.CertificateID), "").OK(t).JSON
	findings := answer.JSON["findings"].(string)
	sum := sha256.Sum256([]byte(findings))
	if lines[2] != issued.CertificateID || lines[3] != public["verdict"] || lines[6] != public["created_at"] || lines[7] != hex.EncodeToString(sum[:]) {
		t.Errorf("%q", lines)
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(findings), &said); err != nil {
		t.Fatal(err)
	}
	judged := said["judged"].(map[string]any) // repeats members of the certificate
	delete(said, "judged")
	maps.Copy(said, judged)
	for name, value := range said {
		if !reflect.DeepEqual(public[name], value) {
			t.Errorf("%s: %v in the findings, %v in the certificate", name, value, public[name])
		}
	}
}

func TestTransparencyLogIsReadOnly(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	for _, path := range []string{"/transparency/checkpoint", "/transparency/tile/0/000"} {
		if got := s.Do(t, "POST", path, "{}"); got.Status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, got.Status)
		}
	}
}
