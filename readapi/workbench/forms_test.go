package workbench

import (
	"strings"
	"testing"
)

// TestFormsThatAreNotBoundCannotBeWritten: a template that could send a write of nobody's page is refused when the process starts.
func TestFormsThatAreNotBoundCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`<form method="post" action="/account"><button>Go</button></form>`, `<FORM METHOD=post>`, `<form>`, `<form action="/" data-method="get">`,
		`<button hx-post="/jobs">Go</button>`, `<button data-hx-delete="/jobs/1">Go</button>`, `{{form $.For "/jobs"}}</form><button hx-put="/">`, `<form method="get"><button formmethod="post">Go</button></form>`,
		`{{form $.For "/jobs"}}</form><button form="submit">Go</button>`, `<form method="get" action="/"><input hx-patch="/">`,
	} {
		if checkForms(source) == nil {
			t.Errorf("%s is taken", source)
		}
	}
	for _, source := range []string{
		`<form class="filters" method="get" action="/jobs">`, `{{form $.For "/jobs"}}<textarea hx-post="/jobs/drawing"></textarea><button formaction="/jobs/drawing"></button></form>`, `{{- evaluation .For "id=x"}}<button>Go</button></form>`, `<div hx-get="/jobs">`,
	} {
		if err := checkForms(source); err != nil {
			t.Error(err)
		}
	}
	if _, err := openForm("", "/jobs"); err == nil {
		t.Error("a form of nobody knows whose page is opened")
	}
	if form, err := openForm(`"><b>`, `/"x`, `class="y`); err != nil || strings.Count(string(form), "<") != 2 || strings.Count(string(form), `"`) != 12 {
		t.Errorf("%s %v", form, err)
	}
}
