package verifier

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is what of a file is verified.
type Report struct {
	Kind       string         // receipt, quote, record, certificate, checkpoint or growth
	Verified   map[string]any // by name; members of objects as "record.answer"
	NotCovered []string       // names of the file's members that nothing vouches for, sorted
}

func (r *Report) add(name string, value any) {
	if r.Verified == nil {
		r.Verified = map[string]any{}
	}
	r.Verified[name] = value
}

func (r *Report) addCheckpoint(prefix string, log Log, c checkpoint) {
	r.add(prefix+"origin", log.origin)
	r.add(prefix+"size", c.size)
	r.add(prefix+"root", base64.StdEncoding.EncodeToString(c.root[:]))
	r.add(prefix+"witnesses", len(log.witnesses))
	if c.chain.log != "" {
		r.add(prefix+"chain.log", c.chain.log)
		r.add(prefix+"chain.position", c.chain.position)
		r.add(prefix+"chain.link", c.chain.link)
	}
}

// leaveOut notes the members of a document that are not vouched for; of a certificate's export and checker one by one.
func (r *Report) leaveOut(document object, vouched map[string]bool) {
	for name, value := range document {
		inner, ok := value.(object)
		if !ok || len(inner) == 0 || name != "export" && name != "checker" {
			if !vouched[name] || strings.Contains(name, ".") { // a name with a dot is not that of a member within
				r.NotCovered = append(r.NotCovered, name)
			}
			continue
		}
		for each := range inner {
			if !vouched[name+"."+each] {
				r.NotCovered = append(r.NotCovered, name+"."+each)
			}
		}
	}
	slices.Sort(r.NotCovered)
}

// String is the report as people read it, in ASCII: nothing in it that a terminal obeys.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "verified: %s\n", r.Kind)
	for _, name := range slices.Sorted(maps.Keys(r.Verified)) {
		fmt.Fprintf(&out, "  %s: %s\n", plain(name), canonical(r.Verified[name]))
	}
	if len(r.NotCovered) > 0 {
		fmt.Fprintf(&out, "not covered by any signature: %s\n", canonical(r.NotCovered))
	}
	return out.String()
}

// plain is a text with everything outside of printable ASCII escaped.
func plain(name string) string {
	quoted := canonical(name)
	return quoted[1 : len(quoted)-1]
}

// Files names a file to verify, and what a reader has beside it, which is read where the file needs it; empty: the reader has none.
type Files struct {
	File, Keys, Log, Inclusion string
	Witnesses                  []string // verifier keys that must have cosigned
	Grown                      string   // an older checkpoint, which File must continue
	Tiles                      string   // where the tiles are, for Grown
	// Read returns at most MaxBytes+1 bytes of a file.
	Read func(name string) ([]byte, error)
}

// whereFrom says of each flag what it takes.
var whereFrom = map[string]string{
	"keys":      "the service's keys, its /.well-known/service-keys.json or a copy that you kept",
	"log":       "the log's keys, its /.well-known/transparency-log.json or a copy that you kept",
	"inclusion": "the proof that it is in the log: the answer of /inclusion below its address",
	"tiles":     "the log's tiles: the address that ends with /transparency",
}

// need reads a file without which another cannot be verified.
func (f Files) need(flag, name string) ([]byte, error) {
	if name == "" {
		return nil, fmt.Errorf("say --%s, a file or an address: this file cannot be verified without %s", flag, whereFrom[flag])
	}
	return f.Read(name)
}

// needJSON reads the object of a file without which another cannot be verified. A file that another flag takes is no evidence against anything.
func (f Files) needJSON(flag, name, what string) (object, error) {
	raw, err := f.need(flag, name)
	if err != nil {
		return nil, err
	}
	document, err := readJSON(raw, what)
	if err != nil {
		return nil, err
	}
	switch other := flagOf(document); other {
	case flag, "":
		return document, nil
	case "file":
		return nil, fmt.Errorf("the file of --%s is a receipt or certificate: name it without a flag", flag)
	default:
		return nil, fmt.Errorf("the file of --%s is what --%s takes: give it as --%s", flag, other, other)
	}
}

// flagOf is the flag that takes a document, as its members tell; "file" for one that is named without a flag, empty for an unknown one.
func flagOf(document object) string {
	for _, known := range []struct{ member, flag string }{
		{"tlog_proof", "inclusion"}, {"record", "file"}, {"certificate_id", "file"}, {"origin", "log"},
	} {
		if _, there := document[known.member]; there {
			return known.flag
		}
	}
	if entries, is := document["keys"].([]any); is && !slices.ContainsFunc(entries, isLogKey) {
		return "keys"
	}
	return ""
}

