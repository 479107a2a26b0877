package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/eventstore"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
	"reckon/internal/config"
	"reckon/internal/progress"
	"reckon/internal/witness"
	"reckon/projections/auditor"
)

// auditCommands derive again what a log must say.
type auditCommands struct {
	Log   auditLogCmd   `cmd:"" default:"withargs" help:"Derive every receipt, slot, job, proof, invoice and table again from the log, and report what differs; what reckon audit does without another word."`
	Usage auditUsageCmd `cmd:"" help:"Count from the log what an account used on each day: evaluations, engine time, checks, slots, bytes."`
}

// auditSource says where a log is read.
type auditSource struct {
	Data       string  `help:"Data folder, or the folder of a log alone: stopped, copied, or in use by a server." default:"reckon-data" placeholder:"DIR"`
	Export     string  `help:"Read the log from this file instead, which reckon node export wrote." type:"path" placeholder:"FILE" xor:"source"`
	Eventstore *string `help:"Read the log from a server instead: unix:PATH of a node's socket, or esdb://user:password@host:port." placeholder:"ADDRESS" xor:"source"`
	Insecure   bool    `help:"Accept an esdb:// address without TLS or without credentials." name:"insecure-eventstore"`
}

type auditLogCmd struct {
	auditSource
	Blobs           string        `help:"The blobs: their folder, or s3://BUCKET/PREFIX as serve takes it; default: blobs in the data folder. none: they are not looked at." placeholder:"DIR"`
	Keys            string        `help:"File with the public keys that were handed out, as /.well-known/ and the API serve them (JWK set), kept where the operator cannot write." type:"path" placeholder:"FILE"`
	Anchor          []string      `help:"File with the output of an earlier reckon node verify, kept where the operator cannot write; may be given more than once." type:"path" placeholder:"FILE"`
	Checkpoint      []string      `help:"File with a checkpoint of the transparency log, as GET /transparency/checkpoint or a witness showed it, kept where the operator cannot write; may be given more than once." type:"path" placeholder:"FILE"`
	Content         []string      `help:"Content of the log (EVENTS:SHA256) as an earlier audit printed it, also of the log that this one was migrated from, kept where the operator cannot write; may be given more than once." sep:"none" placeholder:"CONTENT"`
	WitnessKey      []string      `help:"Verifier key of a witness (NAME+ID+KEY), from the witness itself: its cosignatures are verified; may be given more than once." sep:"none" placeholder:"VKEY"`
	ReadModels      string        `help:"Database whose read models are compared row by row: sqlite:PATH or postgres://…; default: readmodels.db in the data folder. none: none are." placeholder:"ADDRESS"`
	Recheck         bool          `help:"Have the kernel judge the export of every certificate once more; it needs the blobs."`
	RecheckTimeout  time.Duration `help:"Give up on one certificate after this long." default:"1h" placeholder:"D"`
	Reverify        bool          `help:"Ask the checker once more about every answer that has a verdict; it needs the blobs and the engine."`
	ReverifyTimeout time.Duration `help:"Give up on one answer after this long." default:"2m" placeholder:"D"`
	ReverifyFrom    uint64        `help:"Leave out answers logged before this position: where an audit that was stopped said to go on." placeholder:"POSITION"`
	Engine          string        `help:"Folder of the engine's environment, for --reverify; default: engine in the data folder." env:"RECKON_ENGINE" placeholder:"DIR"`
	JSON            bool          `help:"Print JSON." name:"json"`
}

