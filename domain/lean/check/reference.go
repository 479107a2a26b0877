package check

import (
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

//go:embed reference/*.json
var referenceFiles embed.FS

// Entry is the content of one constant as text: its kind, the fingerprint of its type, and the fingerprint of its value
// or constructors, or "-". Constants inside count by name, for they have entries of their own; theorems count by their
// type, and universe parameters by position.
type Entry string

// differences describes how a constant differs from the reference's constant of the same name.
func (e Entry) differences(reference Entry) string {
	have, want := strings.Fields(string(e)), strings.Fields(string(reference))
	if have[0] != want[0] {
		return "it is " + withArticle(have[0]) + " where Lean has " + withArticle(want[0])
	}
	var parts []string
	if have[1] != want[1] {
		parts = append(parts, "its type")
	}
	if have[2] != want[2] {
		part := "its value"
		if have[0] == term.Inductive.String() {
			part = "its constructors"
		}
		parts = append(parts, part)
	}
	if len(parts) == 2 {
		return parts[0] + " and " + parts[1] + " differ"
	}
	if parts[0] == "its constructors" {
		return parts[0] + " differ"
	}
	return parts[0] + " differs"
}

func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// Reference holds the constants of one Lean version by plain name, as `reckon lean reference build` writes it.
type Reference struct {
	LeanVersion string           `json:"lean_version"`
	Constants   map[string]Entry `json:"constants"`
}

// Basis holds, for each logical constant, the entries it has in real exports.
type Basis map[string][]Entry

const basisFile = "reference/basis.json"

// referenceTables holds the tables embedded in the program.
type referenceTables struct {
	basis      Basis
	references []Reference
}

var loadReferenceTables = sync.OnceValue(func() referenceTables {
	var s referenceTables
	mustRead(basisFile, &s.basis)
	names, err := fs.Glob(referenceFiles, "reference/lean-*.json")
	if err != nil || len(names) == 0 {
		panic("no reference table is part of the program")
	}
	for _, name := range names {
		var r Reference
		mustRead(name, &r)
		s.references = append(s.references, r)
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

// nearest returns the table of the version, or of the one nearest to it: nearest in the minor version, then in the
// patch. A version that cannot be read is nearest to the newest table.
func (s referenceTables) nearest(version string) (r *Reference, exact bool) {
	asked := versionOf(version)
	for i := range s.references {
		candidate := &s.references[i]
		if candidate.LeanVersion == version {
			return candidate, true
		}
		if r == nil || asked.distance(versionOf(candidate.LeanVersion)) < asked.distance(versionOf(r.LeanVersion)) {
			r = candidate
		}
	}
	return r, false
}

// leanVersion is major, minor and patch; what cannot be read is later than every version.
type leanVersion [3]int

func versionOf(text string) leanVersion {
	const late = 1 << 10
	number, _, _ := strings.Cut(text, "-")
	parts := strings.Split(number, ".")
	v := leanVersion{late, late, late}
	if len(parts) != len(v) {
		return v
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n >= late {
			return leanVersion{late, late, late}
		}
		v[i] = n
	}
	return v
}

func (v leanVersion) distance(w leanVersion) int {
	distance := 0
	for i := range v {
		distance = distance<<10 + max(v[i]-w[i], w[i]-v[i])
	}
	return distance
}

// BuildReference computes the table of everything an export declares.
func BuildReference(f *export.File) Reference {
	r := Reference{LeanVersion: f.Meta.LeanVersion, Constants: map[string]Entry{}}
	for name, entry := range entriesOf(f.Store, f.Declarations) {
		if plain, ok := f.Store.PlainName(name); ok {
			r.Constants[plain] = entry
		}
	}
	return r
}

// BuildBasis computes the entries of the logical constants that an export declares.
func BuildBasis(f *export.File) Basis {
	b := Basis{}
	constants := BuildReference(f).Constants
	for _, id := range builtin.Basis {
		if entry, ok := constants[id.String()]; ok {
			b[id.String()] = []Entry{entry}
		}
	}
	return b
}

// Merge adds the entries of other to b.
func (b Basis) Merge(other Basis) {
	for name, list := range other {
		for _, entry := range list {
			if !slices.Contains(b[name], entry) {
				b[name] = append(b[name], entry)
				slices.Sort(b[name])
			}
		}
	}
}

// entriesOf computes the entry of every declared name; of a name declared twice the first stands.
func entriesOf(s *term.Store, declarations []term.Declaration) map[term.Name]Entry {
	e := entries{fingerprinter: term.NewFingerprinter(s), byName: make(map[term.Name]Entry, len(declarations))}
	for i := range declarations {
		if d := &declarations[i]; d.Kind == term.Inductive {
			e.block(d.Block)
		} else {
			e.declaration(d)
		}
	}
	return e.byName
}

type entries struct {
	fingerprinter *term.Fingerprinter
	byName        map[term.Name]Entry
}

func (e *entries) add(n term.Name, kind string, typ, made term.Fingerprint) {
	if _, ok := e.byName[n]; ok {
		return
	}
	content := "-"
	if made != (term.Fingerprint{}) {
		content = hex.EncodeToString(made[:])
	}
	e.byName[n] = Entry(kind + " " + hex.EncodeToString(typ[:]) + " " + content)
}

// typeFingerprint is the fingerprint of a type with its universe parameters.
func (e *entries) typeFingerprint(typ term.Expr, params []term.Name) term.Fingerprint {
	e.fingerprinter.WithParams(params)
	return e.fingerprinter.Combine('R', e.fingerprinter.Number(uint64(len(params))), e.fingerprinter.Expr(typ))
}

func (e *entries) declaration(d *term.Declaration) {
	typ := e.typeFingerprint(d.Type, d.LevelParams)
	var made term.Fingerprint
	switch d.Kind {
	case term.Definition, term.Opaque:
		made = e.fingerprinter.Expr(d.Value)
	case term.Quotient:
		made = e.fingerprinter.Text('q', string(d.QuotKind))
	}
	e.add(d.Name, safety(d.Unsafe, d.Partial)+d.Kind.String(), typ, made)
}

func (e *entries) block(b *term.Block) {
	f := e.fingerprinter
	constructors := make(map[term.Name]*term.Constructor, len(b.Constructors))
	for i := range b.Constructors {
		constructors[b.Constructors[i].Name] = &b.Constructors[i]
	}
	for i := range b.Types {
		t := &b.Types[i]
		parts := []term.Fingerprint{f.Number(uint64(t.NumParams))}
		for _, n := range t.All {
			parts = append(parts, f.Name(n))
		}
		for _, n := range t.Constructors {
			parts = append(parts, f.Name(n))
			if k, ok := constructors[n]; ok {
				parts = append(parts, e.typeFingerprint(k.Type, k.LevelParams))
			}
		}
		e.add(t.Name, safety(t.Unsafe, false)+term.Inductive.String(), e.typeFingerprint(t.Type, t.LevelParams), f.Combine('B', parts...))
	}
	for i := range b.Constructors {
		k := &b.Constructors[i]
		e.add(k.Name, "constructor", e.typeFingerprint(k.Type, k.LevelParams), f.Name(k.Inductive))
	}
	for i := range b.Recursors {
		r := &b.Recursors[i]
		e.add(r.Name, "recursor", e.typeFingerprint(r.Type, r.LevelParams), term.Fingerprint{})
	}
}

func safety(isUnsafe, isPartial bool) string {
	switch {
	case isUnsafe:
		return "unsafe-"
	case isPartial:
		return "partial-"
	}
	return ""
}
