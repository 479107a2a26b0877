// Package verifiers_test tries forged files on both verifiers, reckon verify and docs/verify.py: each vector has the sentence that both must
// say, and of every file both must print the same text.
package verifiers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reckon/internal/verifier"
	"reckon/test/python"
)

// vector is a set of files; want is "verified: …" or the sentence of a refusal.
type vector struct {
	name string
	make func(t testing.TB, f *files)
	want string
}

const (
	aReceipt      = "verified: receipt"
	aCertificate  = "verified: certificate"
	malformed     = " is not JSON of unique names, integers below 2^53 and Unicode"
	badSignature  = "the signature of the receipt does not verify"
	notInTree     = "it is not in the tree"
	noProofOfIt   = "the proof is of another leaf"
	notOne        = "it is not a signed note, as a checkpoint is, nor the JSON of a receipt or certificate"
	recordChanged = "the record is not what was signed"
	badNote       = "a signature of the checkpoint is not one of a note"
)

var (
	ofReceipt     = []string{"receipt", "--keys", "keys"}
	ofLogged      = []string{"receipt", "--keys", "keys", "--log", "log", "--inclusion", "receipt-inclusion"}
	ofCertificate = []string{"certificate", "--log", "log", "--inclusion", "certificate-inclusion", "--witness", witness}
	ofCheckpoint  = []string{"newer", "--log", "log"}
	ofGrowth      = []string{"newer", "--grown", "older", "--log", "log", "--tiles", "."}
)

// with are arguments with more of them.
func with(arguments []string, more ...string) []string {
	return append(append([]string{}, arguments...), more...)
}

// spellings are other spellings of the bytes of base64, and other bytes.
func spellings(text string) map[string]string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	other := bytes.Clone(raw)
	other[len(other)-1] ^= 1
	return map[string]string{
		"a line feed within": text[:10] + "\n" + text[10:], "foreign signs": text[:10] + "!!" + text[10:], "a space at the end": text + " ", "a line feed at the end": text + "\n",
		"no padding": strings.TrimRight(text, "=") + strings.Repeat("", 0), "more padding": text + "====", "nothing": "", "one byte less": std(raw[:len(raw)-1]),
		"one byte more": std(append(bytes.Clone(raw), 0)), "another byte": std(other), "not ASCII": "é" + text[1:], "NUL": text[:4] + "\x00" + text[5:],
	}
}

func vectors() (all []vector) {
	add := func(arguments []string, name, want string, change func(t testing.TB, f *files)) {
		all = append(all, vector{name, func(t testing.TB, f *files) {
			f.arguments = arguments
			if change != nil {
				change(t, f)
			}
		}, want})
	}
	trueVectors(add)
	jsonVectors(add)
	receiptVectors(add)
	keyVectors(add)
	noteVectors(add)
	proofVectors(add)
	certificateVectors(add)
	judgedVectors(add)
	growthVectors(add)
	return all
}

type adder = func(arguments []string, name, want string, change func(t testing.TB, f *files))

func trueVectors(add adder) {
	add(ofReceipt, "a receipt", aReceipt, nil)
	add(ofLogged, "a receipt in the log", aReceipt, nil)
	add(with(ofLogged, "--witness", witness), "a receipt in the log by a witness", aReceipt, nil)
	add(ofCertificate, "a certificate", aCertificate, nil)
	add(ofCheckpoint, "a checkpoint", "verified: checkpoint", nil)
	add(with(ofCheckpoint, "--witness", witness), "a checkpoint by a witness", "verified: checkpoint", nil)
	add(ofGrowth, "a tree that grew", "verified: growth", nil)
	add(ofReceipt, "a quote", "verified: quote\n", func(_ testing.TB, f *files) {
		f.content["receipt"] = encode(seal(object{"plan": "pro", "amount_minor": 4900, "expires_at": "2026-08-02T12:00:00.000Z"}, key("service")))
	})
	add(ofReceipt, "another record", "verified: record\n", func(_ testing.TB, f *files) { f.content["receipt"] = encode(seal(object{"v": 1}, key("service"))) })
	add(ofReceipt, "white space around", aReceipt, func(t testing.TB, f *files) {
		f.content["receipt"] = []byte("\n\t " + string(f.content["receipt"]) + " \r\n")
	})
	add(ofReceipt, "a member that is not known is named", `not covered by any signature: ["answer","keys_url","receipt_url"]`, func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) { d["answer"] = "3" })
	})
	add(ofReceipt, "a name with signs that a terminal obeys", `not covered by any signature: ["\u001b[2Jverified","keys_url"`, func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) { d["\x1b[2Jverified"] = "3" })
	})
	for name, text := range map[string]string{"accents": "é ü", "beyond the basic plane": "𝔸 🙂", "control signs": "\x01\x7f\u0085", "quotes and slashes": `"\/<>&`, "line separators": "\u2028\u2029"} {
		add(ofReceipt, "a record with "+name, aReceipt, func(t testing.TB, f *files) {
			r := record()
			r["answer"] = text
			f.content["receipt"] = sealUnicode(t, r)
		})
	}
}

