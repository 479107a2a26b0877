package check

import (
	"crypto/sha256"
	"encoding/hex"

	"reckon/domain/lean/term"
)

// ownDefinitions renders what the declarations asked for rest on and no table knows, in the order of the file.
func (j *judge) ownDefinitions(meaning []int) *Own {
	out := &Own{Definitions: []OwnDefinition{}}
	whole := sha256.New()
	room := maxOwnBytes
	for _, unit := range meaning {
		d := &j.file.Declarations[unit]
		if !j.isOwn(d) {
			continue
		}
		item := OwnDefinition{Name: j.file.Store.NameString(d.Name), Kind: d.Kind.String(), Text: ""}
		whole.Write([]byte(item.Text + "\n"))
		out.Count++
		if room -= len(item.Text); room >= 0 {
			out.Definitions = append(out.Definitions, item)
		}
	}
	out.SHA256 = hex.EncodeToString(whole.Sum(nil))
	return out
}

// isOwn says whether a declaration introduces a name that no table has.
func (j *judge) isOwn(d *term.Declaration) bool {
	for _, n := range namesOf(d) {
		if s, _ := j.core.standing(n); s == own {
			return true
		}
	}
	return false
}
