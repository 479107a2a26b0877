package check

import (
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

//go:embed reference/*.json
var referenceFiles embed.FS

// Reference holds the fingerprints of the definitions of one Lean version, as `reckon lean reference build` writes it.
type Reference struct {
	LeanVersion string            `json:"lean_version"`
	Definitions map[string]string `json:"definitions"`
}

// Basis holds, for each logical constant, the fingerprints it has in real exports.
type Basis map[string][]string

const basisFile = "reference/basis.json"

// shipped is the tables in the program.
type shipped struct {
	basis      Basis
	references map[string]Reference
}

var loadShipped = sync.OnceValue(func() shipped {
	s := shipped{references: map[string]Reference{}}
	mustRead(basisFile, &s.basis)
	names, err := fs.Glob(referenceFiles, "reference/lean-*.json")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		var r Reference
		mustRead(name, &r)
		s.references[r.LeanVersion] = r
	}
	return s
})

func mustRead(name string, v any) {
	text, err := referenceFiles.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		panic(err) // the file is part of the program
	}
}

// BuildReference computes the table of everything an export declares.
func BuildReference(f *export.File) Reference {
	r := Reference{LeanVersion: f.Meta.LeanVersion, Definitions: map[string]string{}}
	for name, fingerprint := range fingerprints(f.Store, f.Declarations) {
		r.Definitions[f.Store.NameString(name)] = fingerprint
	}
	return r
}

// BuildBasis computes what an export contributes to the basis.
func BuildBasis(f *export.File) Basis {
	b := Basis{}
	for name, fingerprint := range BuildReference(f).Definitions {
		if isBasisName(name) {
			b[name] = []string{fingerprint}
		}
	}
	return b
}

// Merge adds what other has.
func (b Basis) Merge(other Basis) {
	for name, list := range other {
		for _, fingerprint := range list {
			if !slices.Contains(b[name], fingerprint) {
				b[name] = append(b[name], fingerprint)
				slices.Sort(b[name])
			}
		}
	}
}

// fingerprints computes the structural fingerprint of every declaration by name, a type's with its constructors. A
// constant in it counts by name: the constants it mentions have fingerprints of their own. A theorem counts by what it
// states, and universe parameters by position.
func fingerprints(s *term.Store, declarations []term.Declaration) map[term.Name]string {
	f := term.NewFingerprinter(s)
	out := make(map[term.Name]string, len(declarations))
	put := func(n term.Name, parts ...term.Fingerprint) {
		if _, ok := out[n]; !ok {
			h := f.Combine('R', parts...)
			out[n] = hex.EncodeToString(h[:])
		}
	}
	for i := range declarations {
		d := &declarations[i]
		kind := f.Number(uint64(d.Kind))
		if d.Kind == term.Inductive {
			for j := range d.Block.Types {
				t := &d.Block.Types[j]
				put(t.Name, typeParts(f, kind, d.Block, t)...)
			}
			continue
		}
		f.WithParams(d.LevelParams)
		parts := []term.Fingerprint{kind, f.Number(uint64(len(d.LevelParams))), f.Expr(d.Type)}
		if d.Kind == term.Definition || d.Kind == term.Opaque {
			parts = append(parts, f.Expr(d.Value))
		}
		put(d.Name, append(parts, safety(f, d.Unsafe, d.Partial), f.Text('q', d.QuotKind))...)
	}
	return out
}

func typeParts(f *term.Fingerprinter, kind term.Fingerprint, b *term.Block, t *term.InductiveType) []term.Fingerprint {
	f.WithParams(t.LevelParams)
	parts := []term.Fingerprint{kind, f.Number(uint64(len(t.LevelParams))), f.Expr(t.Type), f.Number(uint64(t.NumParams)), safety(f, t.Unsafe, false)}
	for _, n := range t.All {
		parts = append(parts, f.Name(n))
	}
	for _, n := range t.Constructors {
		i := slices.IndexFunc(b.Constructors, func(k term.Constructor) bool { return k.Name == n })
		if i < 0 {
			continue
		}
		f.WithParams(b.Constructors[i].LevelParams)
		parts = append(parts, f.Name(n), f.Expr(b.Constructors[i].Type))
	}
	return parts
}

func safety(f *term.Fingerprinter, isUnsafe, isPartial bool) term.Fingerprint {
	n := uint64(0)
	if isUnsafe {
		n |= 1
	}
	if isPartial {
		n |= 2
	}
	return f.Number(n)
}

// conformance compares the file with the table of its version. basis lists the logical constants that are not Lean's,
// which count as differing in every version.
func conformance(f *export.File, prints map[term.Name]string, tables shipped) (c *Conformance, basis []string) {
	c = &Conformance{Differing: []string{}, Outside: Outside{Namespaces: []string{}}}
	reference, known := tables.references[f.Meta.LeanVersion]
	if known {
		c.ReferenceLeanVersion = &reference.LeanVersion
	}
	namespaces := map[string]bool{}
	for n, fingerprint := range prints {
		name := f.Store.NameString(n)
		allowed, inBasis := tables.basis[name]
		expected, inTable := reference.Definitions[name]
		switch {
		case inBasis && !slices.Contains(allowed, fingerprint):
			basis = append(basis, name)
			c.Differing = append(c.Differing, name)
		case inTable && expected != fingerprint:
			c.Differing = append(c.Differing, name)
		case inBasis || inTable:
			c.Matched++
		default:
			c.Outside.Count++
			first, _, _ := strings.Cut(name, ".")
			namespaces[first] = true
		}
	}
	for n := range namespaces {
		c.Outside.Namespaces = append(c.Outside.Namespaces, n)
	}
	slices.Sort(c.Differing)
	slices.Sort(basis)
	slices.Sort(c.Outside.Namespaces)
	return c, basis
}