func jsonVectors(add adder) {
	for name, change := range map[string][2]string{
		"a forged record before the true one":  {`{"canonical_form"`, `{"record":{"answer":"3"},"canonical_form"`},
		"a forged answer before the true one":  {`"answer":"2"`, `"answer":"3","answer":"2"`},
		"a forged answer after the true one":   {`"answer":"2"`, `"answer":"2","answer":"3"`},
		"a name twice, once escaped":           {`"answer":"2"`, `"\u0061nswer":"3","answer":"2"`},
		"a name twice deep inside":             {`"name":"woxi"`, `"name":"x","name":"woxi"`},
		"a signature twice":                    {`"signature":`, `"signature":null,"signature":`},
		"a lone surrogate":                     {`"answer":"2"`, `"answer":"\ud800"`},
		"NaN":                                  {`"run_id":7`, `"run_id":NaN`},
		"Infinity":                             {`"run_id":7`, `"run_id":Infinity`},
		"a fraction":                           {`"run_id":7`, `"run_id":7.0`},
		"an exponent":                          {`"run_id":7`, `"run_id":7e0`},
		"a number of 17 digits":                {`"run_id":7`, `"run_id":10000000000000000`},
		"2^53":                                 {`"run_id":7`, `"run_id":9007199254740992`},
		"-2^53":                                {`"run_id":7`, `"run_id":-9007199254740992`},
		"a number of 100,000 digits":           {`"run_id":7`, `"run_id":` + strings.Repeat("7", 100_000)},
		"a text of escapes that does not end":  {`"answer":"2"`, `"answer":"` + strings.Repeat(`\"`, 100_000)},
		"a leading zero":                       {`"run_id":7`, `"run_id":07`},
		"a plus sign":                          {`"run_id":7`, `"run_id":+7`},
		"a comma too many":                     {`"run_id":7`, `"run_id":7,`},
		"a comment":                            {`"run_id":7`, `"run_id":7/**/`},
		"single quotes":                        {`"answer":"2"`, `"answer":'2'`},
		"a raw line feed in a text":            {`"answer":"2"`, "\"answer\":\"2\n\""},
		"a raw NUL in a text":                  {`"answer":"2"`, "\"answer\":\"2\x00\""},
		"bytes that are not UTF-8":             {`"answer":"2"`, "\"answer\":\"\xff\""},
		"an overlong encoding":                 {`"answer":"2"`, "\"answer\":\"\xc0\xaf\""},
		"a surrogate encoded as UTF-8":         {`"answer":"2"`, "\"answer\":\"\xed\xa0\x80\""},
		"an escape that is none":               {`"answer":"2"`, `"answer":"\x32"`},
		"a form feed between members":          {`"answer":"2"`, "\f\"answer\":\"2\""},
		"a no-break space between members":     {`"answer":"2"`, "\u00a0\"answer\":\"2\""},
		"no colon":                             {`"answer":"2"`, `"answer" "2"`},
		"capital literals":                     {`"session_id":null`, `"session_id":None`},
		"a second value behind the receipt":    {"\"signature\"", "\"x\":1}{\"signature\""},
		"an array that is not closed":          {`"warnings":[]`, `"warnings":[`},
		"a negative exponent hidden in a name": {`"run_id":7`, `"run_id":-`},
	} {
		add(ofReceipt, name, "the file"+malformed, func(t testing.TB, f *files) { f.replace(t, "receipt", change[0], change[1]) })
	}
	for name, content := range map[string]string{"a byte order mark": "\ufeff{}", "nothing": "", "half a receipt": `{"record":{`, "white space": "  \n"} {
		want := "the file" + malformed
		if !strings.HasPrefix(strings.TrimSpace(content), "{") {
			want = notOne
		}
		add(ofReceipt, "a file of "+name, want, func(_ testing.TB, f *files) { f.content["receipt"] = []byte(content) })
	}
	add(ofReceipt, "an object without members", "it is no receipt, certificate or checkpoint", func(_ testing.TB, f *files) { f.content["receipt"] = []byte("{}") })
	export := `{"format":"reckon-log","version":1}` + "\n" + `{"position":1}` + "\n"
	for name, content := range map[string]string{"an export": export, "an export that is longer than a file may be": export + strings.Repeat(export, verifier.MaxBytes/len(export))} {
		add(ofReceipt, name, "it is an export, which no key has signed", func(_ testing.TB, f *files) { f.content["receipt"] = []byte(content) })
	}
	for file, flag := range map[string]string{"receipt-inclusion": "inclusion", "certificate-inclusion": "inclusion", "log": "log", "keys": "keys"} {
		add([]string{file}, file+" in the place of a receipt", "it is what --"+flag+" takes", nil)
	}
	add([]string{"receipt"}, "words", notOne, func(_ testing.TB, f *files) { f.content["receipt"] = []byte("run 1001 is right\n") })
	add(ofReceipt, "deep nesting", "the file is nested deeper than 64", func(_ testing.TB, f *files) {
		f.content["receipt"] = []byte(`{"record":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}")
	})
	add(ofReceipt, "nesting of 64", "the receipt has no record", func(_ testing.TB, f *files) {
		f.content["receipt"] = []byte(`{"record":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}")
	})
	add(ofReceipt, "brackets in a text", "the receipt has no record", func(_ testing.TB, f *files) {
		f.content["receipt"] = []byte(`{"record":"` + strings.Repeat("[", 100) + `"}`)
	})
	add(ofReceipt, "a file of 8 MiB and one byte", "the file is longer than 8388608 bytes", func(_ testing.TB, f *files) {
		f.content["receipt"] = append(f.content["receipt"], bytes.Repeat([]byte(" "), verifier.MaxBytes+1-len(f.content["receipt"]))...)
	})
	for _, file := range []string{"keys", "log", "receipt-inclusion"} {
		what := map[string]string{"keys": "the key set", "log": "the log's file", "receipt-inclusion": "the inclusion"}[file]
		add(ofLogged, "an array as "+file, what+" is not a JSON object", func(_ testing.TB, f *files) { f.content[file] = []byte("[]") })
		add(ofLogged, "a name twice in "+file, what+malformed, func(_ testing.TB, f *files) {
			f.content[file] = append([]byte(`{"keys":[],"leaf":"",`), bytes.ReplaceAll(f.content[file][1:], []byte("}"), []byte(`,"keys":[],"leaf":""}`))...)
		})
	}
}

func receiptVectors(add adder) {
	wrongTypes := map[string]any{"null": nil, "a number": 1, "a list": []any{}, "an object": object{}, "true": true, "an empty text": ""}
	sentences := map[string]string{
		"record": "the receipt has no record", "id": "id is not the SHA-256 of the canonical form", "canonical_form": "the receipt has no text canonical_form",
		"kid": "the receipt has no text kid", "signature": "the receipt has no text signature",
	}
	for name, want := range sentences {
		for kind, value := range wrongTypes {
			sentence := want
			switch {
			case kind == "an empty text" && name == "canonical_form", kind == "an object" && name == "record":
				sentence = recordChanged
			case kind == "an empty text" && name == "kid":
				sentence = "the key set has no key with the receipt's kid"
			case kind == "an empty text" && name == "signature":
				sentence = badSignature
			case kind == "null" && name == "signature":
				sentence = "the receipt is not signed"
			}
			add(ofReceipt, name+" is "+kind, sentence, func(t testing.TB, f *files) { f.member(t, "receipt", func(d object) { d[name] = value }) })
		}
		if name != "record" && name != "signature" {
			add(ofReceipt, "no "+name, want, func(t testing.TB, f *files) { f.member(t, "receipt", func(d object) { delete(d, name) }) })
		}
	}
	add(ofReceipt, "no signature", "the receipt is not signed", func(t testing.TB, f *files) { f.member(t, "receipt", func(d object) { delete(d, "signature") }) })
	add(ofReceipt, "no record", "it is no receipt, certificate or checkpoint", func(t testing.TB, f *files) { f.member(t, "receipt", func(d object) { delete(d, "record") }) })
	add(ofReceipt, "an id in capitals", sentences["id"], func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) { d["id"] = strings.ToUpper(d["id"].(string)) })
	})
	for name := range record() {
		add(ofReceipt, "another "+name+" in the record", recordChanged, func(t testing.TB, f *files) {
			f.member(t, "receipt", func(d object) { d["record"].(object)[name] = "other" })
		})
	}
	add(ofReceipt, "another member in the record", recordChanged, func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) { d["record"].(object)["more"] = 1 })
	})
	add(ofReceipt, "record and form changed together", sentences["id"], func(t testing.TB, f *files) {
		f.replace(t, "receipt", `\"answer\":\"2\"`, `\"answer\":\"3\"`)
		f.replace(t, "receipt", `"answer":"2"`, `"answer":"3"`)
	})
	add(ofReceipt, "record, form and id changed together", badSignature, func(t testing.TB, f *files) {
		forged := record()
		forged["answer"] = "3"
		f.member(t, "receipt", func(d object) {
			other := seal(forged, key("service"))
			other["signature"] = d["signature"]
			for name, value := range other {
				d[name] = value
			}
		})
	})
	add(ofReceipt, "sealed by a key of the forger", "the key set has no key with the receipt's kid", func(_ testing.TB, f *files) { f.content["receipt"] = encode(seal(record(), key("forger"))) })
	add(ofReceipt, "sealed by another key under the true kid", badSignature, func(_ testing.TB, f *files) {
		forged := seal(record(), key("forger"))
		forged["kid"] = kidOf(key("service"))
		f.content["receipt"] = encode(forged)
	})
	for name, spelled := range spellings(seal(record(), key("service"))["signature"].(string)) {
		add(ofReceipt, "a signature with "+name, badSignature, func(t testing.TB, f *files) { f.member(t, "receipt", func(d object) { d["signature"] = spelled }) })
	}
	add(ofReceipt, "a signature in the alphabet of URLs", badSignature, func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) {
			d["signature"] = strings.NewReplacer("+", "-", "/", "_").Replace(d["signature"].(string)) + ""
		})
	})
	add(ofReceipt, "the malleable S of a signature", badSignature, func(t testing.TB, f *files) {
		f.member(t, "receipt", func(d object) { d["signature"] = withOrderAdded(d["signature"].(string)) })
	})
}

