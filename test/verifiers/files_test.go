package verifiers_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reckon/domain/receipt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// The true files, made without the code of the service: keys of fixed seeds, a tree by golang.org/x/mod/sumdb/tlog.

const origin = "reckon.example/transparency"

// key is a private key of a fixed seed.
func key(seed string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte(seed))
	return ed25519.NewKeyFromSeed(sum[:])
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func std(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

func url64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func kidOf(k ed25519.PrivateKey) string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":"%s"}`, url64(public(k))))
	return url64(sum[:])
}

func jwk(k ed25519.PrivateKey) object {
	return object{"kty": "OKP", "crv": "Ed25519", "x": url64(public(k)), "kid": kidOf(k), "use": "sig", "alg": "EdDSA"}
}

type object = map[string]any

func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// form is the canonical form of a record whose texts are ASCII.
func form(record object) string { return string(bytes.TrimSpace(encode(record))) }

// seal is the receipt of a record.
func seal(record object, k ed25519.PrivateKey) object {
	canonical := form(record)
	sum := sha256.Sum256([]byte(canonical))
	return object{
		"record": record, "id": hex.EncodeToString(sum[:]), "canonical_form": canonical, "signature": std(ed25519.Sign(k, []byte(canonical))), "kid": kidOf(k),
		"keys_url": "/.well-known/service-keys.json", "receipt_url": "/api/receipts/7",
	}
}

func record() object {
	return object{
		"v": 1, "run_id": 7, "account": "6f1f9a52-6b8a-4c41-9c5e-0d9f1f2a7b11", "expression": "1+1", "answer": "2", "status": "success", "warnings": []any{}, "session_id": nil,
		"engine": object{"name": "woxi", "revision": "0.3.0"}, "verification": object{"verdict": "verified", "basis": "exact", "method": "value_equal"},
	}
}

func verifierKeyOf(name string, kind byte, k ed25519.PrivateKey) string {
	material := append([]byte{kind}, public(k)...)
	return fmt.Sprintf("%s+%x+%s", name, keyID(name, material), std(material))
}

func keyID(name string, material []byte) []byte {
	sum := sha256.Sum256(append([]byte(name+"\n"), material...))
	return sum[:4]
}

// signature is a line of a note.
func signature(name string, kind byte, k ed25519.PrivateKey, body string) string {
	id := keyID(name, append([]byte{kind}, public(k)...))
	if kind == 1 {
		return "— " + name + " " + std(append(id, ed25519.Sign(k, []byte(body))...)) + "\n"
	}
	const seconds = 1_800_000_000
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, body)
	return "— " + name + " " + std(append(binary.BigEndian.AppendUint64(id, seconds), ed25519.Sign(k, message)...)) + "\n"
}

// tree is the leaves' texts; the tree holds their SHA-256.
type tree []string

func (t tree) entries() (hashes []tlog.Hash) {
	for _, leaf := range t {
		entry := sha256.Sum256([]byte(leaf))
		hashes = append(hashes, tlog.RecordHash(entry[:]))
	}
	return hashes
}

// stored are the hashes of all complete subtrees, as tlog reads them.
func (t tree) stored() tlog.HashReaderFunc {
	var all []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) (found []tlog.Hash, err error) {
		for _, i := range indexes {
			found = append(found, all[i])
		}
		return found, nil
	})
	for i, h := range t.entries() {
		hashes, err := tlog.StoredHashesForRecordHash(int64(i), h, read)
		if err != nil {
			panic(err)
		}
		all = append(all, hashes...)
	}
	return read
}

func (t tree) body() string {
	root, err := tlog.TreeHash(int64(len(t)), t.stored())
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s\n%d\n%s\n", origin, len(t), std(root[:]))
}

// note is a checkpoint by the log's key and the first witness's.
func note(body string) string {
	return body + "\n" + signature(origin, 1, key("log"), body) + signature("witness.example/1", 4, key("witness"), body)
}

// inclusion is the proof of a leaf.
func (t tree) inclusion(index int) object {
	proof, err := tlog.ProveRecord(int64(len(t)), int64(index), t.stored())
	if err != nil {
		panic(err)
	}
	text := fmt.Sprintf("c2sp.org/tlog-proof@v1\nextra %s\nindex %d\n", std([]byte(t[index])), index)
	for _, h := range proof {
		text += std(h[:]) + "\n"
	}
	return object{"leaf": t[index], "index": index, "tree_size": len(t), "tlog_proof": text + "\n" + note(t.body())}
}

func receiptLeaf(receipt object) string {
	return fmt.Sprintf("reckon leaf v1\nreceipt\n%v\n%v\n%v\n", receipt["id"], receipt["kid"], receipt["signature"])
}

const findings = `{"declarations":[{"name":"two_is_two"}],"axioms_used":[],"kernels":[{"name":"reckon","verdict":"verified"}]}`

func certificate() object {
	c := object{
		"certificate_id": "0d6f5a1e-54d8-4d38-9d7b-1e0f7c0f5a01", "certificate_url": "/api/certificates/0d6f5a1e", "verdict": "verified", "reason": nil, "refusal": nil, "conformance": nil,
		"own_definitions": nil, "export": object{"sha256": hex.EncodeToString(make([]byte, 32)), "bytes": 100, "lean": nil}, "checker": object{"name": "reckon", "rev": "abc"},
		"declarations_checked": 3, "elapsed_ms": 5, "created_at": "2026-08-01T12:00:00.000Z",
	}
	var found object
	if err := json.Unmarshal([]byte(findings), &found); err != nil {
		panic(err)
	}
	maps.Copy(c, found)
	return c
}

