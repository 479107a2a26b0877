package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"reckon/domain/audit/audittest"
	"reckon/domain/billing"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/domain/transparency"
	"reckon/test/python"
)

// accountFiles are what somebody needs who checks an account by docs/verify_account.py: keys, and a checkpoint with its witness.
func accountFiles(t *testing.T, l *audittest.Log) (arguments []string) {
	t.Helper()
	folder := t.TempDir()
	signed, cosigned := l.Find("checkpoint.signed", 2).Event.(transparency.Signed), l.Find("checkpoint.cosigned", 2).Event.(transparency.Cosigned)
	note, err := signed.Note(cosigned.Cosignatures)
	must(t, err)
	var sealing, signing []map[string]string
	for _, e := range l.Events {
		if published, is := e.Event.(keys.Published); is {
			public, err := keys.DecodeX(published.X)
			must(t, err)
			sealing = append(sealing, map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": published.KID, "x": published.X})
			signing = append(signing, map[string]string{"key": transparency.VerifierKey(signed.Origin, public)})
		}
	}
	put := func(name string, content any) string {
		text, err := json.Marshal(content)
		if note, is := content.(string); is {
			text = []byte(note)
		}
		must(t, err)
		file := filepath.Join(folder, name)
		must(t, os.WriteFile(file, text, 0o600))
		return file
	}
	return []string{put("checkpoint", note), "--keys", put("keys.json", map[string]any{"keys": sealing}),
		"--log", put("log.json", map[string]any{"origin": signed.Origin, "keys": signing}), "--witness", witnessKey()}
}

// witnessKey is the verifier key of the witness of these logs (C2SP signed-note).
func witnessKey() string {
	w := audittest.Witness()
	material := append([]byte{4}, w.Public...)
	id := sha256.Sum256(append([]byte(w.Name+"\n"), material...))
	return fmt.Sprintf("%s+%x+%s", w.Name, id[:4], base64.StdEncoding.EncodeToString(material))
}

// verifyAccount runs docs/verify_account.py on the export of a log, whose hash chain whoever changed it has made anew.
func verifyAccount(t *testing.T, l *audittest.Log, account string, arguments []string) string {
	t.Helper()
	dir := t.TempDir()
	_, err := write(filepath.Join(dir, "log"), logID, l.Stored(t))
	must(t, err)
	file := filepath.Join(dir, "log"+exportSuffix)
	exportTo(t, filepath.Join(dir, "log"), file)
	return verifyExport(t, file, account, arguments)
}

// verifyExport runs docs/verify_account.py on an export.
func verifyExport(t *testing.T, file, account string, arguments []string) string {
	t.Helper()
	program := filepath.Join("..", "..", "docs", "verify_account.py")
	output, err := exec.Command(python.With(t, "cryptography==46.0.3\n"), append([]string{program, file, account}, arguments...)...).CombinedOutput()
	if verified := strings.HasPrefix(string(output), "verified: "); verified != (err == nil) || !verified && !strings.HasPrefix(string(output), "not verified: ") {
		t.Errorf("%v: %s", err, output)
	}
	return string(output)
}

// TestAnAccountIsVerifiedByOthers: by a program that shares no code with the service, from an export, keys and one cosigned checkpoint. What
// contradicts itself is found by what follows from it; everything else, in any account, because the checkpoint commits to another log.
func TestAnAccountIsVerifiedByOthers(t *testing.T) {
	t.Parallel()
	l := audittest.True()
	arguments := accountFiles(t, l)
	for account, want := range map[string][]string{
		audittest.Alice: {"receipt.sealed: 4", "slots.spent: ", "slots.refunded: ", "job.queued: ", "run.failed: "},
		audittest.Bob:   {"invoice.issued: ", "subscription.started: "},
	} {
		said := verifyAccount(t, l, account, arguments)
		for _, line := range want {
			if !strings.Contains(said, "\n  "+line) {
				t.Errorf("%s: no %q in %s", account, line, said)
			}
		}
	}
	const another = "is not the one that the checkpoint commits to"
	for name, c := range map[string]struct {
		change func(l *audittest.Log)
		want   string
	}{
		"a run": {func(l *audittest.Log) {
			e := l.Find("run.evaluated", 1)
			changed := e.Event.(run.Evaluated)
			changed.Answer.Inline = "3"
			e.Event = changed
		}, "the receipt is not of the run before it"},
		"a run that is not what its job published": {func(l *audittest.Log) {
			e := l.Find("run.evaluated", 3)
			changed := e.Event.(run.Evaluated)
			changed.ExecutionMS++
			e.Event = changed
		}, "the run is not the one that its job has published"},
		"a slot": {func(l *audittest.Log) {
			e := l.Find("slots.spent", 1)
			changed := e.Event.(slots.Spent)
			changed.Submission.TimeoutMS++
			e.Event = changed
		}, "the job is not the one that its slot was spent for"},
		"a refund twice": {func(l *audittest.Log) {
			l.InsertAfter(l.Find("slots.refunded", 1), l.CopyOf(l.Find("slots.refunded", 1)))
		}, "a slot is given back that was not spent"},
		"a receipt that was taken out": {func(l *audittest.Log) { l.Remove(l.Find("receipt.sealed", 1)) }, "not verified: "},
		"an invoice of the account": {func(l *audittest.Log) {
			e := l.Find("invoice.issued", 1)
			changed := e.Event.(billing.Issued)
			changed.AmountMinor++
			e.Event = changed
		}, "not the sum of its lines"},
		"who did it":                        {func(l *audittest.Log) { l.Find("run.failed", 1).Metadata.Actor = "operator" }, another},
		"an event that was taken out":       {func(l *audittest.Log) { l.Remove(l.Find("run.failed", 1)) }, another},
		"an event of an account of another": {func(l *audittest.Log) { l.Find("account.registered", 3).Metadata.Agent = "another" }, another},
		"the end":                           {func(l *audittest.Log) { l.Events = l.Events[:l.Index(l.Find("receipt.sealed", 4))] }, "the export ends before position"},
	} {
		t.Run(name, func(t *testing.T) {
			l := audittest.True()
			c.change(l)
			account := audittest.Alice
			if strings.HasPrefix(name, "an invoice") {
				account = audittest.Bob
			}
			if said := verifyAccount(t, l, account, arguments); !strings.Contains(said, c.want) {
				t.Errorf("it says %s, want %s", said, c.want)
			}
		})
	}
	if said := verifyAccount(t, l, audittest.UUID(0x999), arguments); !strings.Contains(said, "the log has no such account") {
		t.Errorf("nobody's: %s", said)
	}
	other := transparency.VerifierKey("witness.example/2", ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey))
	if said := verifyAccount(t, l, audittest.Alice, append(arguments[:len(arguments)-1:len(arguments)-1], other)); !strings.HasPrefix(said, "not verified: ") {
		t.Errorf("another witness: %s", said)
	}
}

