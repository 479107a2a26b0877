package workbench_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"reckon/test/apitest"
	"reckon/test/browser"
)

// TestAnswersAreTypeset: as a formula beside the text that is the answer, by which alone a receipt is checked.
func TestAnswersAreTypeset(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	b.Fill("#expression", "Sin[x]/2")
	b.ShiftEnter()
	b.Until(`document.querySelector("#cells .formula math mfrac")?.getBoundingClientRect().height > 20`)
	b.Eval(`(navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, "")`) // headless pages may not write the real one
	b.Click(`#cells button[data-take="tex"]`)
	b.Until(`window.copied === String.raw` + "`\\frac{\\sin (x)}{2}`" + ` && document.querySelector("#cells .actions").textContent.includes("Copied.")`)
	b.Click(`#cells button[data-take="text"]`)
	b.Until(`window.copied === "Sin[x]/2"`)
	if text := b.Eval(`plain(document.querySelector("#cells .answer"))`); text != "Sin[x]/2" {
		t.Errorf("the answer is shown as %q", text)
	}
	b.Fill("#expression", `f["</mtext></math><img src=x onerror=alert(1)>"]`)
	b.ShiftEnter()
	b.Until(`document.querySelectorAll("#cells > .cell").length === 2 && !document.querySelector(".working")`)
	b.Has("#cells > .cell:last-child .formula", "<img")
	if made := b.Eval(`document.querySelectorAll("#cells img, #cells script").length`); made != "0" {
		t.Errorf("%s elements were made of an answer", made)
	}
	b.Fill("#expression", strings.Repeat("x+", 300)+"1")
	b.ShiftEnter()
	b.Until(`document.querySelectorAll("#cells > .cell").length === 3`)
	sound(t, b, "formulas")
	clean(t, b)
}

// TestLongAnswersAreShownFromTheirBeginning: a browser lays out twenty thousand bytes of one, whose size is said, and the rest on request, piece by piece.
func TestLongAnswersAreShownFromTheirBeginning(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Fill("#expression", "Long")
	b.ShiftEnter()
	b.Until(`document.querySelector("#cells .answer")`)
	b.Has("#cells .long summary", "Show all 117.2 KiB")
	laidOut := `[...document.querySelectorAll("#cells .answer code > .chunk")].filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).length`
	if pieces := b.Eval(`document.querySelectorAll("#cells .answer .chunk").length + " " + document.querySelector("#cells .answer pre").textContent.length + " " + ` + laidOut); pieces != "5 13653 0" {
		t.Errorf("pieces of the rest, characters at once, pieces laid out: %s", pieces)
	}
	sound(t, b, "the beginning of a long answer")
	b.Click("#cells .long summary")
	b.Until(`document.querySelector("#cells .chunk").checkVisibility()`)
	if whole := b.Eval(`plain(document.querySelector("#cells .answer")) === "é<".repeat(40000)`); whole != "true" {
		t.Error("the answer is not all there")
	}
	b.Eval(`(save = (name, type, text) => { window.saved = name + text.length }, "")`)
	b.Click(`#cells button[data-take="file"]`)
	b.Until(`window.saved === "answer.txt80000"`)
	b.Click(".check-receipt")
	b.Has("output.receipt", "it is not signed") // the answer was compared before that
	clean(t, b)
	// Without scripts all of it is there, to be opened.
	a := form(t, s, "/", user.Cookie, s.URL, url.Values{"expression": {"Long"}})
	if n := strings.Count(string(a.Body), "&lt;"); n < 40_000 {
		t.Errorf("%d of 40000", n)
	}
}

