package workbench

import (
	"net/http"
	"net/url"
	"strconv"
)

const referencePage = 50

// searchShown is a page of what a search of the reference found.
type searchShown struct {
	Filter map[string]string
	Rows   []struct{ Name, Kind, Status, Summary string }
	Total  int
	Offset int
	Newer  string
	Older  string
	First  int
	Last   int
}

func (v *visit) referencePage() {
	page := searchShown{Filter: v.given("q", "kind", "status", "offset")}
	asked := url.Values{"limit": {strconv.Itoa(referencePage)}}
	for name, value := range page.Filter {
		asked.Set(name, value)
	}
	_, problem := v.ask(http.MethodGet, "/api/docs/search?"+asked.Encode(), nil, &page)
	page.First, page.Last = page.Offset+1, page.Offset+len(page.Rows)
	if page.Last < page.Total {
		page.Older = page.at(page.Offset + referencePage)
	}
	if page.Offset > 0 {
		page.Newer = page.at(max(0, page.Offset-referencePage))
	}
	v.showList("reference", shown{Title: "Reference", Section: "reference", Page: page}, problem)
}

// at is the address of the same search from another row on.
func (s searchShown) at(offset int) string {
	query := url.Values{}
	for name, value := range s.Filter {
		query.Set(name, value)
	}
	query.Set("offset", strconv.Itoa(offset))
	return "/reference?" + query.Encode()
}

// symbolShown is an entry of the reference.
type symbolShown struct {
	Name, Kind, Status, Summary string
	Reason                      *string
	Usage                       []struct{ Form, About string }
	Examples                    []struct {
		Input, Output, Expected, Source string
		Messages                        []string
		Verified                        bool
		Basis, Difference               *string
		CheckedAt                       string `json:"checked_at"`
	}
	Attributes, Elsewhere, Notes, Tags []string
	SeeAlso                            []string `json:"see_also"`
	SinceEngine                        *string  `json:"since_engine"`
}

func (v *visit) symbolPage() {
	name := v.r.PathValue("name")
	var page symbolShown
	_, problem := v.ask(http.MethodGet, "/api/docs/symbol/"+url.PathEscape(name), nil, &page)
	if problem != nil {
		v.show("symbol", shown{Title: "No such entry", Section: "reference", Problem: problem})
		return
	}
	v.show("symbol", shown{Title: page.Name, Section: "reference", Page: page})
}