func keyVectors(add adder) {
	change := func(name, want string, change func(entry object)) {
		add(ofReceipt, "a key set with "+name, want, func(t testing.TB, f *files) {
			f.member(t, "keys", func(d object) { change(d["keys"].([]any)[1].(object)) })
		})
	}
	const notIts = "a key of the key set is not what its kid says"
	change("a key of another type", "a key of the key set is not of Ed25519", func(e object) { e["kty"] = "EC" })
	change("a key of another curve", "a key of the key set is not of Ed25519", func(e object) { e["crv"] = "X25519" })
	change("the forger's key under the true kid", notIts, func(e object) { e["x"] = url64(public(key("forger"))) })
	change("another kid", notIts, func(e object) { e["kid"] = "x" })
	change("a key with padding", notIts, func(e object) { e["x"] = e["x"].(string) + "=" })
	change("a key in the standard alphabet", notIts, func(e object) { e["x"] = std(public(key("service"))) })
	change("a key of 31 bytes", notIts, func(e object) { e["x"] = url64(public(key("service"))[:31]) })
	change("a number as key", "a key of the key set has no text x", func(e object) { e["x"] = 1 })
	change("a key without kid", "a key of the key set has no text kid", func(e object) { delete(e, "kid") })
	change("the same key twice", "a key stands twice in the key set", func(e object) {
		for name, value := range jwk(key("older service")) {
			e[name] = value
		}
	})
	add(ofReceipt, "a key set without keys", "the key set has no list of keys", func(_ testing.TB, f *files) { f.content["keys"] = []byte("{}") })
	add(ofReceipt, "a key set with no keys", "the key set has no key with the receipt's kid", func(_ testing.TB, f *files) { f.content["keys"] = []byte(`{"keys":[]}`) })
	add(ofReceipt, "a key set with a text", "a key of the key set is not of Ed25519", func(_ testing.TB, f *files) { f.content["keys"] = []byte(`{"keys":["x"]}`) })
	add([]string{"receipt"}, "no key set", "say --keys", nil)
	for name, key := range weakKeys() {
		add(ofReceipt, "a key set with "+name, "a key of the key set is one by which everyone can sign", func(t testing.TB, f *files) {
			f.member(t, "keys", func(d object) { d["keys"] = []any{key.jwk()} })
		})
		add(ofCheckpoint, "a log's file with "+name, "a key of the log is one by which everyone can sign", func(t testing.TB, f *files) {
			f.member(t, "log", func(d object) { d["keys"] = []any{object{"key": key.verifierKey(origin, 1)}} })
		})
		add(with(ofCheckpoint, "--witness", key.verifierKey("witness.example/2", 4)), "as witness "+name, "the key of a witness is one by which everyone can sign", nil)
	}
}