// Run exits 0 when nothing is wrong, 1 with findings, 2 when the log could not be read.
func (c *auditLogCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	config := auditor.Config{Reader: audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}}
	var err error
	if config.OutsideKeys, err = readKeySet(c.Keys); err != nil {
		return err
	}
	if err := c.readWitnessed(&config); err != nil {
		return err
	}
	var closeSource func()
	if config.Source, closeSource, err = c.open(ctx, c.Anchor); err != nil {
		return err
	}
	defer closeSource()
	if config.Blobs, err = c.openBlobs(ctx); err != nil {
		return err
	}
	if c.Recheck {
		judge, err := newRecheckJudge(recheckMemoryMiB)
		if err != nil {
			return err
		}
		defer judge.Close()
		if config.Blobs == nil {
			return errors.New("--recheck: the exports are in the blobs; name their folder with --blobs")
		}
		config.Recheck = func(ctx context.Context, one audit.Certified) ([]audit.Finding, error) {
			return recheckFindings(ctx, judge, config.Blobs, one, c.RecheckTimeout)
		}
	}
	if c.Reverify {
		if config.Blobs == nil {
			return errors.New("--reverify: long expressions and answers are in the blobs; name their folder with --blobs")
		}
		ask, stopEngine, err := c.reverify(ctx)
		if err != nil {
			return err
		}
		defer stopEngine()
		config.Reverify = ask
	}
	config.ReadModels = c.readModels(config.Blobs != nil)
	display := progress.New(os.Stderr, slog.Default())
	config.Progress = func(p auditor.Progress) { showAudit(display, p) }
	report, err := auditor.Run(ctx, config)
	display.Close()
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(auditReport{report, checkStates(report, c.askedFor(config))})
	} else {
		err = printAudit(os.Stdout, report, c.askedFor(config))
	}
	if err == nil && isWrong(report.Findings) {
		err = exitStatus(1)
	}
	return err
}

// recheckMemoryMiB is the most memory of one judgement.
const recheckMemoryMiB = 4096

// recheckFindings judges a certificate once more. A blob that is missing was reported, and ends nothing.
func recheckFindings(ctx context.Context, judge exportJudge, kept event.BlobReader, one audit.Certified, timeout time.Duration) ([]audit.Finding, error) {
	report, err := recheckIssued(ctx, judge, kept, one.Issued, one.Declarations, timeout)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	finding := func(kind audit.Kind, found string) []audit.Finding {
		return []audit.Finding{audit.Complete(audit.CheckRecheck, kind, one.Place, fmt.Sprintf("verdict %s, as certified by %s", one.Issued.Verdict, one.Issued.Checker.Rev), found)}
	}
	switch {
	case err != nil:
		return finding(audit.KindNotReproduced, err.Error()), nil
	case report.Found == certificate.Inconclusive && report.disagreement() == nil && one.Issued.Verdict != certificate.Inconclusive:
		return finding(audit.KindNotReproduced, "the kernel did not finish"), nil
	case !report.Agrees:
		return finding(audit.KindContradicted, fmt.Sprintf("verdict %s by %s, differing in %v", report.Found, report.Rev, report.Differing)), nil
	}
	return nil, nil
}

// auditReport is the report with what was checked.
type auditReport struct {
	auditor.Report

	Checks []checkState `json:"checks"`
}

// checkState is what came of a check.
type checkState struct {
	Name     string `json:"name"`
	Proves   string `json:"proves"`
	State    string `json:"state"` // agrees, findings, partly: agrees as far as it was looked at, not_checked
	Findings int    `json:"findings"`
	Why      string `json:"why,omitempty"` // something was not looked at
}

func (s checkState) String() string {
	switch s.State {
	case "agrees":
		return "agrees"
	case "findings":
		return fmt.Sprintf("%d findings", s.Findings)
	case "partly":
		return "agrees, but for " + s.Why
	}
	return "not checked: " + s.Why
}

// asked is what an audit was asked to look at besides the log, and how many anchors, contents and keys were kept elsewhere.
type asked struct {
	blobs, recheck, reverify bool
	anchors, contents, keys  int
}

func (c *auditLogCmd) askedFor(config auditor.Config) asked {
	return asked{
		blobs: config.Blobs != nil, recheck: config.Recheck != nil, reverify: config.Reverify != nil,
		anchors: len(c.Anchor), contents: len(c.Content), keys: len(config.OutsideKeys),
	}
}

