package readapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reckon/domain/reference"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

type foundSymbols struct {
	Rows []struct {
		Name, Kind, Status, Summary, URL string
		Tags                             []string
	}
	Total, Limit, Offset int
}

func searched(t *testing.T, s *apitest.Server, query string) foundSymbols {
	t.Helper()
	var found foundSymbols
	if err := json.Unmarshal(s.Do(t, http.MethodGet, "/api/docs/search?"+query, "").OK(t).Body, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSearchOfTheReference: anybody may search, filters hold, pages follow each other, and each row's address answers.
func TestSearchOfTheReference(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	first := searched(t, s, "q=factr")
	if len(first.Rows) == 0 || first.Rows[0].Name != "Factor" || first.Limit != 50 {
		t.Fatalf("%+v", first)
	}
	for _, row := range first.Rows[:3] {
		if got := s.Do(t, http.MethodGet, row.URL, "").OK(t); got.JSON["name"] != row.Name || got.JSON["status"] != row.Status {
			t.Errorf("%s: %.200s", row.URL, got.Body)
		}
	}
	for _, status := range []string{"supported", "divergent", "blocked", "unsupported"} {
		found := searched(t, s, "kind=function&limit=200&status="+status)
		if found.Total == 0 || slices.ContainsFunc(found.Rows, func(r struct {
			Name, Kind, Status, Summary, URL string
			Tags                             []string
		}) bool {
			return r.Status != status || r.Kind != "function" || r.Summary == ""
		}) {
			t.Errorf("%s: %+v", status, found)
		}
	}
	if tasks := searched(t, s, "kind=task&q=check"); tasks.Total == 0 || tasks.Rows[0].Kind != "task" {
		t.Errorf("%+v", tasks)
	}
	a, b := searched(t, s, "q=matrix&limit=5"), searched(t, s, "q=matrix&limit=5&offset=5")
	if a.Total != b.Total || len(b.Rows) != 5 || a.Rows[0].Name == b.Rows[0].Name {
		t.Errorf("%+v %+v", a, b)
	}
	for _, wrong := range []string{"status=fine", "kind=thing", "limit=0", "limit=201", "offset=-1", "q=" + strings.Repeat("x", 201)} {
		s.Do(t, http.MethodGet, "/api/docs/search?"+wrong, "").Want(t, httpkit.InvalidParameter)
	}
}

// TestSymbol: an entry shows its examples with what is right, honestly where they differ, and a name that there is not those it resembles.
func TestSymbol(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []reference.Status{reference.Supported, reference.Divergent} {
		rows, _ := about.Find(reference.Query{Status: status, Kind: reference.Function, Limit: 1})
		var entry struct {
			Status, Summary string
			SinceEngine     *string `json:"since_engine"`
			Usage           []struct{ Form, About string }
			Examples        []struct {
				Input, Output, Expected string
				Verified                bool
				Basis, Difference       *string
				CheckedAt               string `json:"checked_at"`
			}
		}
		if err := json.Unmarshal(s.Do(t, http.MethodGet, "/api/docs/symbol/"+url.PathEscape(rows[0].Name), "").OK(t).Body, &entry); err != nil {
			t.Fatal(err)
		}
		differing := 0
		for _, example := range entry.Examples {
			if example.Verified == (example.Difference != nil) || example.Verified != (example.Basis != nil) || example.CheckedAt == "" || example.Expected == "" {
				t.Errorf("%s: %+v", rows[0].Name, example)
			}
			if !example.Verified {
				differing++
			}
		}
		if entry.Status != string(status) || len(entry.Usage) == 0 || (status == reference.Supported) != (entry.SinceEngine != nil) || (status == reference.Divergent) != (differing > 0) {
			t.Errorf("%+v", entry)
		}
	}
	for _, name := range []string{"Factr", "no such thing", "factor", "A/B", "%00"} {
		s.Do(t, http.MethodGet, "/api/docs/symbol/"+url.PathEscape(name), "").Want(t, httpkit.NoSuchSymbol)
	}
	suggested, _ := s.Do(t, http.MethodGet, "/api/docs/symbol/Factr", "").JSON["suggestions"].([]any)
	if len(suggested) == 0 || suggested[0].(map[string]any)["replacement"] != "Factor" {
		t.Errorf("%v", suggested)
	}
}

func TestSupport(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	var got struct {
		Symbols []struct {
			Name, Status string
			Known        bool
			Suggestions  []string
		}
	}
	if err := json.Unmarshal(s.Do(t, http.MethodGet, "/api/docs/support?names=Factor,Import,Factr,,APIFunction", "").OK(t).Body, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"supported", "blocked", "unsupported", "unsupported", "unsupported"}
	for i, one := range got.Symbols {
		if one.Status != want[i] || one.Known != (i != 2 && i != 3) || (len(one.Suggestions) > 0) != (i == 2) {
			t.Errorf("%+v", one)
		}
	}
	if len(got.Symbols) != len(want) {
		t.Errorf("%+v", got)
	}
	s.Do(t, http.MethodGet, "/api/docs/support", "").Want(t, httpkit.InvalidParameter)
	s.Do(t, http.MethodGet, "/api/docs/support?names=", "").Want(t, httpkit.InvalidParameter)
	s.Do(t, http.MethodGet, "/api/docs/support?names="+strings.Repeat("Sin,", 100)+"Sin", "").Want(t, httpkit.InvalidParameter)
	s.Do(t, http.MethodGet, "/api/docs/support?names="+strings.Repeat("Sin,", 99)+"Sin", "").OK(t)
}

// TestAvailability: one row a symbol, the counts are theirs, each status is defined, and anybody may keep the answer for a day.
func TestAvailability(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	a := s.Do(t, http.MethodGet, "/api/docs/availability.json", "", "Origin", "https://example.org").OK(t)
	var all struct {
		Counts   map[string]int
		Statuses []struct{ Status, Meaning string }
		Rows     []struct {
			Name, Status     string
			Forms            []string
			VerifiedExamples int `json:"verified_examples"`
		}
	}
	if err := json.Unmarshal(a.Body, &all); err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for _, row := range all.Rows {
		counted[row.Status]++
		if row.Forms == nil || row.Status == "supported" && (row.VerifiedExamples < 2 || len(row.Forms) == 0) {
			t.Errorf("%+v", row)
		}
	}
	if len(all.Rows) < 6000 || len(all.Statuses) != 4 || len(all.Counts) != 4 {
		t.Errorf("%d rows, %v, %v", len(all.Rows), all.Counts, all.Statuses)
	}
	for _, defined := range all.Statuses {
		if all.Counts[defined.Status] != counted[defined.Status] || defined.Meaning == "" {
			t.Errorf("%+v: %d counted, %d said", defined, counted[defined.Status], all.Counts[defined.Status])
		}
	}
	etag := a.Header.Get("ETag")
	if a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Cache-Control") != "public, max-age=86400" || etag == "" || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.Header)
	}
	if again := s.Do(t, http.MethodGet, "/api/docs/availability.json", "", "If-None-Match", etag); again.Status != http.StatusNotModified || len(again.Body) != 0 {
		t.Errorf("%d with %d bytes", again.Status, len(again.Body))
	}
	if head := s.Do(t, http.MethodHead, "/api/docs/availability.json", ""); head.Status != http.StatusOK || head.Header.Get("ETag") != etag || len(head.Body) != 0 {
		t.Errorf("%d %v", head.Status, head.Header)
	}
}