// TestNotebookOfASession: it has an address, is there when the page is opened again, is evaluated again in its session, and is saved.
func TestNotebookOfASession(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	cells := func(n int) {
		t.Helper()
		b.Until(fmt.Sprintf(`document.querySelectorAll("#cells > .cell").length === %d && !document.querySelector(".working")`, n))
	}
	user.Evaluate(t, "elsewhere + 1").OK(t)
	b.Click("details.options summary")
	b.Fill("#session", "note.book-1")
	for i, expression := range []string{"1+1", "Print[<&>]", "While[True]", "Plot[x,{x,0,1}]", "Sin[x]/2"} {
		b.Fill("#expression", expression)
		b.ShiftEnter()
		cells(i + 1)
	}
	b.Until(`location.search === "?session_id=note.book-1"`)
	if runs := strings.Count(string(user.Do(t, http.MethodGet, "/api/history", "").OK(t).Body), `"expression":"While[True]"`); runs != 1 {
		t.Errorf("what ran out of time was evaluated %d times", runs)
	}
	before := b.Eval(`[...document.querySelectorAll("#cells .in .id")].map((e) => e.innerText).join()`)

	b.Go(b.Eval("location.href"))
	cells(5)
	b.Has("#cells > .cell:nth-last-child(3) .problem", "past its time budget")
	b.Has("#cells > .cell:last-child .verdict", "No verdict was sealed")
	b.Has("#cells", "Verified by exact arithmetic")
	b.Until(`document.querySelector("#cells img.plot")?.complete && document.querySelector("#cells .formula math")`)
	after := b.Eval(`[...document.querySelectorAll("#cells .in .id")].map((e) => e.innerText).join()`)
	for id := range strings.SplitSeq(before, ",") {
		if !strings.Contains(","+after+",", ","+id+",") {
			t.Errorf("run %s of %s is not among %s", id, before, after)
		}
	}
	if strings.Contains(b.Text("#cells"), "elsewhere") {
		t.Error("a run of no session is in the notebook")
	}
	sound(t, b, "a notebook that was opened again")
	b.Click("#cells > .cell:nth-of-type(1) .check-receipt")
	b.Has("#cells > .cell:nth-of-type(1) output.receipt", "it is not signed") // it was compared with what the page shows before that
	b.Click("#cells > .cell:nth-of-type(1) .again button")
	b.Until(`document.querySelector("#cells > .cell:nth-of-type(1)").dataset.run !== "` + before[:strings.IndexByte(before, ',')] + `"`)
	cells(5)
	b.Has("#cells > .cell:nth-of-type(1) .answer", "2") // in its place
	if session := b.Eval(`document.querySelector("#session").value + " " + location.search`); session != "note.book-1 ?session_id=note.book-1" {
		t.Error(session)
	}
	saved := b.Eval("markdown()")
	for _, want := range []string{"```wolfram\nSin[x]/2\n```", "No answer:\n\n```\nIt ran past its time budget", "Message:\n\n```\nPrint::note: <&>", "Check: Not checked"} {
		if !strings.Contains(saved, want) {
			t.Errorf("%q is not saved in\n%s", want, saved)
		}
	}
	if name := b.Eval("notebookName()"); name != "note.book-1.md" {
		t.Error(name)
	}
	clean(t, b)

	// Without scripts the page of an answer has the cells before it, and each once.
	a := form(t, s, "/", user.Cookie, s.URL, url.Values{"expression": {"1+1"}, "session_id": {"note.book-1"}})
	if n := strings.Count(string(a.Body), `<article class="cell"`); a.Status != http.StatusOK || n != 7 { // five, one that was evaluated again, and this
		t.Errorf("%d: %d cells", a.Status, n)
	}
	// A notebook is its account's own.
	other := s.NewUser(t)
	if a := s.Do(t, http.MethodGet, "/?session_id=note.book-1", "", "Cookie", other.Cookie); strings.Contains(string(a.Body), "<article") {
		t.Error("another account sees the notebook")
	}
	for i := range 21 {
		if i%10 == 0 {
			s.Clock.Pass(2 * time.Minute) // the plan's rate
		}
		user.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1","session_id":"note.book-2"}`).OK(t)
	}
	if a := s.Do(t, http.MethodGet, "/?session_id=note.book-2", "", "Cookie", user.Cookie); strings.Count(string(a.Body), `<article class="cell"`) != 20 || !strings.Contains(string(a.Body), "The newest cells of this session are shown") {
		t.Errorf("%.4000s", a.Body)
	}
}