// TestAnAccountIsReadFromWhatIsHashed: an export whose lines make the checkpoint's hash chain, and show other events than it commits to, is refused.
func TestAnAccountIsReadFromWhatIsHashed(t *testing.T) {
	t.Parallel()
	l := audittest.True()
	arguments, dir := accountFiles(t, l), t.TempDir()
	_, err := write(filepath.Join(dir, "log"), logID, l.Stored(t))
	must(t, err)
	exported := filepath.Join(dir, "log"+exportSuffix)
	exportTo(t, filepath.Join(dir, "log"), exported)
	content, err := os.ReadFile(exported)
	must(t, err)
	parts := regexp.MustCompile(`(?m)^(\{"position".*"type":"invoice.issued",.*),"data":(\{.*\}),"metadata":(\{.*\}),"salt":"([0-9a-f]{32})"(,"last":.*\})$`).FindStringSubmatch(string(content))
	if parts == nil {
		t.Fatal("the export has no invoice")
	}
	line, before, data, metadata, salt, after := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
	forged := regexp.MustCompile(`"amount_minor":\d+`).ReplaceAllString(data, `"amount_minor":1`)
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	member := func(name, value string) string { return fmt.Sprintf(`,"%s":%s`, name, value) }
	shown, salted := member("data", data)+member("metadata", metadata), member("salt", `"`+salt+`"`)
	stored64 := member("data_base64", `"`+in64(data)+`"`) + member("metadata_base64", `"`+in64(metadata)+`"`)
	raw, err := hex.DecodeString(salt)
	must(t, err)
	lengths := member("data_bytes", strconv.Itoa(len(data))) + member("metadata_bytes", strconv.Itoa(len(metadata)))
	removed := fmt.Sprintf(`,"removed":true%s,"payload_sha256":"%x"`, lengths, sha256.Sum256([]byte(string(raw)+metadata+data)))
	invoice := member("type", `"invoice.issued"`)
	stream := regexp.MustCompile(`,"stream":"([^"]*)"`).FindStringSubmatch(before)
	const twice, there, gone = "twice", "its payload is said to be removed, and is there", "the export does not hold all of the log"
	for name, c := range map[string]struct{ line, want string }{
		"as it is":                         {line, "\n  invoice.issued: "},
		"in base64":                        {before + stored64 + salted + after, "\n  invoice.issued: "},
		"type in base64":                   {strings.Replace(line, invoice, member("type_base64", `"`+in64("invoice.issued")+`"`), 1), "\n  invoice.issued: "},
		"removed, with data":               {before + member("data", forged) + removed + after, there},
		"removed, with data in base64":     {before + member("data_base64", `"`+in64(forged)+`"`) + removed + after, there},
		"removed, with metadata":           {before + member("metadata", metadata) + removed + after, there},
		"removed, with a salt":             {before + removed + salted + after, there},
		"removed":                          {before + removed + after, gone},
		"removed: false":                   {before + strings.Replace(removed, "true", "false", 1) + after, gone},
		"data beside base64":               {before + member("data", forged) + stored64 + salted + after, twice},
		"data behind base64":               {before + stored64 + member("data", forged) + salted + after, twice},
		"data twice":                       {before + member("data", forged) + shown + salted + after, twice},
		"a name that is escaped":           {before + member(`d\u0061ta`, forged) + shown + salted + after, twice},
		"type beside base64":               {strings.Replace(line, invoice, member("type", `"note"`)+member("type_base64", `"`+in64("invoice.issued")+`"`), 1), twice},
		"stream beside base64":             {strings.Replace(line, stream[0], member("stream", `"note-1"`)+member("stream_base64", `"`+in64(stream[1])+`"`), 1), twice},
		"other data in base64":             {before + member("data_base64", `"`+in64(forged)+`"`) + member("metadata", metadata) + salted + after, "not verified: "},
		"salt twice":                       {before + shown + salted + salted + after, twice},
		"the payload as salt":              {before + member("salt", fmt.Sprintf(`"%x"`, string(raw)+metadata+data)) + lengths + after, "its salt has not 16 bytes"},
		"the metadata as data, by lengths": {before + member("data_base64", `"`+in64(metadata+data)+`"`) + lengths + salted + after, "not verified: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log"+exportSuffix)
			must(t, os.WriteFile(file, []byte(strings.Replace(string(content), line, c.line, 1)), 0o600))
			if said := verifyExport(t, file, audittest.Bob, arguments); !strings.Contains(said, c.want) {
				t.Errorf("it says %s, want %s", said, c.want)
			}
		})
	}
}
