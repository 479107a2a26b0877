package check

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"reckon/domain/lean/term"
)

// Bounds on the own definitions that one report shows.
const (
	maxOwnShown = 200     // definitions
	maxOwnBytes = 1 << 20 // of their texts
)

// ownDefinitions renders the uploader's definitions that the statements of the named declarations depend on. The digest
// is over the texts of all of them, in the order of the file. Shown are those nearest to the statements, as far as the
// bounds allow, also in the order of the file: however many others a file has, none can push out of sight what a statement
// mentions itself. nearest lists the declarations by distance.
func (j *judge) ownDefinitions(nearest []int) *OwnDefinitions {
	own := slices.DeleteFunc(slices.Clone(nearest), func(unit int) bool { // axioms are shown as such
		return j.file.Declarations[unit].Kind == term.Axiom || !j.isOwn(&j.file.Declarations[unit])
	})
	shown := map[int]string{}
	room := maxOwnBytes
	for _, unit := range own {
		if len(shown) == maxOwnShown {
			break
		}
		if text := j.definitionText(&j.file.Declarations[unit]); len(text) <= room {
			shown[unit] = text
			room -= len(text)
		}
	}
	out := &OwnDefinitions{Count: len(own), Omitted: len(own) - len(shown), Definitions: []OwnDefinition{}}
	whole := sha256.New()
	slices.Sort(own)
	for _, unit := range own {
		d := &j.file.Declarations[unit]
		text, ok := shown[unit]
		if ok {
			out.Definitions = append(out.Definitions, OwnDefinition{Name: j.names.Text(d.Name), Kind: d.Kind.String(), Text: text})
		} else {
			text = j.definitionText(d)
		}
		whole.Write([]byte(text + "\n"))
	}
	out.SHA256 = hex.EncodeToString(whole.Sum(nil))
	return out
}

// isOwn reports whether a declaration introduces a constant that is not Lean's.
func (j *judge) isOwn(d *term.Declaration) bool {
	return slices.ContainsFunc(namesOf(d), func(n term.Name) bool {
		whose, _ := j.core.originOf(n)
		return whose != originLean
	})
}

// definitionText renders a declaration. A part of it that is too long to be printed is given by the fingerprints of the
// whole, which determine it.
func (j *judge) definitionText(d *term.Declaration) string {
	w := definitionWriter{judge: j}
	if d.Kind == term.Inductive {
		w.block(d.Block)
		return w.out.String()
	}
	keyword := map[term.DeclarationKind]string{term.Definition: "def", term.Opaque: "opaque", term.Quotient: "quotient", term.Theorem: "theorem"}[d.Kind]
	w.header(keyword, d.Name, d.LevelParams)
	if value, ok := j.file.WrittenValue(d.Name); ok {
		w.out.WriteString(" := ")
		w.expression(value, d.Name)
	}
	return w.out.String()
}

// definitionWriter writes one declaration.
type definitionWriter struct {
	*judge
	out strings.Builder
}

// block writes types with their constructors; recursors follow from these.
func (w *definitionWriter) block(b *term.Block) {
	for i := range b.Types {
		t := &b.Types[i]
		if i > 0 {
			w.out.WriteString("\n")
		}
		w.header("inductive", t.Name, t.LevelParams)
		for k := range b.Constructors {
			if ctor := &b.Constructors[k]; ctor.Inductive == t.Name {
				w.out.WriteString("\n")
				w.header("|", ctor.Name, nil)
			}
		}
	}
}

// header writes a keyword, a name, its universe parameters and its type.
func (w *definitionWriter) header(keyword string, n term.Name, params []term.Name) {
	w.out.WriteString(keyword + " " + w.names.Text(n))
	if len(params) > 0 {
		names := make([]string, len(params))
		for i, p := range params {
			names[i] = w.names.Param(p)
		}
		w.out.WriteString(".{" + strings.Join(names, ", ") + "}")
	}
	w.out.WriteString(" : ")
	typ, _ := w.file.WrittenType(n)
	w.expression(typ, n)
}

// expression writes a part of the declaration of n.
func (w *definitionWriter) expression(handle uint32, n term.Name) {
	text, err := w.language.Expression(handle)
	if err != nil {
		text = "(too long to be printed; fingerprints: " + string(w.core.entries[n]) + ")"
	}
	w.out.WriteString(text)
}
