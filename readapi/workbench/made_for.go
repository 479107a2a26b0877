package workbench

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"reckon/internal/httpkit"
)

// madeForField is the field of every form that writes. It names whom the form's page was made for, so that what somebody wrote on a page
// is not done for another account that was signed in to in the same browser meanwhile. It is no secret: writes from other sites are refused by their origin.
const madeForField = "made_for"

// reader is whom a page is made for: the id of an account, or nobody.
type reader string

// nobody reads a page without being signed in.
const nobody reader = "nobody"

// reader is whom a page that this person reads is made for.
func (p person) reader() reader {
	if p.SignedIn {
		return reader(p.Account)
	}
	return nobody
}

// name is what the person is called where somebody else may be meant.
func (p person) name() string {
	if p.Email == "" {
		return "an account without an address"
	}
	return p.Email
}

// openForm opens a form that writes, bound to the reader of its page. Templates have no other: parse refuses those that have. An attribute is name=value.
func openForm(of reader, action string, attributes ...string) (template.HTML, error) {
	if of == "" {
		return "", errors.New("a form of nobody knows whose page")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<form method="post" action="%s"`, template.HTMLEscapeString(action))
	for _, attribute := range attributes {
		name, value, _ := strings.Cut(attribute, "=")
		fmt.Fprintf(&b, ` %s="%s"`, name, template.HTMLEscapeString(value))
	}
	fmt.Fprintf(&b, `><input type="hidden" name="%s" value="%s">`, madeForField, template.HTMLEscapeString(string(of)))
	return template.HTML(b.String()), nil //nolint:gosec // escaped; attributes are named in templates
}

// openEvaluation opens a form whose answer becomes the last cell of the page, or stands in the place that the attributes name.
func openEvaluation(of reader, attribute string, place ...string) (template.HTML, error) {
	if len(place) == 0 {
		place = []string{"hx-target=#cells", "hx-swap=beforeend"}
	}
	return openForm(of, "/", append([]string{attribute, "hx-post=/", "hx-select=#cells > .cell", "hx-sync=this:drop"}, place...)...)
}

var (
	// boundOrClosed is where a bound form begins in a template, and where any form ends.
	boundOrClosed = regexp.MustCompile(`\{\{-?\s*(?:form|evaluation) |</form>`)
	// unboundForm is the tag of a form that is not openForm's, and does not say that it only asks.
	formTag = regexp.MustCompile(`(?i)<form\b[^>]*>`)
	asks    = regexp.MustCompile(`(?i)\smethod="get"`)
	// sends is what makes an element send a write: htmx's attributes, and those of buttons that stand outside of their form.
	sends = regexp.MustCompile(`(?i)\b(?:data-)?hx-(?:post|put|patch|delete|vals|vars|params|include|on)\b|\bformmethod\b|<(?:button|input|textarea|select)\b[^>]*\sform=`)
)

// checkForms returns why a template could send a write that is not bound to its page's reader.
func checkForms(source string) error {
	for _, tag := range formTag.FindAllString(source, -1) {
		if !asks.MatchString(tag) {
			return fmt.Errorf("%s: forms that write are opened by {{form}} or {{evaluation}}, others say method=\"get\"", tag)
		}
	}
	for _, at := range sends.FindAllStringIndex(source, -1) {
		before := boundOrClosed.FindAllString(source[:at[0]], -1)
		if len(before) == 0 || before[len(before)-1] == "</form>" {
			return fmt.Errorf("%s: it stands in no form that {{form}} or {{evaluation}} opens", source[at[0]:at[1]])
		}
	}
	return nil
}

// madeForAnother is why a form is not done for who has sent it: its page was made for somebody else, or it is not known for whom.
func (v *visit) madeForAnother() *refusal {
	madeFor, who := reader(v.field(madeForField)), v.who()
	switch {
	case madeFor == "":
		return &refusal{Problem: *httpkit.InvalidRequest.Problem("the form does not say whom its page was made for, and nothing was done: load the page again")}
	case who.Problem != nil:
		return who.Problem
	case madeFor == who.reader():
		return nil
	case !who.SignedIn:
		return &refusal{Problem: *httpkit.Unauthenticated.Problem("The page was made for an account, and nobody is signed in now. Nothing was done: sign in, in another tab if you like, and send it again.")}
	}
	whose := "another account"
	if madeFor == nobody {
		whose = "somebody who was not signed in"
	}
	return &refusal{Problem: *httpkit.OtherAccount.Problem("You are signed in as %s now, and the page was made for %s. Nothing was done: load the page again to go on as %s.", who.name(), whose, who.name())}
}

// stillOf is whose a form stays that is shown again: while nobody is signed in it is theirs whom it was made for.
func (v *visit) stillOf(problem *refusal) reader {
	if problem.Status == http.StatusUnauthorized {
		return reader(v.field(madeForField))
	}
	return ""
}

// refusedShown is what is shown of a form that was not done, where its page has no place for that.
type refusedShown struct {
	Again string // address of the page, to load it again
}

// refuse shows why a form was not done.
func (v *visit) refuse(problem *refusal) {
	again := local(v.r.URL.Path)
	if next := v.field("next"); next != "" {
		again = local(next)
	}
	v.showWithStatus("refused", shown{Title: "Not done", Refused: problem, Page: refusedShown{again}}, problem)
}