func noteVectors(add adder) {
	body := strings.SplitAfter(string(trueFiles().content["newer"]), "\n\n")[0]
	body = body[:len(body)-1]
	byLog, byWitness := signature(origin, 1, key("log"), body), signature("witness.example/1", 4, key("witness"), body)
	notes := func(arguments []string, name, want, content string) {
		add(arguments, "a checkpoint with "+name, want, func(_ testing.TB, f *files) { f.content["newer"] = []byte(content) })
	}
	witnessed := with(ofCheckpoint, "--witness", witness)
	const noLog, noWitness = "no key of the log has signed the checkpoint", "not all of the witnesses have cosigned the checkpoint"
	notes(ofCheckpoint, "the witness's signature only", noLog, body+"\n"+byWitness)
	notes(witnessed, "the log's signature only", noWitness, body+"\n"+byLog)
	notes(witnessed, "the log's signature under the witness's name", noWitness, body+"\n"+byLog+signature("witness.example/1", 1, key("log"), body))
	notes(witnessed, "a plain signature by the witness's key", noWitness, body+"\n"+byLog+signature("witness.example/1", 1, key("witness"), body))
	notes(witnessed, "signatures of strangers too", "verified: checkpoint", body+"\n"+signature("stranger.example", 1, key("stranger"), body)+byLog+byWitness)
	notes(witnessed, "the witness's line twice", "verified: checkpoint", body+"\n"+byLog+byWitness+byWitness)
	notes(ofCheckpoint, "no signature", "it is not a signed note", body+"\n")
	notes(ofCheckpoint, "no empty line", "it is not a signed note", body+byLog)
	notes(ofCheckpoint, "a line that ends beyond 8 MiB", "it is not a signed note", body+"\n"+byLog+"— x "+strings.Repeat("A", verifier.MaxBytes)+"\n")
	add([]string{"newer", "--log", "keys"}, "bytes that are not UTF-8 and another log's file", "it is not a signed note", func(_ testing.TB, f *files) { f.content["newer"] = []byte("\xff") })
	notes(ofCheckpoint, "no body", "it is not a signed note", "\n\n"+byLog)
	notes(ofCheckpoint, "no line feed at the end", "it is not a signed note", strings.TrimSuffix(body+"\n"+byLog, "\n"))
	notes(ofCheckpoint, "bytes that are not UTF-8", "it is not a signed note", body+"\xff\n"+byLog)
	notes(ofCheckpoint, "a hyphen for the dash", badNote, body+"\n"+strings.Replace(byLog, "—", "-", 1))
	notes(ofCheckpoint, "two spaces", badNote, body+"\n"+strings.Replace(byLog, "— ", "—  ", 1))
	notes(ofCheckpoint, "carriage returns", badNote, body+"\n"+strings.Replace(byLog, "\n", "\r\n", 1))
	notes(ofCheckpoint, "101 signatures", "it is not a signed note", body+"\n"+byLog+strings.Repeat(signature("stranger.example", 1, key("stranger"), body), 100))
	notes(ofCheckpoint, "a forged line of the log beside the true one", "the log's signature of the checkpoint does not verify",
		body+"\n"+byLog+"— "+origin+" "+std(append(keyID(origin, append([]byte{1}, public(key("log"))...)), make([]byte, 64)...))+"\n")
	notes(witnessed, "a forged line of the witness beside the true one", "the cosignature of a witness does not verify",
		body+"\n"+byLog+byWitness+"— witness.example/1 "+std(append(keyID("witness.example/1", append([]byte{4}, public(key("witness"))...)), make([]byte, 72)...))+"\n")
	encoded := strings.TrimSuffix(strings.SplitN(byLog, " ", 3)[2], "\n")
	for name, spelled := range spellings(encoded) {
		want := badNote
		switch name {
		case "another byte", "one byte less", "one byte more":
			want = "the log's signature of the checkpoint does not verify"
		case "a line feed at the end":
			want = "it is not a signed note"
		}
		if name == "a line feed at the end" {
			continue // a signature, and an empty line behind it: the note ends before
		}
		notes(ofCheckpoint, "a signature with "+name, want, body+"\n"+strings.Replace(byLog, encoded, spelled, 1))
	}
	for name, forged := range map[string]string{
		"another origin": strings.Replace(body, origin, "other.example/log", 1), "another size": strings.Replace(body, "\n7\n", "\n8\n", 1), "another root": strings.Replace(body, "\n7\n", "\n7\nA", 1),
	} {
		notes(ofCheckpoint, name, "the log's signature of the checkpoint does not verify", forged+"\n"+byLog)
	}
	signedBodies := map[string][2]string{
		"a signed body of another origin":     {"other.example/log\n7\n" + std(make([]byte, 32)) + "\n", "the checkpoint is of another log"},
		"no size":                             {origin + "\n", "the checkpoint has no size and root"},
		"no root":                             {origin + "\n7\n", "the checkpoint has no size and root"},
		"a negative size":                     {origin + "\n-7\n" + std(make([]byte, 32)) + "\n", "the checkpoint has no size and root"},
		"a size with zeros before it":         {origin + "\n07\n" + std(make([]byte, 32)) + "\n", "the checkpoint has no size and root"},
		"a size with a plus sign":             {origin + "\n+7\n" + std(make([]byte, 32)) + "\n", "the checkpoint has no size and root"},
		"a size of 20 digits":                 {origin + "\n99999999999999999999\n" + std(make([]byte, 32)) + "\n", "the checkpoint has no size and root"},
		"a size in other digits":              {origin + "\n٧\n" + std(make([]byte, 32)) + "\n", "the checkpoint has no size and root"},
		"a root of 31 bytes":                  {origin + "\n7\n" + std(make([]byte, 31)) + "\n", "the checkpoint has no size and root"},
		"a root without padding":              {origin + "\n7\n" + strings.TrimRight(std(make([]byte, 32)), "=") + "\n", "the checkpoint has no size and root"},
		"an extension":                        {body + "position 12\n", "verified: checkpoint"},
		"an event log":                        {body + chained(12, "a"), "verified: checkpoint"},
		"an event log and an extension":       {body + "position 12\n" + chained(12, "a"), "verified: checkpoint"},
		"two event logs":                      {body + chained(12, "a") + chained(13, "b"), badChain},
		"an event log without a link":         {body + "chain 6f0e3f52-0c1d-4d2b-9a57-8e41630bd117 12\n", badChain},
		"an event log at a position in zeros": {body + chained(12, "a")[:42] + "0" + chained(12, "a")[42:], badChain},
		"an event log at position 0":          {body + chained(0, "a"), badChain},
		"an event log at 17 digits":           {body + chained(12345678901234567, "a"), badChain},
		"a link in capitals":                  {body + chained(12, "A"), badChain},
	}
	for name, signed := range signedBodies {
		notes(ofCheckpoint, name, signed[1], signed[0]+"\n"+signature(origin, 1, key("log"), signed[0]))
	}
	logs := func(name, want string, change func(d object)) {
		add(ofCheckpoint, "a log's file with "+name, want, func(t testing.TB, f *files) { f.member(t, "log", change) })
	}
	const badLogKey = "a key of the log is not a verifier key of type 1"
	ofLog := func(k string) func(object) {
		return func(d object) { d["keys"] = []any{object{"key": k}} }
	}
	logs("no keys", noLog, func(d object) { d["keys"] = []any{} })
	logs("no list", "the log's file has no list of keys", func(d object) { delete(d, "keys") })
	logs("a list of texts", "the log's file has no list of keys", func(d object) { d["keys"] = []any{"x"} })
	logs("no origin", "the log's file has no text origin", func(d object) { delete(d, "origin") })
	logs("another origin", "a key of the log has another name than the log", func(d object) { d["origin"] = "other.example/log" })
	logs("the forger's key", noLog, ofLog(verifierKeyOf(origin, 1, key("forger"))))
	logs("a key of type 4", badLogKey, ofLog(verifierKeyOf(origin, 4, key("log"))))
	logs("a wrong id", badLogKey, ofLog(strings.Replace(verifierKeyOf(origin, 1, key("log")), "+", "+0", 1)))
	logs("a key of capitals", badLogKey, ofLog(strings.ToUpper(verifierKeyOf(origin, 1, key("log")))))
	logs("an empty key", badLogKey, ofLog(""))
	logs("a line feed behind the key", badLogKey, ofLog(verifierKeyOf(origin, 1, key("log"))+"\n"))
	const badWitness = "the key of a witness is not a verifier key of type 4"
	for name, other := range map[string][2]string{
		"the log's own key": {verifierKeyOf(origin, 1, key("log")), badWitness}, "the log's own key as of a witness": {verifierKeyOf("witness.example/2", 4, key("log")), "a key of the log is no witness"},
		"an empty key": {"", "--witness is empty: leave it out"}, "no padding": {strings.TrimRight(witness, "="), "verified: checkpoint"}, "another witness": {verifierKeyOf("witness.example/2", 4, key("other")), noWitness},
		"a space behind it": {witness + " ", badWitness}, "a line feed behind it": {witness + "\n", badWitness}, "foreign signs in it": {witness[:40] + "!" + witness[40:], badWitness},
		"another id": {strings.Replace(witness, "+", "+0", 1), badWitness}, "another name": {verifierKeyOf("witness.example/2", 4, key("witness")), noWitness},
	} {
		add(with(ofCheckpoint, "--witness", other[0]), "as witness "+name, other[1], nil)
	}
	add(with(ofCheckpoint, "--witness", witness, "--witness", witness), "the same witness twice", "two of the witnesses are one", nil)
	add(with(ofCheckpoint, "--witness", witness, "--witness", verifierKeyOf("witness.example/2", 4, key("witness"))), "the same witness under two names", "two of the witnesses are one", nil)
	add([]string{"newer"}, "no log's file", "say --log, a file or an address: this file cannot be verified without the log's keys", nil)
	add([]string{"newer"}, "a page with an empty line, without a log's file", notOne, func(_ testing.TB, f *files) { f.content["newer"] = []byte("# Title\n\nText\n") })
	for _, arguments := range [][]string{{"receipt", "--keys", "log"}, {"newer", "--log", "keys"}, {"receipt", "--keys", "receipt-inclusion"}, {"receipt", "--keys", "receipt"},
		{"newer", "--log", "certificate"}, {"receipt", "--keys", "keys", "--log", "log", "--inclusion", "keys"}, {"certificate", "--log", "log", "--inclusion", "certificate"}} {
		flag, file := arguments[len(arguments)-2], arguments[len(arguments)-1]
		takes := map[string]string{"log": "what --log takes: give it as --log", "keys": "what --keys takes: give it as --keys", "receipt-inclusion": "what --inclusion takes: give it as --inclusion",
			"receipt": "a receipt or certificate: name it without a flag", "certificate": "a receipt or certificate: name it without a flag"}[file]
		add(arguments, file+" as "+flag, "the file of "+flag+" is "+takes, nil)
	}
}

