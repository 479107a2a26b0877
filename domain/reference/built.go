package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// BuiltFile is the file of the source's folder that `reckon reference build` writes.
const BuiltFile = "built.json"

// Built is the result of `reckon reference build`, data/built.json.
type Built struct {
	CheckedAt string            `json:"checked_at"` // UTC day, YYYY-MM-DD
	Engine    Program           `json:"engine"`
	Checker   map[string]string `json:"checker"` // its libraries and their revisions
	Rows      []Row             `json:"rows"`    // symbols by name, then tasks by name
}

// Program is a program and its revision.
type Program struct {
	Name     string `json:"name" doc:"Name of the program"`
	Revision string `json:"revision" doc:"Its revision"`
}

// Row is the derived row of one symbol or task.
type Row struct {
	Name           string         `json:"name"`
	Kind           Kind           `json:"kind"`
	Status         Status         `json:"status"`
	Reason         string         `json:"reason,omitempty"`
	Since          string         `json:"since,omitempty"`           // engine revision that supports it since; empty: it is not supported
	NotImplemented bool           `json:"not_implemented,omitempty"` // the engine lists the name and says that it has no such function
	Attributes     []string       `json:"attributes,omitempty"`
	Right          int            `json:"right,omitempty"` // examples with a right answer that is not the input
	Examples       []BuiltExample `json:"examples,omitempty"`
}

// BuiltExample is an example as it ran.
type BuiltExample struct {
	Input      string   `json:"input"`
	Output     string   `json:"output"` // what the engine answered; of a picture what stands for it
	Messages   []string `json:"messages,omitempty"`
	State      State    `json:"state"`
	Basis      string   `json:"basis,omitempty"`
	Difference string   `json:"difference,omitempty"`
	Trivial    bool     `json:"trivial,omitempty"`
}

// Bounds of what is kept of an answer.
const (
	maxOutputBytes = 1 << 10
	maxMessages    = 3
)

// NewRow derives the row of an entry whose examples ran, or of a name alone (kind Function, no examples).
func NewRow(name string, kind Kind, examples []Example, ran []Ran, probed Probed) Row {
	concluded := Derive(kind, examples, ran, probed)
	row := Row{
		Name: name, Kind: kind, Status: concluded.Status, Reason: concluded.Reason, Right: concluded.Right,
		NotImplemented: probed.NotImplemented, Attributes: probed.Attributes,
	}
	for i, example := range examples {
		judged := Judge(example, ran[i])
		built := BuiltExample{
			Input: example.Input, Output: bounded(Shown(example, ran[i].Answer)), State: judged.State, Basis: bounded(judged.Basis),
			Difference: bounded(judged.Difference), Trivial: judged.Trivial,
		}
		for _, message := range ran[i].Answer.Messages[:min(maxMessages, len(ran[i].Answer.Messages))] {
			built.Messages = append(built.Messages, bounded(message))
		}
		row.Examples = append(row.Examples, built)
	}
	return row
}

// Shown is an example's answer in readable form; of a job the members of its result that the example is about.
func Shown(example Example, answer Answer) string {
	if example.Right.Way != ByJob || answer.Job == "" {
		return shown(answer)
	}
	_, members := compareJob(example.Right, answer.Job)
	return members
}

// bounded cuts a text that is too long to be shown.
func bounded(text string) string {
	if len(text) <= maxOutputBytes {
		return text
	}
	cut := maxOutputBytes
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Settle puts the rows in order, and takes over from an earlier build since when what is supported was.
func (b *Built) Settle(earlier Built) {
	slices.SortFunc(b.Rows, func(x, y Row) int {
		if x.Kind != y.Kind {
			return strings.Compare(string(x.Kind), string(y.Kind))
		}
		return strings.Compare(x.Name, y.Name)
	})
	since := map[string]string{}
	for _, row := range earlier.Rows {
		since[string(row.Kind)+row.Name] = row.Since
	}
	for i := range b.Rows {
		row := &b.Rows[i]
		if row.Status != Supported {
			continue
		}
		if row.Since = since[string(row.Kind)+row.Name]; row.Since == "" {
			row.Since = b.Engine.Revision
		}
	}
}

// Has tells whether there is a symbol of that name.
func (b Built) Has(name string) bool {
	_, found := slices.BinarySearchFunc(b.Rows, name, func(row Row, name string) int {
		if row.Kind != Function {
			return 1
		}
		return strings.Compare(row.Name, name)
	})
	return found
}

// Count counts rows of a kind by status; every status is there.
func (b Built) Count(kind Kind) map[Status]int {
	counts := map[Status]int{Supported: 0, Divergent: 0, Blocked: 0, Unsupported: 0}
	for _, row := range b.Rows {
		if row.Kind == kind {
			counts[row.Status]++
		}
	}
	return counts
}

// Encode writes a row a line, so that two builds can be compared.
func (b Built) Encode() ([]byte, error) {
	var out bytes.Buffer
	line := func(value any) error {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(value)
		out.Truncate(out.Len() - 1) // its line end
		return err
	}
	rows := b.Rows
	b.Rows = nil
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	out.Write(bytes.TrimSuffix(head, []byte("null}")))
	out.WriteByte('[')
	for i, row := range rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if err := line(row); err != nil {
			return nil, fmt.Errorf("row %s: %w", row.Name, err)
		}
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// Decode reads what Encode wrote.
func Decode(text []byte) (Built, error) {
	var b Built
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		return Built{}, fmt.Errorf("built.json: %w; `reckon reference build` writes it", err)
	}
	if len(b.Rows) == 0 {
		return Built{}, errors.New("built.json: it has no rows; `reckon reference build` writes it")
	}
	return b, nil
}