// TestCellsAreKeptInTheBrowser: with their answers, their order and what is being written, through another page and back, until the reader signs out; each is edited in its place, moved, and deleted with a way back.
func TestCellsAreKeptInTheBrowser(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	shown := `[...document.querySelectorAll("#cells > .cell")].map((cell) => plain(cell.querySelector(".expression")) + "=" + (cell.querySelector(".answer")?.textContent ?? "")).join("; ")`
	cells := func(what, want string) {
		t.Helper()
		b.Until(shown + ` === ` + fmt.Sprintf("%q", want) + ` && !document.querySelector(".working")`)
	}
	evaluate := func(expression string) {
		t.Helper()
		b.Fill("#expression", expression)
		b.ShiftEnter()
		b.Until(`plain(document.querySelector("#cells > .cell:last-child .expression")) === ` + fmt.Sprintf("%q", expression))
	}
	b.Go(s.URL + "/")
	evaluate("1+1")
	evaluate("Sin[x]/2")
	b.Fill("#expression", "half a thou")
	b.Go(s.URL + "/plans")
	b.Back()
	cells("after Back", "1+1=2; Sin[x]/2=Sin[x]/2")
	b.Until(`document.querySelector("#expression").value === "half a thou" && document.querySelector("#cells math")`)
	sound(t, b, "cells that were kept")

	b.Click(`#cells > .cell:first-child .tool`)
	b.Fill("#cells .edit textarea", "1 + 1")
	b.ShiftEnter()
	cells("edited in its place", "1 + 1=2; Sin[x]/2=Sin[x]/2")
	b.Until(`document.activeElement.closest(".cell") === document.querySelector("#cells > .cell:first-child")`)
	b.Click(`#cells > .cell:first-child [aria-label="Move this cell down"]`)
	cells("moved", "Sin[x]/2=Sin[x]/2; 1 + 1=2")
	b.Click(`#cells > .cell:first-child [aria-label="Delete this cell"]`)
	cells("deleted", "1 + 1=2")
	sound(t, b, "a deleted cell")
	b.Click(`#cells .undo button`)
	cells("not deleted", "Sin[x]/2=Sin[x]/2; 1 + 1=2")
	b.Go(s.URL + "/")
	cells("after loading the page again", "Sin[x]/2=Sin[x]/2; 1 + 1=2")

	// Who signs in goes on with them, and who signs out leaves nothing.
	signIn(t, b, s)
	cells("signed in", "Sin[x]/2=Sin[x]/2; 1 + 1=2")
	b.Click(`#cells > .cell:last-child .again button`)
	b.Until(`document.querySelector("#cells > .cell:last-child .in .id")`)
	evaluate("Long")
	b.Go(s.URL + "/")
	b.Has("#cells > .cell:last-child .note", "too large to be kept")
	if secrets := b.Eval(`Object.keys(localStorage).map((name) => localStorage[name]).join().match(/cookie|token|password/gi)`); secrets != "null" {
		t.Errorf("kept: %s", secrets)
	}
	b.Click(`form[action="/sign-out"] button`)
	b.Until(`document.querySelector('a[href^="/sign-in"]') && document.readyState === "complete"`)
	if left := b.Eval(`localStorage.length + " " + document.querySelectorAll("#cells > .cell").length`); left != "0 0" {
		t.Errorf("signed out, and %s entries and cells are left", left)
	}
	// What another account has left is not there for the next.
	b.Eval(`(localStorage.setItem("reckon-notebook:somebody:draft", "x"), "")`)
	signIn(t, b, s)
	b.Until(`localStorage.getItem("reckon-notebook:somebody:draft") === null`)
	// In a session the service has the cells, and the browser what was deleted of them.
	b.Click("details.options summary")
	b.Fill("#session", "kept")
	evaluate("1+1")
	evaluate("x=3")
	evaluate("x")
	b.Click(`#cells > .cell:nth-child(2) [aria-label="Delete this cell"]`)
	b.Go(s.URL + "/?session_id=kept")
	cells("a session's", "1+1=2; x=3")
	b.Click("#clear")
	b.Go(s.URL + "/?session_id=kept")
	cells("a session's that was cleared", "")
	clean(t, b)
}

// TestNamesAreCompleted: by keys and by clicks, with what the reference knows of the name at the caret and below the pointer.
func TestNamesAreCompleted(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	b.Go(s.URL + "/")
	b.Type("#expression", "2 Fact")
	b.Until(`!document.querySelector("#completions").hidden`)
	b.Has("#completion-count", "arrow keys")
	sound(t, b, "names to choose from")
	names := b.Eval(`[...document.querySelectorAll("#completions code")].map((e) => e.innerText).join()`)
	if !strings.Contains(","+names+",", ",Factor,") || !strings.Contains(","+names+",", ",Factorial,") {
		t.Errorf("for Fact: %s", names)
	}
	b.Down()
	b.Until(`document.querySelector("#completion-0").getAttribute("aria-selected") === "true" && document.querySelector("#expression").getAttribute("aria-activedescendant") === "completion-0"`)
	b.Has("#about", "Factor: ")
	b.Enter()
	b.Until(`document.querySelector("#expression").value === "2 Factor[poly]" && document.querySelector("#completions").hidden`)
	b.Type("#expression", "Integ")
	b.Until(`!document.querySelector("#completions").hidden`)
	b.Escape()
	b.Until(`document.querySelector("#completions").hidden && document.querySelector("#expression").value === "Integ"`)
	b.Type("#expression", "Integ")
	b.Until(`document.querySelector("#completion-0 code")?.innerText === "Integrate"`) // what is used most, before Integer
	b.Has("#completion-0", "(some examples wrong)")
	b.Click("#completion-0")
	selected := func(text, selection string) {
		t.Helper()
		b.Until(fmt.Sprintf(`(field => field.value === %q && field.value.slice(field.selectionStart, field.selectionEnd) === %q)(document.querySelector("#expression"))`, text, selection))
	}
	selected("Integrate[f, x]", "f")
	sound(t, b, "a template")
	b.Press("Sin[t]")
	b.Press("\t")
	selected("Integrate[Sin[t], x]", "x")
	b.Press("t")
	b.Press("\t")
	b.Press(" + 1")
	selected("Integrate[Sin[t], t] + 1", "")
	b.Press("\t")
	b.Until(`document.activeElement.id !== "expression"`) // the template has ended: Tab is Tab
	b.Type("#expression", "Integrate[x, ")
	b.Has("#about", "Integrate")
	b.Until(`document.querySelector("#about a").getAttribute("href") === "/reference/Integrate"`)
	b.Type("#expression", `"Fact`)
	b.Press("or")
	b.Until(`document.querySelector("#about").innerText === "" && document.querySelector("#completions").hidden`)
	b.Fill("#expression", "Factor[1]")
	b.ShiftEnter()
	b.Until(`document.querySelector("#cells .expression")`)
	b.Until(`(() => { const e = document.querySelector("#cells .expression"), at = e.getBoundingClientRect(); e.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: at.left + 8, clientY: at.top + at.height / 2 })); return e.title.startsWith("Factor: ") })()`)
	clean(t, b)
}

