package witness

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sys/unix"

	"reckon/domain/transparency"
	"reckon/internal/private"
)

const (
	// maxRequestBytes bounds a request: 63 hashes, and a checkpoint with 16 signatures of up to 5 kB.
	maxRequestBytes = 128 << 10
	// maxProofHashes is the most hashes of a proof (C2SP tlog-witness).
	maxProofHashes = 63
)

// Server is a witness. It keeps the last checkpoint of each log, with its own cosignature, in a file of its folder.
type Server struct {
	folder string
	lock   *os.File // held for as long as the server is open
	signer signer
	logs   map[string][]note.Verifier // the keys of each log, by its origin
	logger *slog.Logger

	mu       sync.Mutex      // held from reading what was cosigned until the next is durable
	cosigned map[string]bool // the origins of which something was cosigned, as cosignedName lists them
}

const (
	// lockName is the file that one process holds locked.
	lockName = ".lock"
	// cosignedName is the file with the origins of which a checkpoint was cosigned, a line each: one whose checkpoint is gone was lost.
	cosignedName = "cosigned"
)

// Open opens the witness of a folder for logs, by their verifier keys. The key of the witness is made with the first start. Errors: another
// process has the folder open, the key in it is of another name or gone, or a *ForgottenError of one of the logs.
func Open(folder, name string, logs []string, now func() time.Time, logger *slog.Logger) (*Server, error) {
	s := &Server{folder: folder, logs: map[string][]note.Verifier{}, logger: logger}
	for _, text := range logs {
		verifier, err := note.NewVerifier(text)
		if err != nil {
			return nil, fmt.Errorf("key of a log %q: %w", text, err)
		}
		s.logs[verifier.Name()] = append(s.logs[verifier.Name()], verifier)
	}
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is in use by another witness: %w", folder, err), lock.Close())
	}
	s.lock = lock
	if err := s.open(name, now); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// open reads the key and what was cosigned.
func (s *Server) open(name string, now func() time.Time) (err error) {
	listed, err := os.ReadFile(filepath.Join(s.folder, cosignedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.cosigned = map[string]bool{}
	for origin := range strings.Lines(string(listed)) {
		s.cosigned[strings.TrimSuffix(origin, "\n")] = true
	}
	if s.signer, err = openKey(s.folder, name, now, len(s.cosigned) == 0); err != nil {
		return err
	}
	for origin := range s.logs {
		if _, lost := s.last(origin); lost != nil {
			err = errors.Join(err, lost)
		}
	}
	return err
}

// ForgottenError means that what a witness has cosigned last of a log is gone, or not as it wrote it.
type ForgottenError struct {
	Origin string
	why    error
}

func (e *ForgottenError) Error() string {
	return fmt.Sprintf("the checkpoint of %s that this witness has cosigned last %v. A witness that forgets may cosign two histories: "+
		"it cosigns this log no more. Start it without the log's --log, and make another witness for it, with another name and folder", e.Origin, e.why)
}

// Close lets another process open the folder.
func (s *Server) Close() error {
	_ = unix.Flock(int(s.lock.Fd()), unix.LOCK_UN) // a process that is just being started has a copy of the descriptor until its exec
	return s.lock.Close()
}

// Key is the witness's verifier key.
func (s *Server) Key() string { return s.signer.String() }

// ServeHTTP answers POST /add-checkpoint and GET /ORIGINHASH/checkpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, isCheckpoint := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/checkpoint")
	switch {
	case r.URL.Path == "/add-checkpoint" && r.Method == http.MethodPost:
		s.answer(w, r)
	case isCheckpoint && r.Method == http.MethodGet:
		s.show(w, hash)
	default:
		http.Error(w, "a witness answers POST /add-checkpoint and GET /HASH/checkpoint (c2sp.org/tlog-witness)", http.StatusNotFound)
	}
}

// refusal is a status with what is wrong.
type refusal struct {
	status int
	why    string
}

func (e *refusal) Error() string { return e.why }

func refused(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// behindError means that the client's size is not that of the last cosigned checkpoint.
type behindError struct{ size int64 }

func (e *behindError) Error() string { return fmt.Sprintf("the last cosigned size is %d", e.size) }

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		http.Error(w, "the request could not be read, or is too long", http.StatusBadRequest)
		return
	}
	line, err := s.Add(string(body))
	var refusal *refusal
	var behind *behindError
	switch {
	case errors.As(err, &behind):
		w.Header().Set("Content-Type", "text/x.tlog.size")
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(w, "%d\n", behind.size)
	case errors.As(err, &refusal):
		http.Error(w, refusal.why, refusal.status)
	case err != nil:
		s.logger.Error("a checkpoint was not cosigned", "error", err)
		http.Error(w, "the witness cannot keep what it cosigns", http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, line)
	}
}