func proofVectors(add adder) {
	change := func(name, want string, change func(d object)) {
		add(ofLogged, "a proof with "+name, want, func(t testing.TB, f *files) { f.member(t, "receipt-inclusion", change) })
	}
	edit := func(old, with string) func(object) {
		return func(d object) { d["tlog_proof"] = strings.Replace(d["tlog_proof"].(string), old, with, 1) }
	}
	const members = "leaf, index or tree_size is not that of the proof"
	change("no text", "the inclusion has no text tlog_proof", func(d object) { d["tlog_proof"] = nil })
	change("another version", noProofOfIt, edit("@v1", "@v2"))
	change("another leaf", noProofOfIt, edit("extra ", "extra A"))
	change("another index", members, edit("index 2", "index 3"))
	change("an index beyond the tree", notInTree, func(d object) { edit("index 2", "index 7")(d); d["index"] = 7 })
	change("another index, twice", notInTree, func(d object) { edit("index 2", "index 3")(d); d["index"] = 3 })
	change("a negative index", "the proof has no index", edit("index 2", "index -2"))
	change("a padded index", "the proof has no index", edit("index 2", "index 02"))
	change("no index", "the proof has no index", edit("index 2", "place 2"))
	change("a true index", members, func(d object) { d["index"] = true })
	change("an index as text", members, func(d object) { d["index"] = "2" })
	change("another leaf beside it", members, func(d object) { d["leaf"] = "x" })
	change("no leaf beside it", members, func(d object) { delete(d, "leaf") })
	change("another size beside it", members, func(d object) { d["tree_size"] = 8 })
	change("no size beside it", members, func(d object) { delete(d, "tree_size") })
	lines := func(change func(lines []string) []string) func(object) {
		return func(d object) {
			head, rest, _ := strings.Cut(d["tlog_proof"].(string), "\n\n")
			d["tlog_proof"] = strings.Join(change(strings.Split(head, "\n")), "\n") + "\n\n" + rest
		}
	}
	change("a hash less", notInTree, lines(func(l []string) []string { return l[:len(l)-1] }))
	change("a hash more", notInTree, lines(func(l []string) []string { return append(l, l[len(l)-1]) }))
	change("two hashes swapped", notInTree, lines(func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }))
	change("no hash", notInTree, lines(func(l []string) []string { return l[:3] }))
	change("a hash of 31 bytes", "a hash of the proof is not one", lines(func(l []string) []string { l[3] = std(make([]byte, 31)); return l }))
	change("65 hashes", "a hash of the proof is not one", lines(func(l []string) []string {
		for len(l) < 3+65 {
			l = append(l, l[3])
		}
		return l
	}))
	change("a hash with foreign signs", "a hash of the proof is not one", lines(func(l []string) []string { l[3] = "!" + l[3]; return l }))
	change("two lines only", noProofOfIt, lines(func(l []string) []string { return l[:2] }))
	add(ofLogged, "the proof of the certificate", noProofOfIt, func(_ testing.TB, f *files) { f.content["receipt-inclusion"] = f.content["certificate-inclusion"] })
	add(with(ofLogged, "--witness", verifierKeyOf("witness.example/2", 4, key("other"))), "a witness that has not cosigned the proof", "not all of the witnesses have cosigned the checkpoint", nil)
	add([]string{"receipt", "--keys", "keys", "--inclusion", "receipt-inclusion"}, "a proof without a log", "say --log", nil)
	add(with(ofReceipt, "--witness", witness), "a witness without a proof", "say --inclusion", nil)
	add(with(ofReceipt, "--log", "log"), "a log without a proof", "say --inclusion", nil)
	add(with(ofLogged, "--witness", verifierKeyOf("witness.example/2", 4, key("older service"))), "a key of the service as witness", "a key of the service is no witness", nil)
}