// checkStates tells of each check whether it agrees, and whether it was made at all.
func checkStates(r auditor.Report, a asked) []checkState {
	found := map[string]int{}
	for _, f := range r.Findings {
		if f.Severity != audit.Note {
			found[f.Check]++
		}
	}
	notMade := map[string]string{}
	for check, why := range map[string]string{
		audit.CheckChain:    unless(r.Chained, "the source has no hash chain"),
		audit.CheckRecheck:  unless(a.recheck, "--recheck was not given") + unless(!a.recheck || r.Rechecked > 0, "there is no certificate"),
		audit.CheckReverify: unless(a.reverify, "--reverify was not given") + unless(!a.reverify || r.Reverified > 0, "no answer has a verdict"),
		audit.CheckTables:   unless(r.ReadModels, "no database of read models, or no blobs, were named") + unless(!r.ReadModels || r.Tables, "the findings say why"),
		audit.CheckBlobs:    unless(a.blobs || r.Counts.NotChecked == 0, "no blobs were named"),
	} {
		notMade[check] = why
	}
	partly := unless(r.Counts.NotChecked == 0, fmt.Sprintf("%d events whose blobs were not looked at", r.Counts.NotChecked))
	unread := ""
	for _, f := range r.Findings {
		if f.Kind == audit.KindUnreadable || f.Kind == audit.KindExport {
			unread = unreadPart(r, f.Position)
		}
	}
	var states []checkState
	for _, check := range audit.Checks() {
		s := checkState{Name: check.Name, Proves: check.Proves, State: "agrees", Findings: found[check.Name]}
		switch {
		case s.Findings > 0:
			s.State = "findings"
		case notMade[check.Name] != "":
			s.State, s.Why = "not_checked", notMade[check.Name]
		case unread != "":
			s.State, s.Why = "partly", unread
		case partly != "" && audit.NeedsBlobs(check.Name):
			s.State, s.Why = "partly", partly
		}
		states = append(states, s)
	}
	return states
}

// unreadPart is what of a log was not judged. The events just before the damage are not judged either: they stand in a record with it, or
// their command's last event is lost.
func unreadPart(r auditor.Report, damagedAt uint64) string {
	if r.Counts.Events == 0 {
		return fmt.Sprintf("all events: none could be read, the log is damaged at position %d", damagedAt)
	}
	return fmt.Sprintf("what follows position %d: it was not read, the log is damaged at position %d", r.Position, damagedAt)
}

// unless is why something was not done; empty if it was.
func unless(done bool, why string) string {
	if done {
		return ""
	}
	return why
}

// isWrong tells whether there is a finding that is more than a note.
func isWrong(findings []audit.Finding) bool {
	for _, f := range findings {
		if f.Severity != audit.Note {
			return true
		}
	}
	return false
}

// isFolder tells whether the source is a folder, whose blobs and read models may lie beside the log.
func (s auditSource) isFolder() bool { return s.Eventstore == nil && s.Export == "" }

// logFolder is the folder of the log in a data folder, or the folder itself.
func (s auditSource) logFolder() string { return logFolderIn(s.Data) }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// requireLog returns an error that names the log of a data folder whose servers have it elsewhere.
func (s auditSource) requireLog() error {
	if s.logFolder() != s.Data {
		return nil
	}
	served, _, found, err := readServed(s.Data)
	if err != nil || !found || served.Eventstore == config.EmbeddedLog {
		return err
	}
	return fmt.Errorf("the log of %s is not in it: its server had it at %s. Give that with --eventstore, with the password that it needs; or audit the folder of that log, a backup or an export", s.Data, served.Eventstore)
}

// open returns the source of a log.
func (s auditSource) open(ctx context.Context, anchorFiles []string) (auditor.Source, func(), error) {
	var anchors []eventlog.Anchor
	for _, path := range anchorFiles {
		anchor, err := readAnchor(path)
		if err != nil {
			return nil, nil, err
		}
		anchors = append(anchors, *anchor)
	}
	switch {
	case s.Export != "":
		return auditor.Export{Path: s.Export, Anchors: anchors}, func() {}, nil
	case s.isFolder():
		if err := s.requireLog(); err != nil {
			return nil, nil, err
		}
		return auditor.Folder{Dir: s.logFolder(), Anchors: anchors}, func() {}, nil
	case len(anchors) > 0:
		return nil, nil, errors.New("--anchor: a server does not show the hash chain; audit the folder of its log, or a backup or an export of it")
	}
	store, err := connect(ctx, *s.Eventstore, s.Insecure)
	if err != nil {
		return nil, nil, err
	}
	return auditor.Store{Store: store}, store.Close, nil
}