// isLogKey tells an entry of a log's file from one of a key set.
func isLogKey(entry any) bool {
	members, _ := entry.(object)
	_, there := members["key"]
	return there
}

// Verify tells a file by its content and verifies it. A file that does not verify is a *RefusedError.
func Verify(f Files) (*Report, error) {
	report := &Report{}
	file, err := f.Read(f.File)
	if err != nil {
		return nil, err
	}
	if f.Grown != "" {
		return report, f.verifyGrown(file, report)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(file, whiteSpace), []byte("{")) {
		return report, f.verifyCheckpoint(file, report)
	}
	document, err := readJSON(file, "the file")
	if err != nil && hasLines(file) {
		err = refuse("it is an export, which no key has signed: `reckon audit --export FILE` reads one of a log, `reckon lean check FILE --all` one of proofs")
	}
	if err != nil {
		return nil, err
	}
	_, isCertificate := document["certificate_id"]
	_, isReceipt := document["record"]
	switch {
	case isCertificate:
		err = f.verifyCertificate(document, report)
	case isReceipt:
		err = f.verifyReceipt(document, report)
	default:
		err = otherFile(document)
	}
	return report, err
}

const whiteSpace = " \t\r\n"

// hasLines reports whether a file is several objects, one a line, as exports are.
func hasLines(file []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimLeft(file, whiteSpace), []byte("\n"))
	_, err := readJSON(first, "a line")
	return err == nil && bytes.HasPrefix(rest, []byte("{"))
}

// otherFile says what a file is that is none to be verified: one that others are verified with, or unknown.
func otherFile(document object) error {
	if flag := flagOf(document); flag != "" {
		return refuse("it is what --%s takes: name the receipt, certificate or checkpoint before it", flag)
	}
	return refuse("it is no receipt, certificate or checkpoint")
}

func (f Files) log() (Log, error) {
	document, err := f.needJSON("log", f.Log, "the log's file")
	if err != nil {
		return Log{}, err
	}
	return readLog(document, f.Witnesses)
}

func (f Files) inclusion() (object, error) {
	return f.needJSON("inclusion", f.Inclusion, "the inclusion")
}

func (f Files) verifyGrown(file []byte, report *Report) error {
	raw, err := f.Read(f.Grown)
	if err != nil {
		return err
	}
	older, err := readNote(raw)
	if err != nil {
		return err
	}
	newer, err := readNote(file)
	if err != nil {
		return err
	}
	log, err := f.log()
	if err != nil {
		return err
	}
	tile := func(path string) ([]byte, error) {
		if f.Tiles == "" {
			return f.need("tiles", f.Tiles)
		}
		return f.Read(strings.TrimRight(f.Tiles, "/") + path)
	}
	return verifyGrown(older, newer, log, tile, report)
}

func (f Files) verifyCheckpoint(file []byte, report *Report) error {
	note, err := readNote(file)
	if err != nil {
		return err
	}
	if !strings.Contains(note, "\n\n") || f.Log == "" && !strings.Contains(note, "\n\n— ") { // before a reader is asked for the log's file
		return refuse("it is not a signed note, as a checkpoint is, nor the JSON of a receipt or certificate")
	}
	log, err := f.log()
	if err != nil {
		return err
	}
	c, err := log.open(note)
	if err != nil {
		return err
	}
	report.Kind = "checkpoint"
	report.addCheckpoint("", log, c)
	return nil
}

func (f Files) verifyCertificate(document object, report *Report) error {
	inclusion, err := f.inclusion()
	if err != nil {
		return err
	}
	leaf, err := certificateLeaf(document, inclusion, report)
	if err != nil {
		return err
	}
	log, err := f.log()
	if err != nil {
		return err
	}
	return verifyInclusion(leaf, inclusion, log, report)
}

func (f Files) verifyReceipt(document object, report *Report) error {
	set, err := f.needJSON("keys", f.Keys, "the key set")
	if err != nil {
		return err
	}
	keys, err := readKeys(set)
	if err != nil {
		return err
	}
	seal, err := verifyReceipt(document, keys, report)
	if err != nil || f.Inclusion == "" && f.Log == "" && len(f.Witnesses) == 0 {
		return err
	}
	inclusion, err := f.inclusion()
	if err != nil {
		return err
	}
	log, err := f.log()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(log.witnesses, keys.has) {
		return refuse("a key of the service is no witness")
	}
	leaf := strings.Join([]string{"reckon leaf v1", "receipt", seal.id, seal.kid, seal.signature, ""}, "\n")
	return verifyInclusion(leaf, inclusion, log, report)
}