func (s *Server) show(w http.ResponseWriter, hash string) {
	if digits, err := hex.DecodeString(hash); err != nil || len(digits) != sha256.Size || strings.ToLower(hash) != hash {
		http.Error(w, "no such log", http.StatusNotFound)
		return
	}
	content, err := os.ReadFile(filepath.Join(s.folder, hash))
	if errors.Is(err, fs.ErrNotExist) {
		http.Error(w, "no checkpoint of this log was cosigned", http.StatusNotFound)
		return
	}
	if err == nil {
		_, err = s.own(hash, content)
	}
	if err != nil {
		s.logger.Error("a cosigned checkpoint is not shown", "file", hash, "error", err)
		http.Error(w, "the cosigned checkpoint cannot be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(content)
}

// own is the checkpoint in the content of a file, if it is as this witness wrote it.
func (s *Server) own(name string, content []byte) (*note.Note, error) {
	kept, err := note.Open(content, note.VerifierList(s.signer))
	if err != nil {
		return nil, err
	}
	if origin, _, _ := strings.Cut(kept.Text, "\n"); fileOf(origin) != name {
		return nil, errors.New("it is of another log")
	}
	return kept, nil
}

// added is a request that is well formed and signed by the log.
type added struct {
	older      int64
	proof      tlog.TreeProof
	body       body
	checkpoint *note.Note
}

// Add cosigns the checkpoint of a request of add-checkpoint, and returns the signature line. What it cosigned is durable then.
func (s *Server) Add(request string) (line string, err error) {
	asked, err := s.read(request)
	if err != nil {
		return "", err
	}
	origin, _, _ := strings.Cut(asked.checkpoint.Text, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.last(origin)
	if err != nil {
		return "", err
	}
	if asked.older != last.tree.N {
		return "", &behindError{last.tree.N}
	}
	if err := continues(asked, last); err != nil {
		s.logger.Error("a log contradicts what was cosigned of it", "origin", origin, "cosigned", last, "asked", asked.body, "error", err)
		return "", err
	}
	if before, now := last.chain.LogID(), asked.body.chain.LogID(); before != "" && now != before {
		s.logger.Warn("the checkpoints of a log commit to another event log than before, or to none: ask its operator for the migration", "origin", origin, "before", before, "now", now, "leaves", asked.body.tree.N)
	}
	signed, err := note.Sign(&note.Note{Text: asked.checkpoint.Text, Sigs: asked.checkpoint.Sigs}, s.signer)
	if err != nil {
		return "", err
	}
	if err := private.ReplaceFile(filepath.Join(s.folder, fileOf(origin)), signed); err != nil {
		return "", err
	}
	if err := s.list(origin); err != nil {
		return "", err
	}
	opened, err := note.Open(signed, note.VerifierList(s.signer))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("— %s %s\n", opened.Sigs[0].Name, opened.Sigs[0].Base64), nil
}

// list notes durably that something of a log was cosigned, before anybody is told.
func (s *Server) list(origin string) error {
	if s.cosigned[origin] {
		return nil
	}
	origins := append(slices.Collect(maps.Keys(s.cosigned)), origin)
	slices.Sort(origins)
	if err := private.ReplaceFile(filepath.Join(s.folder, cosignedName), []byte(strings.Join(origins, "\n")+"\n")); err != nil {
		return err
	}
	s.cosigned[origin] = true
	return nil
}

// continues checks that the asked tree is that of the last checkpoint with more leaves, and that its event log may be that of the last one.
func continues(asked added, last body) error {
	empty, tree := tlog.Hash(sha256.Sum256(nil)), asked.body.tree
	switch {
	case tree.N == 0 && tree.Hash != empty:
		return refused(http.StatusUnprocessableEntity, "the root of no leaves is another")
	case last.tree.N == 0 && len(asked.proof) > 0:
		return refused(http.StatusUnprocessableEntity, "there is nothing to prove from size 0")
	case last.tree.N == 0:
		return nil
	case tlog.CheckTree(asked.proof, tree.N, tree.Hash, last.tree.N, last.tree.Hash) != nil:
		return refused(http.StatusUnprocessableEntity, "the tree of %d leaves does not continue that of %d", tree.N, last.tree.N)
	case !asked.body.chain.Continues(last.chain, tree.N > last.tree.N):
		return refused(http.StatusUnprocessableEntity, "the event log at %d leaves does not continue that at %d", tree.N, last.tree.N)
	}
	return nil
}

// read reads a request, and verifies the signature of the log.
func (s *Server) read(request string) (added, error) {
	bad := func(why string) (added, error) { return added{}, refused(http.StatusBadRequest, "%s", why) }
	head, signed, ok := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	digits, isOld := strings.CutPrefix(lines[0], "old ")
	older, err := parseSize(digits)
	if !ok || !isOld || err != nil || len(lines) > 1+maxProofHashes {
		return bad("the request must be a line `old SIZE`, at most 63 lines of a proof, an empty line, and a checkpoint")
	}
	asked := added{older: older}
	for _, line := range lines[1:] {
		hash, err := parseHash(line)
		if err != nil {
			return bad("a line of the proof is no hash")
		}
		asked.proof = append(asked.proof, hash)
	}
	origin, _, _ := strings.Cut(signed, "\n")
	keys, known := s.logs[origin]
	if !known {
		return added{}, refused(http.StatusNotFound, "this witness does not know the log %.200q", origin)
	}
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch asked.checkpoint, err = note.Open([]byte(signed), note.VerifierList(keys...)); {
	case errors.As(err, &unverified), errors.As(err, &invalid):
		return added{}, refused(http.StatusForbidden, "no known key of the log has signed the checkpoint")
	case err != nil:
		return bad("the checkpoint is no signed note")
	}
	if asked.body, err = parseBody(asked.checkpoint.Text); err != nil {
		return bad(err.Error())
	}
	if asked.older > asked.body.tree.N {
		return bad("the old size is larger than that of the checkpoint")
	}
	return asked, nil
}

// body is what a checkpoint says of the tree and of the event log; chain is nil of a checkpoint that says nothing of it.
type body struct {
	tree  tlog.Tree
	chain *transparency.Chain
}

// parseBody reads the body of a checkpoint (C2SP tlog-checkpoint).
func parseBody(text string) (body, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 {
		return body{}, errors.New("the checkpoint must have an origin, a size and a root")
	}
	size, err := parseSize(lines[1])
	if err != nil {
		return body{}, errors.New("the size of the checkpoint is none")
	}
	root, err := parseHash(lines[2])
	if err != nil {
		return body{}, errors.New("the root of the checkpoint is no hash")
	}
	chain, err := transparency.ReadChain(lines[3:])
	return body{tlog.Tree{N: size, Hash: root}, chain}, err
}

var errNoSize = errors.New("no size in decimal digits without leading zeros")

func parseSize(text string) (int64, error) {
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return 0, errNoSize
	}
	return size, nil
}

func parseHash(text string) (tlog.Hash, error) {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(decoded) != tlog.HashSize {
		return tlog.Hash{}, errors.New("no hash")
	}
	return tlog.Hash(decoded), nil
}

// last is what was cosigned last of a log; the zero one before the first. Errors: *ForgottenError.
func (s *Server) last(origin string) (body, error) {
	content, err := os.ReadFile(filepath.Join(s.folder, fileOf(origin)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.cosigned[origin]:
		return body{}, &ForgottenError{origin, errors.New("is gone")}
	case errors.Is(err, fs.ErrNotExist):
		return body{}, nil
	case err != nil:
		return body{}, err
	}
	kept, err := s.own(fileOf(origin), content)
	if err != nil {
		return body{}, &ForgottenError{origin, fmt.Errorf("is not as it wrote it (%w)", err)}
	}
	return parseBody(kept.Text)
}

// fileOf is the name of a log's file: the hash of its origin, which the monitoring address has too.
func fileOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}
