package reference

import (
	"context"
	"slices"

	"reckon/domain/reference"
)

// Building is how far a build is.
type Building struct {
	Examples, AllExamples int
	Names, AllNames       int
}

// Build runs every example of entries, probes names and the entries' own, and derives a row of each. day is the UTC day. show is told how far
// that is, on one goroutine at a time.
func (b *Bench) Build(ctx context.Context, entries []reference.Entry, names []string, day string, show func(Building)) (reference.Built, error) {
	names = slices.Clone(names)
	for _, e := range entries {
		if e.Kind == reference.Function {
			names = append(names, e.Name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !reference.IsSymbol(name) })
	slices.Sort(names)
	names = slices.Compact(names)
	progress := newTally(Building{AllExamples: countExamples(entries), AllNames: len(names)}, show)
	probed, err := b.Probe(ctx, names, func() { progress.add(0, 1) })
	if err != nil {
		return reference.Built{}, err
	}
	ran, err := b.RunAll(ctx, entries, func() { progress.add(1, 0) })
	if err != nil {
		return reference.Built{}, err
	}
	built := reference.Built{CheckedAt: day, Checker: b.checker.Info()}
	built.Engine.Name, built.Engine.Revision = b.engine.Info()
	probe := map[string]reference.Probed{}
	for _, p := range probed {
		probe[p.Name] = p
	}
	for i, e := range entries {
		about := reference.Probed{}
		if e.Kind == reference.Function {
			about = probe[e.Name]
			delete(probe, e.Name)
		}
		built.Rows = append(built.Rows, reference.NewRow(e.Name, e.Kind, e.Examples, ran[i], about))
	}
	for _, p := range probe {
		built.Rows = append(built.Rows, reference.NewRow(p.Name, reference.Function, nil, nil, p))
	}
	return built, nil
}

func countExamples(entries []reference.Entry) int {
	n := 0
	for _, e := range entries {
		n += len(e.Examples)
	}
	return n
}
