package workbench

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// elaborationForm is a source that is to become an upload.
type elaborationForm struct{ Source, Module, Names string }

// elaborationShown is what came of it.
type elaborationShown struct {
	OK       bool                 `json:"ok"`
	Messages []elaborationMessage `json:"messages"`
	Hint     string               `json:"hint"`
	UploadID string               `json:"upload_id"`
	Names    []string             `json:"declarations"`
	Report   *proofReport         `json:"validation"`

	Lines []sourceLine         // of the source
	Apart []elaborationMessage // messages whose line the source does not have
}

// elaborationMessage is one of Lean's, at a line from 1 and a column from 0, in code points.
type elaborationMessage struct {
	Severity     string
	Line, Column int
	Message      string
}

// Place is the column as people count, from 1.
func (m elaborationMessage) Place() int { return m.Column + 1 }

// sourceLine is a line of a source with what is said of it.
type sourceLine struct {
	Number   int
	Text     string
	Messages []elaborationMessage
}

// elaborate sends a source to the toolchain. What becomes an upload stands in the form for uploads.
func (v *visit) elaborate() {
	form := v.elaborationFields()
	page := proofsShown{Elaboration: form}
	body := map[string]any{"source": form.Source}
	if form.Module != "" {
		body["module"] = form.Module
	}
	if names := namesIn(form.Names); len(names) > 0 {
		body["declarations"] = names
	}
	found := &elaborationShown{}
	if _, page.NotElaborated = v.ask(http.MethodPost, "/api/proofs/elaborate", body, found); page.NotElaborated == nil {
		found.place(form.Source)
		page.Elaborated = found
		page.UploadID, page.Names, page.Report = found.UploadID, strings.Join(found.Names, "\n"), found.Report
	}
	v.showProofs(page)
}

func (v *visit) elaborationFields() elaborationForm {
	return elaborationForm{Source: v.field("source"), Module: strings.TrimSpace(v.field("module")), Names: v.field("names")}
}

// place puts the messages at their lines.
func (e *elaborationShown) place(source string) {
	slices.SortStableFunc(e.Messages, func(a, b elaborationMessage) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	for i, text := range strings.Split(source, "\n") {
		e.Lines = append(e.Lines, sourceLine{Number: i + 1, Text: text})
	}
	for _, m := range e.Messages {
		if m.Line < 1 || m.Line > len(e.Lines) {
			e.Apart = append(e.Apart, m)
			continue
		}
		line := &e.Lines[m.Line-1]
		line.Messages = append(line.Messages, m)
	}
}