func certificateLeaf(c object, findings string) string {
	sum := sha256.Sum256([]byte(findings))
	return fmt.Sprintf("reckon leaf v1\ncertificate\n%v\n%v\n%v\n%v\n%v\n%x\n", c["certificate_id"], c["verdict"], c["export"].(object)["sha256"], c["checker"].(object)["rev"], c["created_at"], sum)
}

// files are the files of one vector by name, and the verifiers' arguments.
type files struct {
	content   map[string][]byte
	arguments []string
}

// trueFiles are a receipt and a certificate in one tree of seven leaves, and a checkpoint of its first three.
func trueFiles() files {
	receipt, proved := seal(record(), key("service")), certificate()
	leaves := tree{"a\n", "b\n", receiptLeaf(receipt), "c\n", "d\n", certificateLeaf(proved, findings), "e\n"}
	ofCertificate := leaves.inclusion(5)
	ofCertificate["findings"] = findings
	var tile []byte
	for _, h := range leaves.entries() {
		tile = append(tile, h[:]...)
	}
	return files{content: map[string][]byte{
		"receipt": encode(receipt), "receipt-inclusion": encode(leaves.inclusion(2)), "certificate": encode(proved), "certificate-inclusion": encode(ofCertificate),
		"keys":  encode(object{"keys": []any{jwk(key("older service")), jwk(key("service"))}}),
		"log":   encode(object{"origin": origin, "prefix": "/transparency", "keys": []any{object{"kid": kidOf(key("log")), "key": verifierKeyOf(origin, 1, key("log"))}}, "witnesses": []any{}, "quorum": 0}),
		"older": []byte(note(leaves[:3].body())), "newer": []byte(note(leaves.body())), "tile/0/000.p/7": tile,
	}}
}

// judge makes the certificate one whose findings say what judged what.
func (f files) judge(judged any, change func(certificate object)) {
	c := certificate()
	said := strings.TrimSuffix(findings, "}") + `,"judged":` + string(bytes.TrimSpace(encode(judged))) + "}"
	leaves := tree{"a\n", certificateLeaf(c, said)}
	included := leaves.inclusion(1)
	included["findings"] = said
	change(c)
	f.content["certificate"], f.content["certificate-inclusion"] = encode(c), encode(included)
}

var witness = verifierKeyOf("witness.example/1", 4, key("witness"))

// member changes a file's JSON.
func (f files) member(t testing.TB, file string, change func(object)) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(f.content[file]))
	decoder.UseNumber()
	var document object
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	change(document)
	f.content[file] = encode(document)
}

// replace changes a file's text, which must have what is replaced.
func (f files) replace(t testing.TB, file, old, with string) {
	t.Helper()
	if !bytes.Contains(f.content[file], []byte(old)) {
		t.Fatalf("%s has no %s", file, old)
	}
	f.content[file] = bytes.Replace(f.content[file], []byte(old), []byte(with), 1)
}

// sealUnicode is a sealed receipt whose record has texts beyond ASCII.
func sealUnicode(t testing.TB, r object) []byte {
	t.Helper()
	seal, err := receipt.SealJSON(r, &receipt.Signer{KID: kidOf(key("service")), Key: key("service")})
	if err != nil {
		t.Fatal(err)
	}
	return encode(seal.Envelope("/.well-known/service-keys.json", ""))
}

// withOrderAdded is a signature whose S is larger by the order of the group: some verifiers take it as another spelling.
func withOrderAdded(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := bytes.Clone(raw[32:])
	slices.Reverse(s) // little-endian
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	return std(append(raw[:32], sum...))
}

// rawKey are the 32 bytes of a public key.
type rawKey []byte

// weakKeys are keys by which everyone can sign, and other spellings of them and of numbers beyond the field.
func weakKeys() map[string]rawKey {
	one := make([]byte, 32)
	one[0] = 1
	negative, beyond := bytes.Clone(one), bytes.Repeat([]byte{0xff}, 32)
	negative[31] = 0x80
	beyond[0], beyond[31] = 0xee, 0x7f // p + 1
	eighth, err := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	if err != nil {
		panic(err)
	}
	other := bytes.Clone(eighth)
	other[31] |= 0x80
	minus := bytes.Clone(beyond)
	minus[0] = 0xec // p - 1
	return map[string]rawKey{"the point 1": one, "the point 1 of negative x": negative, "the point p + 1": beyond, "the point 0": make([]byte, 32), "the point -1": minus, "a point of order 8": eighth, "its negative": other}
}

func (k rawKey) jwk() object {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":"%s"}`, url64(k)))
	return object{"kty": "OKP", "crv": "Ed25519", "x": url64(k), "kid": url64(sum[:])}
}

func (k rawKey) verifierKey(name string, kind byte) string {
	material := append([]byte{kind}, k...)
	return fmt.Sprintf("%s+%x+%s", name, keyID(name, material), std(material))
}