// TestCircuitsAreDrawnWhileTheyAreWritten: from JSON and OpenQASM, with what is wrong in words, and nothing is submitted.
func TestCircuitsAreDrawnWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Go(s.URL + "/jobs")
	b.Click("main details:nth-of-type(2) summary")
	b.Until(`document.querySelectorAll("#diagram svg circle").length === 2`) // the control of a cx, and its target
	b.Fill("#circuit", `OPENQASM 3; include "stdgates.inc"; qubit[3] q; bit[3] c; h q[0]; rz(pi/4) q[1]; swap q[1], q[2]; barrier q; c = measure q;`)
	b.Has("#diagram", "3 qubits, 7 instructions")
	b.Click("#diagram summary")
	b.Has("#diagram ol", "RZ(0.7854) on q1")
	b.Has("#diagram ol", "measure q2 into c[2]")
	sound(t, b, "a circuit that is written")
	b.Fill("#circuit", `OPENQASM 3; qubit q; <script>`)
	b.Has("#diagram", "line 1")
	b.Fill("#circuit", `{"qubits": 2, "gates": [{"gate": "<b>"}]}`)
	b.Has("#diagram", "<b>")
	b.Fill("#circuit", `OPENQASM 3; include "stdgates.inc"; qubit[30] q; for int i in [0:200] { h q[0]; }`)
	b.Has("#diagram", "too large to be drawn here")
	b.Fill("#circuit", `{"qubits": 21, "gates": [{"gate": "t", "target": 0}]}`)
	b.Has("#diagram", "at most 20 qubits, not 21") // of the free plan, as the submission would say
	b.Fill("#circuit", strings.Repeat(" ", 40_000)+"{}")
	b.Has("#diagram", "too long to be drawn here")
	b.Fill("#circuit", `{"qubits": 1, "gates": [{"gate": "bit_flip", "target": 0, "p": 0.1}]}`)
	b.Until(`document.querySelector("#diagram svg rect[stroke-dasharray]")`)
	clean(t, b)
	if jobs := string(user.Do(t, http.MethodGet, "/api/jobs", "").OK(t).Body); !strings.Contains(jobs, `"jobs":[]`) {
		t.Errorf("drawing submitted something: %s", jobs)
	}
	// Without scripts a page of its own has the drawing and the form to go on with.
	drawn := form(t, s, "/jobs/drawing", user.Cookie, s.URL, url.Values{"circuit": {`{"qubits":1,"gates":[{"gate":"h","target":0}]}`}, "key": {"k"}})
	if drawn.Status != http.StatusOK || !strings.Contains(string(drawn.Body), "<svg") || !strings.Contains(string(drawn.Body), `action="/jobs"`) || strings.Contains(string(drawn.Body), " style=") {
		t.Errorf("%d %.3000s", drawn.Status, drawn.Body)
	}
	if stranger := form(t, s, "/jobs/drawing", "", s.URL, url.Values{"circuit": {"{}"}}); stranger.Status != http.StatusUnauthorized || strings.Contains(string(stranger.Body), "diagram") {
		t.Errorf("%d %.3000s", stranger.Status, stranger.Body)
	}
}