// openBlobs returns nil where blobs are not looked at.
func (c *auditLogCmd) openBlobs(ctx context.Context) (event.BlobReader, error) {
	address := blobs.Address{Folder: c.Blobs}
	switch {
	case c.Blobs == "none":
		return nil, nil
	case c.Blobs == "":
		if address.Folder = filepath.Join(c.Data, "blobs"); !c.isFolder() || c.logFolder() == c.Data {
			return nil, nil // no installation's folder: nobody knows where its blobs are
		}
		if !isFolder(address.Folder) {
			return nil, fmt.Errorf("there is no %s: say where the installation's blobs are with --blobs, or --blobs none to leave them out", address.Folder)
		}
	case strings.Contains(c.Blobs, "://"):
		var err error
		if address, err = blobs.ParseAddress(c.Blobs); err != nil {
			return nil, err
		}
	}
	return blobsAt(ctx, address)
}

// readModels is the address of the read models to compare; empty: none. Without blobs their texts are not known.
func (c *auditLogCmd) readModels(hasBlobs bool) string {
	switch c.ReadModels {
	case "none":
		return ""
	case "":
		path := filepath.Join(c.Data, "readmodels.db")
		if _, err := os.Stat(path); err != nil || !hasBlobs || !c.isFolder() {
			return ""
		}
		return "sqlite:" + path
	}
	return c.ReadModels
}

// readWitnessed reads the checkpoints that were kept, and the keys of witnesses.
func (c *auditLogCmd) readWitnessed(config *auditor.Config) error {
	for _, path := range c.Checkpoint {
		content, err := readBounded(path, audit.MaxCheckpointBytes)
		if err != nil {
			return err
		}
		kept, err := audit.ParseCheckpoint(string(content))
		if err != nil {
			return fmt.Errorf("--checkpoint %s: %w; give the answer of GET /transparency/checkpoint as it was served", path, err)
		}
		config.Checkpoints = append(config.Checkpoints, kept)
	}
	for _, text := range c.Content {
		content, err := audit.ParseContent(text)
		if err != nil {
			return fmt.Errorf("--content %q: %w", text, err)
		}
		config.Contents = append(config.Contents, content)
	}
	for _, text := range c.WitnessKey {
		key, err := witness.ParseKey(text)
		if err != nil {
			return fmt.Errorf("--witness-key %q: %w; `reckon witness` prints it at its start", text, err)
		}
		config.Witnesses = append(config.Witnesses, audit.Witness{Name: key.Name(), Public: key.Public()})
	}
	return nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(path string, maxBytes int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && int64(len(content)) > maxBytes {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxBytes)
	}
	return content, err
}