func certificateVectors(add adder) {
	change := func(name, want string, change func(d object)) {
		add(ofCertificate, "a certificate with "+name, want, func(t testing.TB, f *files) { f.member(t, "certificate", change) })
	}
	const notIts = "the findings are not the certificate's"
	change("another verdict", noProofOfIt, func(d object) { d["verdict"] = "rejected" })
	change("another id", noProofOfIt, func(d object) { d["certificate_id"] = "x" })
	change("another time", noProofOfIt, func(d object) { d["created_at"] = "2026-08-02T12:00:00.000Z" })
	change("another export", noProofOfIt, func(d object) { d["export"].(object)["sha256"] = strings.Repeat("1", 64) })
	change("another revision", noProofOfIt, func(d object) { d["checker"].(object)["rev"] = "x" })
	change("a line feed in a member", "a member of the certificate has a line feed", func(d object) { d["verdict"] = "verified\nx" })
	change("the dotted name of a covered member", `not covered by any signature: ["certificate_url","checker.name","checker.rev",`, func(d object) { d["checker.rev"] = "evil" })
	change("no export", "the certificate has no export or no checker", func(d object) { delete(d, "export") })
	change("a checker that is a text", "the certificate has no export or no checker", func(d object) { d["checker"] = "x" })
	change("a verdict that is no text", "the certificate has no text verdict", func(d object) { d["verdict"] = true })
	for _, name := range []string{"declarations", "axioms_used", "kernels", "reason", "refusal", "conformance", "own_definitions"} {
		change("other "+name, notIts, func(d object) { d[name] = []any{"x"} })
		change("no "+name, notIts, func(d object) { delete(d, name) })
		change("false as "+name, notIts, func(d object) { d[name] = false })
	}
	change("another checker's name", `not covered by any signature: ["certificate_url","checker.name","declarations_checked","elapsed_ms","export.bytes","export.lean"]`, func(d object) { d["checker"].(object)["name"] = "x" })
	inclusion := func(name, want string, change func(d object)) {
		add(ofCertificate, "an inclusion with "+name, want, func(t testing.TB, f *files) { f.member(t, "certificate-inclusion", change) })
	}
	inclusion("no findings", "the inclusion has no text findings", func(d object) { delete(d, "findings") })
	inclusion("findings with a space more", noProofOfIt, func(d object) { d["findings"] = d["findings"].(string) + " " })
	inclusion("findings with a name twice", "findings"+malformed, func(d object) { d["findings"] = `{"axioms_used":["x"],` + d["findings"].(string)[1:] })
	inclusion("findings with another member", "findings has a member that no certificate has", func(d object) { d["findings"] = `{"verdict":"x",` + d["findings"].(string)[1:] })
	inclusion("findings that are a list", "findings is not a JSON object", func(d object) { d["findings"] = "[]" })
	add([]string{"certificate", "--log", "log"}, "a certificate without a proof", "say --inclusion", nil)
	add([]string{"certificate", "--log", "log", "--inclusion", "receipt-inclusion"}, "a certificate with a receipt's proof", "the inclusion has no text findings", nil)
}

