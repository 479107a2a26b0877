package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"reckon/domain/lean/statement"
	"reckon/domain/lean/term"
)

// maxOwnBytes bounds the texts of own definitions in one report, in bytes.
const maxOwnBytes = 1 << 20

// ownDefinitions renders the uploader's definitions that the statements of the named declarations depend on, in the order
// of the file. It refuses (OwnDefinitionsTooLong) when their texts exceed the bound and declarations were asked for by
// name: a reader could not see what was verified.
func (j *judge) ownDefinitions(meaning []int) (out *OwnDefinitions, refusal *Refusal) {
	out = &OwnDefinitions{Definitions: []OwnDefinition{}}
	whole := sha256.New()
	room := maxOwnBytes
	for _, unit := range meaning {
		d := &j.file.Declarations[unit]
		if d.Kind == term.Axiom || !j.isOwn(d) { // axioms are shown as such
			continue
		}
		text, err := j.definitionText(d)
		item := OwnDefinition{Name: j.names.Text(d.Name), Kind: d.Kind.String(), Text: text}
		whole.Write([]byte(item.Text + "\n"))
		out.Count++
		if room -= len(item.Text); room < 0 {
			out.Omitted++
		} else {
			out.Definitions = append(out.Definitions, item)
		}
		if (room < 0 || err != nil) && refusal == nil && !j.opts.All {
			refusal = &Refusal{Declaration: item.Name, Class: OwnDefinitionsTooLong, File: j.opts.FileName, Line: d.Line,
				Message: fmt.Sprintf("a statement rests on this definition, which cannot be printed: at most %d bytes are, of all such definitions, and %d of one expression", maxOwnBytes, statement.MaxBytes)}
		}
	}
	out.SHA256 = hex.EncodeToString(whole.Sum(nil))
	return out, refusal
}

// isOwn reports whether a declaration introduces a constant that is not Lean's.
func (j *judge) isOwn(d *term.Declaration) bool {
	return slices.ContainsFunc(namesOf(d), func(n term.Name) bool {
		whose, _ := j.core.originOf(n)
		return whose != originLean
	})
}

// definitionText renders a declaration. One too long to be printed is given by its fingerprints, and the error says so.
func (j *judge) definitionText(d *term.Declaration) (string, error) {
	w := definitionWriter{judge: j}
	if d.Kind == term.Inductive {
		w.block(d.Block)
		return w.out.String(), w.err
	}
	keyword := map[term.DeclarationKind]string{term.Definition: "def", term.Opaque: "opaque", term.Quotient: "quotient", term.Theorem: "theorem"}[d.Kind]
	w.header(keyword, d.Name, d.LevelParams)
	if value, ok := j.file.WrittenValue(d.Name); ok {
		w.out.WriteString(" := ")
		w.expression(value, d.Name)
	}
	return w.out.String(), w.err
}

// definitionWriter writes one declaration.
type definitionWriter struct {
	*judge
	out strings.Builder
	err error // of the first part that could not be printed
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
		if w.err == nil {
			w.err = err
		}
		text = "(too long to be printed; fingerprints: " + string(w.core.entries[n]) + ")"
	}
	w.out.WriteString(text)
}