// readKeySet reads a JWK set of Ed25519 keys (RFC 7517, RFC 8037); nil without a file.
func readKeySet(path string) (map[string]ed25519.PublicKey, error) {
	const maxBytes = 1 << 20
	if path == "" {
		return nil, nil
	}
	content, err := readBounded(path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	var set struct {
		Keys []struct {
			KID string `json:"kid"`
			X   string `json:"x"`
		} `json:"keys"`
	}
	if err = json.Unmarshal(content, &set); err == nil && len(set.Keys) == 0 {
		err = errors.New("it has no keys")
	}
	byKID := map[string]ed25519.PublicKey{}
	for _, key := range set.Keys {
		if err == nil {
			byKID[key.KID], err = keys.DecodeX(key.X)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--keys %s: %w; give the answer of GET /.well-known/service-keys.json as it was served", path, err)
	}
	return byKID, nil
}

func showAudit(display *progress.Display, p auditor.Progress) {
	display.Show(func() []progress.Task {
		if p.ToReverify > 0 {
			rate := float64(p.Reverified) / p.Elapsed.Seconds()
			left := max(0, p.ToReverify-p.Reverified)
			return []progress.Task{{Name: "verifying again", Done: min(1, float64(p.Reverified)/float64(p.ToReverify)), Left: time.Duration(float64(left) / max(rate, 1e-9) * float64(time.Second)), Unit: "answers", Rate: rate}}
		}
		task := progress.Task{Name: "auditing", Done: -1, Left: -1, Unit: "events", Rate: float64(p.Events) / p.Elapsed.Seconds(), Extra: fmt.Sprintf("position %d, %d findings", p.Position, p.Findings)}
		if p.Head > 0 {
			task.Done = min(1, float64(p.Position)/float64(p.Head))
			task.Left = time.Duration(float64(p.Elapsed) * (1/max(task.Done, 1e-9) - 1))
		}
		return []progress.Task{task}
	})
}

// transparencyLine says how far the transparency log was signed, and by whom cosigned.
func transparencyLine(t audit.Transparency) string {
	if t.Leaves == 0 {
		return ""
	}
	line := fmt.Sprintf("  transparency log: %d leaves, %d checkpoints", t.Leaves, t.Checkpoints)
	if t.Checkpoints > 0 {
		line += fmt.Sprintf(", the newest of %d leaves with root %q", t.Signed, t.Root)
	}
	for _, by := range t.Cosigned {
		verified := "not verified: give --witness-key"
		if by.Verified {
			verified = "verified"
		}
		line += fmt.Sprintf("; cosigned by %q up to %d leaves (%s)", by.Witness, by.Size, verified)
	}
	if t.Kept > 0 {
		line += fmt.Sprintf("; %d kept checkpoints compared", t.Kept)
	}
	if t.Anchored > 0 {
		line += fmt.Sprintf(", all events up to position %d are those of one of them", t.Anchored)
	}
	return line + "\n"
}

// keptLine says what came of the anchors, contents and keys that were given; of checkpoints the line of the transparency log says it.
func keptLine(r auditor.Report, a asked) string {
	var said []string
	for _, kept := range []struct {
		what    string
		given   int
		against []audit.Kind
	}{
		{"anchors", a.anchors, []audit.Kind{audit.KindAnchor, audit.KindUnreadable, audit.KindExport}},
		{"contents", a.contents, []audit.Kind{audit.KindContent, audit.KindUnreadable, audit.KindExport}},
		{"public keys", a.keys, []audit.Kind{audit.KindKeyOutside, audit.KindKeySince, audit.KindKeyAbsent, audit.KindUnreadable, audit.KindExport}},
	} {
		if kept.given == 0 {
			continue
		}
		came := "agree"
		if slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return slices.Contains(kept.against, f.Kind) }) {
			came = "see the findings"
		}
		said = append(said, fmt.Sprintf("%d %s: %s", kept.given, kept.what, came))
	}
	if len(said) == 0 {
		return ""
	}
	return "  kept elsewhere: " + strings.Join(said, "; ") + "\n"
}

// printAudit prints a report for people.
func printAudit(out io.Writer, r auditor.Report, a asked) error {
	var b strings.Builder
	c := r.Counts
	fmt.Fprintf(&b, "log named %s (an anchor has the id of the folder's chain instead), up to position %d: %d events in %d streams, in %s\n", r.LogID, r.Position, c.Events, c.Streams, r.Elapsed.Round(time.Millisecond))
	fmt.Fprintf(&b, "  %d accounts, %d runs, %d receipts, %d signatures, %d jobs, %d slots and %d refunds, %d uploads, %d certificates, %d invoices\n",
		c.Accounts, c.Runs, c.Receipts, c.Signatures, c.Jobs, c.Slots, c.Refunds, c.Uploads, c.Certificates, c.Invoices)
	fmt.Fprintf(&b, "  content %s\n", r.Content)
	b.WriteString(keptLine(r, a))
	b.WriteString(transparencyLine(r.Transparency))
	for _, state := range checkStates(r, a) {
		fmt.Fprintf(&b, "  %-12s %s\n", state.Name, state)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s\n    %s\n", f, f.Remedy)
	}
	verdict := "clean: nothing in this log contradicts its rules, its keys or itself"
	if isWrong(r.Findings) {
		verdict = "NOT CLEAN: see the findings above"
	}
	fmt.Fprintln(&b, verdict)
	_, err := io.WriteString(out, b.String())
	return err
}
