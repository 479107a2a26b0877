package workbench

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/internal/view"
)

// Bounds of a notebook that is shown again.
const (
	notebookCells   = 20  // the newest of its session
	notebookPages   = 3   // of the history, in which they are looked for
	notebookPerPage = 200 // runs
)

// keptCell is a run of a session as its receipt tells it; what was printed is in no receipt.
type keptCell struct {
	Row       historyRun
	Receipt   *receipt // nil: the run ended without an answer
	SessionID string
	For       reader
}

// notebook is what is known of a session's earlier evaluations.
type notebook struct {
	Cells   []keptCell // oldest first
	More    bool       // there are older ones, or there may be
	Live    bool       // the session has its variables
	Unknown *refusal   // why they are not known
}

// Again is what evaluates a cell again, where it is short enough to stand in the page twice.
func (k keptCell) Again() again { return again{k.Row.Expression, k.SessionID, k.For} }

// Told is what was said with the answer.
func (k keptCell) Told() told {
	t := toldThen(k.Row.Expression, k.Row.Warnings)
	t.Answered = k.Receipt != nil
	return t
}

type again struct {
	Expression, SessionID string
	For                   reader
}

// notebookOf is the notebook of a session: its newest runs among the newest of the account's history, but for one that is shown already.
func (v *visit) notebookOf(sessionID string, live []sessionRow, shownAlready int64) *notebook {
	if !session.ValidID(sessionID) {
		return nil
	}
	n := &notebook{Live: slices.Contains(live, sessionRow{sessionID})}
	asked := url.Values{"limit": {strconv.Itoa(notebookPerPage)}}
	for range notebookPages {
		var page historyShown
		if _, problem := v.ask(http.MethodGet, "/api/history?"+asked.Encode(), nil, &page); problem != nil {
			n.Unknown = problem
			return n
		}
		for _, row := range page.Runs {
			if row.SessionID == nil || *row.SessionID != sessionID || row.RunID == shownAlready {
				continue
			}
			if len(n.Cells) == notebookCells {
				n.More = true
				break
			}
			n.Cells = append(n.Cells, keptCell{Row: row, SessionID: sessionID, For: v.who().reader()})
		}
		if n.More || page.Next == nil {
			break
		}
		asked.Set("before", *page.Next)
		n.More = true // unless the pages that follow say otherwise
	}
	slices.Reverse(n.Cells)
	for i := range n.Cells {
		if n.Cells[i].Row.ReceiptURL == nil {
			continue
		}
		var told receipt
		if _, problem := v.ask(http.MethodGet, view.ReceiptPath(n.Cells[i].Row.RunID), nil, &told); problem != nil {
			n.Unknown = problem
			return n
		}
		n.Cells[i].Receipt = &told
	}
	return n
}

// endings say how a run ended that has no answer.
var endings = map[run.Status]string{
	run.Timeout: "It ran past its time budget, and was stopped.",
	run.Error:   "The engine did not survive it, or it was stopped.",
}

// Ending says how the run ended, if it has no answer.
func (k keptCell) Ending() string { return endings[k.Row.Status] }
