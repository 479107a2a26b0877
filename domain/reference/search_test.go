package reference_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"reckon/domain/reference"
)

func current(t testing.TB) *reference.Reference {
	t.Helper()
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	return about
}

// relevance holds queries with what a person who asks so expects: the first row, and others among the first three. It was written before the
// search was tried on it. Names that begin with a small letter are tasks, and then tasks are looked for.
//
//go:embed testdata/relevance.tsv
var relevance string

func TestRelevance(t *testing.T) {
	about := current(t)
	count := 0
	for line := range strings.Lines(relevance) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) < 2 {
			t.Fatalf("not a query and what is expected: %q", line)
		}
		count++
		kind := reference.Function
		if first := fields[1][:1]; first == strings.ToLower(first) && first != "$" {
			kind = reference.Task
		}
		rows, _ := about.Find(reference.Query{Text: fields[0], Kind: kind, Limit: 3})
		names := make([]string, len(rows))
		for i, row := range rows {
			names[i] = row.Name
		}
		if len(names) == 0 || names[0] != fields[1] {
			t.Errorf("%q finds %q, and %s is expected first", fields[0], names, fields[1])
			continue
		}
		for _, other := range fields[2:] {
			if !slices.Contains(names, other) {
				t.Errorf("%q finds %q, without %s", fields[0], names, other)
			}
		}
	}
	if count < 100 {
		t.Errorf("%d queries", count)
	}
}

// TestFindBounds: any text is answered, and paging answers each row once.
func TestFindBounds(t *testing.T) {
	about := current(t)
	for _, text := range []string{"", " ", "[", "\x00", "ſ", strings.Repeat("integrate ", 1000), strings.Repeat("x", 1000), "∫", "a an the", "\xff"} {
		rows, total := about.Find(reference.Query{Text: text, Limit: 5})
		if len(rows) > 5 || total < len(rows) {
			t.Errorf("%q: %d of %d", text, len(rows), total)
		}
	}
	all, total := about.Find(reference.Query{Limit: 1 << 20})
	if len(all) != total || total != len(about.Rows) {
		t.Fatalf("%d of %d, and there are %d", len(all), total, len(about.Rows))
	}
	var paged []string
	for offset := 0; offset < total; offset += 100 {
		rows, _ := about.Find(reference.Query{Text: "distribution", Limit: 100, Offset: offset})
		for _, row := range rows {
			paged = append(paged, row.Name)
		}
	}
	whole, found := about.Find(reference.Query{Text: "distribution", Limit: total})
	if len(paged) != found || len(whole) != found || found == 0 {
		t.Errorf("%d rows on pages, %d at once, %d said", len(paged), len(whole), found)
	}
	for i := range whole {
		if whole[i].Name != paged[i] {
			t.Fatalf("row %d is %s on a page and %s at once", i, paged[i], whole[i].Name)
		}
	}
	if rows, total := about.Find(reference.Query{Offset: 1 << 40, Limit: 10}); len(rows) != 0 || total == 0 {
		t.Errorf("%d of %d behind the end", len(rows), total)
	}
	for _, status := range []reference.Status{reference.Supported, reference.Blocked} {
		rows, total := about.Find(reference.Query{Status: status, Limit: 10})
		if total == 0 || slices.ContainsFunc(rows, func(r reference.Row) bool { return r.Status != status }) {
			t.Errorf("%s: %d", status, total)
		}
	}
}

func TestSuggest(t *testing.T) {
	about := current(t)
	for name, want := range map[string]string{"Integrte": "Integrate", "integrate": "Integrate", "Eigenvalus": "Eigenvalues", "np.linalg.inv": "Inverse", "PLOT": "Plot"} {
		if names := about.Suggest(name, 5); len(names) == 0 || names[0] != want {
			t.Errorf("%s: %v", name, names)
		}
	}
}

// BenchmarkFind is what one key of a person who types costs.
func BenchmarkFind(b *testing.B) {
	about := current(b)
	for _, text := range []string{"s", "integ", "intergate", "eigenvalues of a matrix", "solve a linear system of differential equations"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				about.Find(reference.Query{Text: text, Limit: 20})
			}
		})
	}
}
