package verifier

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// hash is that of a leaf, a node or a root (RFC 6962, section 2.1).
type hash = [sha256.Size]byte

func leafHash(text string) hash {
	entry := sha256.Sum256([]byte(text))
	return sha256.Sum256(append([]byte{0}, entry[:]...))
}

func nodeHash(left, right hash) hash {
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func rootOf(hashes []hash) hash {
	switch len(hashes) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return hashes[0]
	}
	half := 1 << (bits.Len(uint(len(hashes)-1)) - 1)
	return nodeHash(rootOf(hashes[:half]), rootOf(hashes[half:]))
}

// verifyInclusion verifies that the text of a leaf is in the tree of the checkpoint that a proof (C2SP tlog-proof) carries.
func verifyInclusion(leaf string, inclusion object, log Log, report *Report) error {
	proof, err := text(inclusion, "tlog_proof", "the inclusion")
	if err != nil {
		return err
	}
	head, note, _ := strings.Cut(proof, "\n\n")
	lines := strings.Split(head, "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" || len(lines) < 3 || lines[1] != "extra "+base64.StdEncoding.EncodeToString([]byte(leaf)) {
		return refuse("the proof is of another leaf")
	}
	place, ok := strings.CutPrefix(lines[2], "index ")
	if !ok || !natural.MatchString(place) {
		return refuse("the proof has no index")
	}
	index, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		return err
	}
	path := make([]hash, 0, len(lines)-3)
	for _, line := range lines[3:] {
		sibling, valid := decode64(base64.StdEncoding, line, sha256.Size)
		if !valid || len(lines) > 3+64 {
			return refuse("a hash of the proof is not one")
		}
		path = append(path, hash(sibling))
	}
	c, err := log.open(note)
	if err != nil {
		return err
	}
	if inclusion["leaf"] != leaf || canonicalOr(inclusion, "index") != place || canonicalOr(inclusion, "tree_size") != strconv.FormatInt(c.size, 10) {
		return refuse("leaf, index or tree_size is not that of the proof")
	}
	if !included(leafHash(leaf), index, path, c) {
		return refuse("it is not in the tree")
	}
	report.add("log.leaf", index)
	report.addCheckpoint("log.", log, c)
	return nil
}

// canonicalOr is the canonical form of a member; empty where there is none.
func canonicalOr(members object, name string) string {
	if value, there := members[name]; there {
		return canonical(value)
	}
	return ""
}

// included follows a path from a leaf to the root (RFC 9162, section 2.1.3.2).
func included(reached hash, at int64, path []hash, c checkpoint) bool {
	last := c.size - 1
	if at > last {
		return false
	}
	for _, sibling := range path {
		if last == 0 {
			return false
		}
		if at&1 == 1 || at == last {
			reached = nodeHash(sibling, reached)
			for at != 0 && at&1 == 0 {
				at, last = at>>1, last>>1
			}
		} else {
			reached = nodeHash(reached, sibling)
		}
		at, last = at>>1, last>>1
	}
	return last == 0 && reached == c.root
}

// noFindings is what the findings of a certificate leave out where it is empty.
func noFindings() object {
	return object{"reason": nil, "declarations": []any{}, "axioms_used": []any{}, "refusal": nil, "conformance": nil, "own_definitions": nil, "kernels": nil}
}