// chained is the line by which a checkpoint commits to an event log.
func chained(position int64, digit string) string {
	return fmt.Sprintf("chain 6f0e3f52-0c1d-4d2b-9a57-8e41630bd117 %d %s\n", position, strings.Repeat(digit, 64))
}

const badChain = "the checkpoint has no one line of the event log's chain"

// judgedVectors are of certificates whose findings repeat what else they say.
func judgedVectors(add adder) {
	judged := func(change func(d object)) object {
		c := certificate()
		d := object{"checker": c["checker"], "export": c["export"], "declarations_checked": c["declarations_checked"], "elapsed_ms": c["elapsed_ms"]}
		change(d)
		return d
	}
	same := func(object) {}
	vector := func(name, want string, judged any, change func(certificate object)) {
		add(ofCertificate, "findings that say what judged, with "+name, want, func(_ testing.TB, f *files) { f.judge(judged, change) })
	}
	const notIts = "the findings are not the certificate's"
	vector("all of it", `not covered by any signature: ["certificate_url"]`, judged(same), same)
	vector("another checker's name in the certificate", notIts, judged(same), func(c object) { c["checker"].(object)["name"] = "x" })
	vector("no checker's name in the certificate", notIts, judged(same), func(c object) { delete(c["checker"].(object), "name") })
	vector("a version of Lean in the certificate", notIts, judged(same), func(c object) { c["export"].(object)["lean"] = object{"version": "4.0.0"} })
	vector("another length in the certificate", notIts, judged(same), func(c object) { c["export"].(object)["bytes"] = 101 })
	vector("another number of declarations in the certificate", notIts, judged(same), func(c object) { c["declarations_checked"] = 4 })
	vector("another time in the certificate", notIts, judged(same), func(c object) { c["elapsed_ms"] = "5" })
	vector("a member more in the certificate", `not covered by any signature: ["certificate_url","export.more"]`, judged(same), func(c object) { c["export"].(object)["more"] = 1 })
	vector("nothing of the export", `not covered by any signature: ["certificate_url","export.bytes","export.lean"]`, judged(func(d object) { delete(d, "export") }), same)
	vector("a member that the certificate has not", notIts, judged(func(d object) { d["x"] = nil }), same)
	vector("a dotted name", notIts, judged(func(d object) { delete(d, "export"); d["export.lean"] = "x" }), func(c object) { c["export.lean"] = "x" })
	vector("an export that is a text", notIts, judged(func(d object) { d["export"] = "x" }), same)
	vector("a checker that is a list", notIts, judged(func(d object) { d["checker"] = []any{} }), same)
	vector("a list", notIts, []any{}, same)
	vector("null", notIts, nil, same)
}

