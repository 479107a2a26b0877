package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	outcome "reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// tryReport is what `reckon try --json` prints.
type tryReport struct {
	Evaluation      json.RawMessage `json:"evaluation,omitempty"`
	Problem         json.RawMessage `json:"problem,omitempty"`
	Receipt         json.RawMessage `json:"receipt,omitempty"`
	ReceiptVerified bool            `json:"receipt_verified"`
	ReceiptError    string          `json:"receipt_error,omitempty"`
}

func (t *tried) report() tryReport {
	if t.problem != nil {
		return tryReport{Problem: t.answered}
	}
	r := tryReport{Evaluation: t.answered, Receipt: t.receipt, ReceiptVerified: t.receiptError == nil}
	if t.receiptError != nil {
		r.ReceiptError = t.receiptError.Error()
	}
	return r
}

// labelWidth is that of the column in which it stands what the text beside it is.
const labelWidth = 10

// print writes the answer first, as it could be typed in again; what belongs to it follows, each with what it is.
func (t *tried) print(w io.Writer, plotFile string) error {
	var p page
	if t.problem != nil {
		p.line("no answer", t.problem.Title)
		p.line("", t.problem.Detail)
		if t.problem.Code == httpkit.BudgetExhausted.Code {
			p.line("", "a job may take longer: POST /api/jobs, with a token (docs/jobs.md); the plan's budget is the operator's (docs/accounts.md#plans)")
		}
		p.suggestions(t.expression, t.problem.Suggestions)
		if t.problem.RunID != nil {
			p.line("run", fmt.Sprint(*t.problem.RunID, ", in the history without a receipt"))
		}
	} else {
		t.printAnswer(&p, plotFile)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (t *tried) printAnswer(p *page, plotFile string) {
	e := t.evaluation
	p.WriteString(printable(e.Result) + "\n\n")
	if e.Stdout != nil {
		p.line("printed", *e.Stdout)
	}
	ofSuggestions := map[string]bool{}
	for _, s := range e.Suggestions {
		ofSuggestions[s.Message] = true
	}
	for _, warning := range e.Warnings {
		if !ofSuggestions[warning] {
			p.line("warning", warning)
		}
	}
	p.suggestions(t.expression, e.Suggestions)
	if e.PlotURL != nil {
		said := "made: --plot FILE writes it to a file (SVG)"
		if plotFile != "" {
			said = "written to " + plotFile
		}
		p.line("graphic", said)
	}
	switch e.Status {
	case outcome.Unevaluated:
		p.line("note", "this is no answer: the engine gave the input back unevaluated")
	case outcome.PlotOmitted:
		p.line("note", "a graphic was made and is too large to keep")
	}
	if asked := view.EnginesInWords(e.Engines); asked != "" {
		p.line("engines", asked)
	}
	p.verdict(e.Verification, len(e.Suggestions) > 0)
	t.printReceipt(p)
}

// verdict writes what was found, and what that says: what the rule shows, or the proof that the answer is wrong. asWritten: the expression was probably
// meant to be another one.
func (p *page) verdict(v *view.Verification, asWritten bool) {
	if v == nil {
		p.line("unchecked", "no rule covers this, or none reached a verdict: nothing was learned about the answer")
		return
	}
	read := ""
	if asWritten {
		read = "as it is written, which may not be what was meant: "
	}
	by := fmt.Sprintf("%s, in an engine that shares no code with the one that answered (%s, %d ms)", view.BasisInWords(v.Basis), v.Method, v.ElapsedMS)
	if v.Verdict == outcome.VerdictRefuted {
		p.line("REFUTED", read+"this answer is wrong: "+by)
		p.line("", v.Residual)
		p.line("checked", v.Check)
		return
	}
	p.line(string(v.Verdict), read+by)
	if shown := view.ShownBy(v.Method); shown != "" {
		p.line("", wrapped(shown+" (docs/verification.md#"+v.Method+")"))
	}
	p.line("checked", v.Check+"\n= "+v.Residual)
}

// textWidth is where prose is wrapped, in characters.
const textWidth = 100

// wrapped is a text in lines of at most textWidth characters, where its words allow it.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+length > textWidth:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += length
	}
	return b.String()
}

func (t *tried) printReceipt(p *page) {
	if t.receiptError != nil {
		p.line("receipt", "DOES NOT VERIFY: "+t.receiptError.Error())
		return
	}
	p.line("receipt", fmt.Sprintf("verified here: the record of run %d is of this question and this answer, its hash is\n%s\nand the published key %s has signed it", *t.evaluation.RunID, t.sealed.ID, *t.sealed.KID))
}

// page is text in two columns.
type page struct{ strings.Builder }

// line writes a text of one or more lines beside a label.
func (p *page) line(label, text string) {
	for line := range strings.Lines(strings.TrimRight(printable(text), "\n")) {
		fmt.Fprintf(p, "%-*s  %s\n", labelWidth, label, strings.TrimRight(line, "\n"))
		label = ""
	}
}

// suggestions writes each with the line of the expression that it is about, and carets below the part.
func (p *page) suggestions(expression string, all []httpkit.Suggestion) {
	for _, s := range all {
		p.line("hint", s.Message)
		if line, carets, ok := marked([]rune(expression), s.Range); ok {
			p.line("", line+"\n"+carets)
		}
	}
}

// marked is the line of a text in which a part begins, and a line of carets that stand below the part.
func marked(text []rune, part httpkit.Range) (line, carets string, ok bool) {
	if part.Start < 0 || part.Start > part.End || part.End > len(text) {
		return "", "", false
	}
	begin, end := part.Start, part.Start
	for begin > 0 && text[begin-1] != '\n' {
		begin--
	}
	for end < len(text) && text[end] != '\n' {
		end++
	}
	under := func(part []rune, sign string) string {
		var b strings.Builder
		for _, r := range part {
			if r == '\t' && sign == " " {
				b.WriteRune('\t') // as wide as the one above
				continue
			}
			b.WriteString(strings.Repeat(sign, len([]rune(printable(string(r))))))
		}
		return b.String()
	}
	carets = under(text[begin:part.Start], " ") + under(text[part.Start:min(part.End, end)], "^")
	if part.Start == part.End {
		carets += "^" // something is missing there
	}
	return string(text[begin:end]), carets, true
}

// printable is a text without characters that a terminal obeys.
func printable(text string) string {
	if !strings.ContainsFunc(text, obeyed) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if obeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// obeyed reports whether a terminal interprets the character instead of showing it.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