// certificateLeaf is the text that the tree commits to for a certificate.
func certificateLeaf(certificate, inclusion object, report *Report) (leaf string, err error) {
	findings, err := text(inclusion, "findings", "the inclusion")
	if err != nil {
		return "", err
	}
	said, err := readJSON([]byte(findings), "findings")
	if err != nil {
		return "", err
	}
	judged, isJudged := said["judged"] // in findings of version 4 of the event on
	delete(said, "judged")
	found := noFindings()
	known := len(found)
	maps.Copy(found, said)
	if len(found) != known {
		return "", refuse("findings has a member that no certificate has")
	}
	vouched := map[string]bool{}
	for name, value := range found {
		if canonicalOr(certificate, name) != canonical(value) {
			return "", refuse("the findings are not the certificate's")
		}
		vouched[name] = true
		report.add(name, value)
	}
	export, isExport := certificate["export"].(object)
	checker, isChecker := certificate["checker"].(object)
	if !isExport || !isChecker {
		return "", refuse("the certificate has no export or no checker")
	}
	if isJudged {
		if err := repeated(certificate, judged, "", vouched, report); err != nil {
			return "", err
		}
	}
	parts := []string{"reckon leaf v1", "certificate"}
	for _, member := range []struct {
		of           object
		prefix, name string
	}{{certificate, "", "certificate_id"}, {certificate, "", "verdict"}, {export, "export.", "sha256"}, {checker, "checker.", "rev"}, {certificate, "", "created_at"}} {
		value, err := text(member.of, member.name, "the certificate")
		if err != nil {
			return "", err
		}
		parts = append(parts, value)
		vouched[member.prefix+member.name] = true
		report.add(member.prefix+member.name, value)
	}
	if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, "\n") }) {
		return "", refuse("a member of the certificate has a line feed")
	}
	sum := sha256.Sum256([]byte(findings))
	report.Kind = "certificate"
	report.leaveOut(certificate, vouched)
	return strings.Join(append(parts, hex.EncodeToString(sum[:]), ""), "\n"), nil
}

// repeated vouches for the members of a certificate that findings repeat; of its export and checker one by one.
func repeated(of object, said any, prefix string, vouched map[string]bool, report *Report) error {
	members, isObject := said.(object)
	if !isObject {
		return refuse("the findings are not the certificate's")
	}
	for name, value := range members {
		if inner, is := of[name].(object); is && prefix == "" && (name == "export" || name == "checker") {
			if err := repeated(inner, value, name+".", vouched, report); err != nil {
				return err
			}
			continue
		}
		if strings.Contains(name, ".") || canonicalOr(of, name) != canonical(value) { // a name with a dot is not that of a member within
			return refuse("the findings are not the certificate's")
		}
		vouched[prefix+name] = true
		report.add(prefix+name, value)
	}
	return nil
}

// tileWidth is how many hashes a whole tile has (C2SP tlog-tiles).
const tileWidth = 256

// verifyGrown verifies that the tree of one checkpoint is the beginning of another's, by the tiles of level 0.
func verifyGrown(older, newer string, log Log, tile func(path string) ([]byte, error), report *Report) error {
	from, err := log.open(older)
	if err != nil {
		return err
	}
	to, err := log.open(newer)
	if err != nil {
		return err
	}
	if from.size > to.size {
		return refuse("the older checkpoint is the larger one: give them in the other order")
	}
	if to.size > maxLeaves {
		return refuse("the tree has more than %d leaves", maxLeaves)
	}
	var hashes []hash
	for first := int64(0); first < to.size; first += tileWidth {
		width := min(tileWidth, to.size-first)
		raw, err := tile(tilePath(first/tileWidth, width))
		if err != nil {
			return err
		}
		if int64(len(raw)) != width*sha256.Size {
			return refuse("a tile is not as long as its tree says")
		}
		for each := range slices.Chunk(raw, sha256.Size) {
			hashes = append(hashes, hash(each))
		}
	}
	if rootOf(hashes) != to.root {
		return refuse("the tiles are not those of the newer checkpoint")
	}
	if rootOf(hashes[:from.size]) != from.root {
		return refuse("these are two histories: the one tree does not begin with the other. Keep both checkpoints")
	}
	if !to.chain.continues(from.chain, to.size > from.size) {
		return refuse("these are two histories: the event log of the one does not begin with that of the other. Keep both checkpoints")
	}
	report.Kind = "growth"
	report.add("origin", log.origin)
	report.add("older.size", from.size)
	report.add("older.root", base64.StdEncoding.EncodeToString(from.root[:]))
	report.add("newer.size", to.size)
	report.add("newer.root", base64.StdEncoding.EncodeToString(to.root[:]))
	report.add("witnesses", len(log.witnesses))
	return nil
}

func tilePath(index, width int64) string {
	path := fmt.Sprintf("%03d", index%1000)
	for rest := index / 1000; rest > 0; rest /= 1000 {
		path = fmt.Sprintf("x%03d/%s", rest%1000, path)
	}
	if width < tileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	return "/tile/0/" + path
}
