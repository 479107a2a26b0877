package workbench

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"reckon/domain/certificate"
	"reckon/domain/mathml"
	"reckon/domain/run"
	"reckon/domain/scope"
	"reckon/internal/view"
)

// functions are those that templates call.
var functions = template.FuncMap{
	"form": openForm, "evaluation": openEvaluation,
	"asset": assetAddress, "visible": visible, "text": shownText, "long": isLong, "line": firstLine, "picture": isPicture, "briefly": briefly, "typeset": typeset, "brief": brief, "linkable": linkable, "basis": view.BasisInWords, "engines": view.EnginesInWords, "shownBy": view.ShownBy, "reason": reasonInWords, "price": price, "duration": duration, "count": count, "bytes": bytesInWords, "badge": badgeOf, "kind": kindInWords, "choice": chosen, "checkCommand": checkCommand, "about": aboutInWords, "page": url.PathEscape, "scopes": scope.All,
}

// visible is a text of anybody's as it can be shown: characters that are not seen, or that change the order in which others are, stand as
// their code points. The script that checks receipts reads them back from data-char.
func visible(text string) template.HTML {
	if !strings.ContainsFunc(text, unseen) {
		return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // escaped
	}
	var b strings.Builder
	for _, r := range text {
		if unseen(r) {
			code := strings.ToUpper(strconv.FormatInt(int64(r), 16))
			code = strings.Repeat("0", max(0, 4-len(code))) + code
			b.WriteString(`<span class="unseen" data-char="` + code + `">U+` + code + `</span>`)
		} else {
			b.WriteString(template.HTMLEscapeString(string(r)))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// checkCommand is the command of a shell that has the kernel judge declarations; empty where there are none, or a name has a character that
// nobody would see, or that ends a quoted word.
func checkCommand(declarations []certificate.Declaration) string {
	names := make([]string, len(declarations))
	for i, d := range declarations {
		names[i] = d.Name
	}
	list := strings.Join(names, ",")
	if list == "" || strings.ContainsRune(list, '\'') || strings.ContainsAny(list, "\n\t") || strings.ContainsFunc(list, unseen) {
		return ""
	}
	return "reckon lean check FILE --declarations '" + list + "'"
}

// typeset is an answer as a formula; empty: it is none, or too large for one.
func typeset(answer string) template.HTML {
	formula, _ := mathml.Of(answer)
	return template.HTML(formula) //nolint:gosec // mathml writes markup of its own, and escapes what it is given
}

// maxBrief is how many characters of a text stand in a row of a list.
const maxBrief = 400

// brief is the beginning of a text that may be long.
func brief(text string) string {
	n := 0
	for at := range text {
		if n++; n > maxBrief {
			return text[:at] + "…"
		}
	}
	return text
}

// maxLine is how many characters of a text stand in one line.
const maxLine = 200

// firstLine is the beginning of a text, in one line.
func firstLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > maxLine {
		line, more = string(runes[:maxLine]), true
	}
	if more {
		line += "…"
	}
	return line
}

// isPicture tells whether an answer is what the language writes for a graphic, which says nothing beside it.
func isPicture(answer string) bool { return answer == "-Graphics-" || answer == "-Graphics3D-" }

// briefly is what a verdict rests on, in a word or two.
func briefly(basis run.Basis) string {
	switch basis {
	case run.BasisExact:
		return "exactly"
	case run.BasisNumeric:
		return "numerically"
	case run.BasisCrossCheck:
		return "by cross-check"
	}
	return string(basis)
}

// linkable tells whether a link can carry an expression to the page that evaluates.
func linkable(expression string) bool { return len(expression) <= maxPrefilled }

// blankPattern is U+2800, a braille pattern without dots.
const blankPattern = '\u2800'

// unseen tells whether a browser does something else with a character than to show it: controls, formats, what Unicode says may be
// ignored, and spaces that look like the common one.
func unseen(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	case blankPattern:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// reasonInWords says why nothing was learned.
func reasonInWords(reason run.InconclusiveReason) string {
	if words, known := reasons[reason]; known {
		return words
	}
	return string(reason)
}

var reasons = map[run.InconclusiveReason]string{
	"cross_check_agrees":      "an independent way came to the same: support, not proof",
	"no_check_for_head":       "no rule covers this function",
	"no_check_for_shape":      "a rule covers this function, but not called like this; writing it another way may help",
	"answer_not_usable":       "the answer is not in a form that can be checked",
	"simplify_did_not_reduce": "the difference could be shown neither to vanish nor not to",
	"check_timed_out":         "the check did not finish in its time",
	"check_engine_error":      "the check's own engine failed",
	"check_not_permitted":     "the expression uses something that the check may not run",
}

// badge is how a status or verdict is shown: in a word, a mark and a colour, so that none of them is needed alone.
type badge struct{ Mark, Class, Words string }

var badges = map[string]badge{
	"verified": {"✓", "good", "verified"}, "refuted": {"✗", "bad", "refuted"}, "inconclusive": {"–", "open", "inconclusive"}, "rejected": {"✗", "bad", "rejected"}, "unsupported": {"?", "open", "unsupported"},
	"success": {"✓", "open", "answered"}, "unevaluated": {"–", "open", "no answer"}, "plot_omitted": {"–", "open", "graphic too large"}, "timeout": {"✗", "bad", "out of time"}, "error": {"✗", "bad", "ended without an answer"},
	"queued": {"…", "open", "queued"}, "running": {"▸", "open", "running"}, "succeeded": {"✓", "open", "done"}, "failed": {"✗", "bad", "failed"}, "cancelled": {"–", "open", "cancelled"}, "lost": {"✗", "bad", "lost"},
	"supported": {"✓", "good", "supported"}, "divergent": {"≠", "open", "some examples wrong"}, "blocked": {"–", "open", "not allowed here"},
	"checked": {"✓", "open", "no fault found"}, "refused": {"✗", "bad", "would be refused"}, "undecided": {"?", "open", "undecided"},
	"active": {"✓", "open", "active"}, "past_due": {"!", "bad", "past due"}, "ending": {"–", "open", "ending"}, "open": {"!", "open", "open"}, "paid": {"✓", "open", "paid"}, "voided": {"–", "open", "voided"},
}

// badgeOf takes any kind of text: each domain package has its own.
func badgeOf(status any) badge {
	name := fmt.Sprint(status)
	if known, ok := badges[name]; ok {
		return known
	}
	return badge{"?", "open", name}
}

// kindInWords is what a kind of job computes.
func kindInWords(kind string) string {
	if words, known := map[string]string{"evaluate": "expression", "qsim": "circuit"}[kind]; known {
		return words
	}
	return kind
}

// option is one of those that a field of a form offers.
type option struct {
	Value, Words string
	Chosen       bool
}

// chosen are the options of a field, of which the first means all.
func chosen(value string, all string, values ...string) []option {
	options := []option{{"", all, value == ""}}
	for _, v := range values {
		options = append(options, option{v, badgeOf(v).Words, v == value})
	}
	return options
}