func growthVectors(add adder) {
	leaves := tree{"x\n", "b\n", "c\n"}
	for name, c := range map[string]struct{ older, newer, want string }{
		"an event log that goes on":           {chained(12, "a"), chained(13, "b"), "verified: growth"},
		"an event log since the newer":        {"", chained(13, "b"), "verified: growth"},
		"a newer without an event log":        {chained(12, "a"), "", "verified: growth"},
		"an event log that was copied":        {chained(12, "a"), strings.Replace(chained(3, "b"), "6f0e", "7f0e", 1), "verified: growth"},
		"a shorter event log":                 {chained(12, "a"), chained(11, "b"), "these are two histories: the event log"},
		"as long an event log, more receipts": {chained(12, "a"), chained(12, "a"), "these are two histories: the event log"},
	} {
		add(ofGrowth, name, c.want, func(_ testing.TB, f *files) {
			for file, line := range map[string]string{"older": c.older, "newer": c.newer} {
				body, _, _ := strings.Cut(string(f.content[file]), "\n\n")
				f.content[file] = []byte(note(body + "\n" + line))
			}
		})
	}
	add([]string{"newer", "--grown", "older", "--log", "log", "--tiles", "."}, "another event log at the same tree", "these are two histories: the event log", func(_ testing.TB, f *files) {
		body, _, _ := strings.Cut(string(f.content["newer"]), "\n\n")
		f.content["older"], f.content["newer"] = []byte(note(body+"\n"+chained(12, "a"))), []byte(note(body+"\n"+chained(12, "b")))
	})
	add(ofGrowth, "another history", "these are two histories", func(_ testing.TB, f *files) { f.content["older"] = []byte(note(leaves.body())) })
	add([]string{"older", "--grown", "newer", "--log", "log", "--tiles", "."}, "checkpoints in the other order", "the older checkpoint is the larger one", nil)
	add(ofGrowth, "tiles of another tree", "the tiles are not those of the newer checkpoint", func(_ testing.TB, f *files) { f.content["tile/0/000.p/7"][0] ^= 1 })
	add(ofGrowth, "a short tile", "a tile is not as long as its tree says", func(_ testing.TB, f *files) { f.content["tile/0/000.p/7"] = f.content["tile/0/000.p/7"][1:] })
	add(ofGrowth, "an unsigned older checkpoint", "it is not a signed note", func(_ testing.TB, f *files) { f.content["older"] = []byte("x") })
	add([]string{"newer", "--grown", "newer", "--log", "log", "--tiles", "."}, "twice the same checkpoint", "verified: growth", nil)
	add([]string{"newer", "--grown", "older", "--log", "log"}, "no tiles", "say --tiles", nil)
	var many tree
	for i := range 600 {
		many = append(many, fmt.Sprint(i, "\n"))
	}
	add(ofGrowth, "a tree of three tiles", "verified: growth", func(_ testing.TB, f *files) {
		f.content["older"], f.content["newer"] = []byte(note(many[:300].body())), []byte(note(many.body()))
		var all []byte
		for _, h := range many.entries() {
			all = append(all, h[:]...)
		}
		f.content["tile/0/000"], f.content["tile/0/001"], f.content["tile/0/002.p/88"] = all[:8192], all[8192:16384], all[16384:]
	})
}

// TestBothVerifiersAgree runs every vector through both.
func TestBothVerifiersAgree(t *testing.T) {
	t.Parallel()
	folder, all := t.TempDir(), vectors()
	ours := make([]outcome, len(all))
	arguments := make([][]string, len(all))
	for i, v := range all {
		f := trueFiles()
		v.make(t, &f)
		place := filepath.Join(folder, fmt.Sprint(i))
		for name, content := range f.content {
			path := filepath.Join(place, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		ours[i], arguments[i] = verify(f), f.arguments
	}
	theirs := byPython(t, folder, arguments)
	verified := 0
	for i, v := range all {
		if !strings.Contains(ours[i].Text, v.want) {
			t.Errorf("%s: %s, want %s", v.name, ours[i].Text, v.want)
		}
		if ours[i] != theirs[i] {
			t.Errorf("%s:\nreckon verify: %d %s\nverify.py:     %d %s", v.name, ours[i].Status, ours[i].Text, theirs[i].Status, theirs[i].Text)
		}
		if ours[i].Status == 0 {
			verified++
		}
	}
	t.Logf("%d vectors, %d of them verify", len(all), verified)
}

// outcome is what a verifier printed, and its exit status.
type outcome struct {
	Status int
	Text   string
}

// verify runs our verifier as the command does.
func verify(f files) outcome {
	in := verifier.Files{File: f.arguments[0], Read: func(name string) ([]byte, error) {
		if content, there := f.content[strings.TrimPrefix(name, "./")]; there {
			return content, nil
		}
		return nil, fs.ErrNotExist
	}}
	flags := map[string]*string{"--keys": &in.Keys, "--log": &in.Log, "--inclusion": &in.Inclusion, "--grown": &in.Grown, "--tiles": &in.Tiles}
	for i := 1; i < len(f.arguments); i += 2 {
		if flag, value := f.arguments[i], f.arguments[i+1]; flag == "--witness" {
			in.Witnesses = append(in.Witnesses, value)
		} else {
			*flags[flag] = value
		}
	}
	report, err := verifier.Verify(in)
	if refused, ok := errors.AsType[*verifier.RefusedError](err); ok {
		return outcome{1, "not verified: " + refused.Error() + "\n"}
	}
	if err != nil {
		return outcome{2, err.Error() + "\n"}
	}
	return outcome{0, report.String()}
}

// driver runs the program's main for each line of arguments, in the folder of its number.
const driver = `
import contextlib, io, json, os, runpy, sys
program = runpy.run_path(sys.argv[1])
for number, arguments in enumerate(json.load(sys.stdin)):
    os.chdir(os.path.join(sys.argv[2], str(number)))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = program["main"](arguments)
        except SystemExit as end:
            status = end.code
    print(json.dumps({"Status": status, "Text": said.getvalue()}))
`

func byPython(t *testing.T, folder string, arguments [][]string) (outcomes []outcome) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "docs", "verify.py"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python.With(t, "cryptography==46.0.3\n"), "-c", driver, script, folder)
	command.Stdin = bytes.NewReader(encode(arguments))
	var errs bytes.Buffer
	command.Stderr = &errs
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for decoder.More() {
		var o outcome
		if err := decoder.Decode(&o); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	if len(outcomes) != len(arguments) {
		t.Fatalf("%d outcomes of %d vectors\n%s", len(outcomes), len(arguments), errs.String())
	}
	return outcomes
}
