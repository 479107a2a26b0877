package check

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"reckon/domain/lean/term"
)

// maxOwnBytes bounds the texts of own definitions in one report.
const maxOwnBytes = 64 << 10

// ownDefinitions renders what the declarations asked for rest on and no table knows, in the order of the file.
func (j *judge) ownDefinitions(meaning []int) *Own {
	out := &Own{Definitions: []OwnDefinition{}}
	whole := sha256.New()
	room := maxOwnBytes
	for _, unit := range meaning {
		d := &j.file.Declarations[unit]
		if d.Kind == term.Axiom || !j.isOwn(d) { // axioms are shown as such
			continue
		}
		item := OwnDefinition{Name: j.names.Text(d.Name), Kind: d.Kind.String(), Text: j.definitionText(d)}
		whole.Write([]byte(item.Text + "\n"))
		out.Count++
		if room -= len(item.Text); room < 0 {
			out.Omitted++
		} else {
			out.Definitions = append(out.Definitions, item)
		}
	}
	out.SHA256 = hex.EncodeToString(whole.Sum(nil))
	return out
}

// isOwn says whether a declaration introduces a constant that is not Lean's.
func (j *judge) isOwn(d *term.Declaration) bool {
	return slices.ContainsFunc(namesOf(d), func(n term.Name) bool {
		whose, _ := j.core.standing(n)
		return whose != genuine
	})
}

// definitionText renders a declaration. What is too long to be printed is given by its fingerprints.
func (j *judge) definitionText(d *term.Declaration) string {
	if d.Kind == term.Inductive {
		return j.blockText(d.Block)
	}
	keyword := map[term.DeclarationKind]string{term.Definition: "def", term.Opaque: "opaque", term.Quotient: "quotient", term.Theorem: "theorem"}[d.Kind]
	text := keyword + " " + j.header(d.Name, d.LevelParams)
	if value, ok := j.file.WrittenValue(d.Name); ok {
		text += " := " + j.expression(value, d.Name)
	}
	return text
}

// blockText renders types with their constructors; recursors follow from these.
func (j *judge) blockText(b *term.Block) string {
	var out strings.Builder
	for i := range b.Types {
		t := &b.Types[i]
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString("inductive " + j.header(t.Name, t.LevelParams))
		for k := range b.Constructors {
			if ctor := &b.Constructors[k]; ctor.Inductive == t.Name {
				out.WriteString("\n| " + j.header(ctor.Name, nil))
			}
		}
	}
	return out.String()
}

// header is a name, its universe parameters and its type.
func (j *judge) header(n term.Name, params []term.Name) string {
	text := j.names.Text(n)
	if len(params) > 0 {
		names := make([]string, len(params))
		for i, p := range params {
			names[i] = j.names.Param(p)
		}
		text += ".{" + strings.Join(names, ", ") + "}"
	}
	typ, _ := j.file.WrittenType(n)
	return text + " : " + j.expression(typ, n)
}

// expression renders a part of the declaration of n.
func (j *judge) expression(handle uint32, n term.Name) string {
	text, err := j.language.Expression(handle)
	if err != nil {
		return "(too long to be printed; fingerprints: " + string(j.core.entries[n]) + ")"
	}
	return text
}
