package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/test/browser"
)

// TestWorkbench: a person who has never been here gets a verified answer with one click, opens an account, evaluates in a session, checks
// a receipt in the browser, has a circuit simulated and proofs judged, and finds all of it again; with the real engine, checker, keys and kernel.
// With RECKON_SCREENSHOTS naming a folder, pictures of the pages are written there (make screenshots).
func TestWorkbench(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := Start(t, DataFolder(t))
	evaluate := func(expression string) {
		t.Helper()
		before := b.Eval(`document.querySelectorAll("#cells > .cell").length`)
		b.Fill("#expression", expression)
		b.ShiftEnter()
		b.Until(`document.querySelectorAll("#cells > .cell").length > ` + before)
	}
	const last = "#cells > .cell:last-child "
	b.Go(s.URL + "/")
	b.Has("#shown .verdict.verified summary", "Verified") // before anything is pressed
	b.Has("#shown .verdict.refuted summary", "Refuted")
	picture(t, b, "first-page")
	for _, path := range []string{"/jobs", "/proofs"} {
		b.Go(s.URL + path)
		picture(t, b, "visitor-"+strings.TrimPrefix(path, "/"))
	}
	b.Go(s.URL + "/")
	b.Click(".examples button")
	b.Has(last+".verdict.verified summary", "Verified")
	b.Click(last + ".verdict summary")
	b.Has(last+".verdict", "The answer's derivative equals the integrand")
	picture(t, b, "evaluate-first-visit")

	b.Click(`a[href^="/sign-up"]`)
	b.Fill("#email", "ada@example.com")
	b.Fill("#password", "correct horse")
	b.Click("main button.primary")
	b.Until(`location.pathname === "/" && document.querySelector('form[action="/sign-out"]')`)
	evaluate("Integrate[x^2 Sin[x], x]")
	b.Has(last+".verdict.verified summary", "Verified")
	b.Until(`document.querySelector("` + last + `.formula math msup")?.getBoundingClientRect().height > 0`)
	b.Click(last + ".check-receipt")
	b.Has(last+"output.receipt", "The receipt holds")
	picture(t, b, "evaluate-verified", last)
	evaluate("Simplify[Sqrt[E^x]]")
	b.Has(last+".verdict.refuted summary", "Refuted")
	b.Has(last+".verdict.refuted", "is expected, the answer gives")
	picture(t, b, "evaluate-refuted", last)
	evaluate(`Print["<b>hello"]; "é\[Alpha]\n𝒳"`)
	b.Has(last+".printed", "<b>hello")
	b.Click(last + ".check-receipt")
	b.Has(last+"output.receipt", "The receipt holds")
	// The verdict that the page shows is changed, and then its answer: the receipt is not of them.
	b.Eval(`document.querySelector("` + last + `.verdict").className = "verdict refuted"`)
	b.Click(last + ".check-receipt")
	b.Has(last+"output.receipt", "its verdict is another than this page shows")
	b.Eval(`(document.querySelector("` + last + `.answer").textContent = "43", "")`)
	b.Click(last + ".check-receipt")
	b.Has(last+"output.receipt", "another answer than this page shows")
	b.Click("details.options summary")
	b.Fill("#session", "notebook-1")
	evaluate("a = 6")
	evaluate("a * 7")
	b.Has(last+".answer", "42")
	evaluate("Plot[Sin[x], {x, 0, 6}]")
	b.Until(`document.querySelector("` + last + `img.plot")?.naturalWidth > 0`)
	picture(t, b, "evaluate")
	if saved := b.Eval("markdown()"); !strings.Contains(saved, "```wolfram\na * 7\n```") || !strings.Contains(saved, "```\n42\n```") {
		t.Error(saved)
	}
	b.Until(`location.search === "?session_id=notebook-1"`)
	b.Type("#expression", "Integra")
	b.Until(`!document.querySelector("#completions").hidden`)
	b.Down()
	b.Has("#about", "Integrate[f, {x, a, b}]")
	picture(t, b, "evaluate-completion", "#expression")
	b.Go(s.URL + "/?session_id=notebook-1")
	b.Until(`document.querySelectorAll("#cells > .cell").length === 3 && document.querySelector("#cells img.plot")?.naturalWidth > 0`)
	b.Click("#cells > .cell:nth-of-type(2) .check-receipt")
	b.Has("#cells > .cell:nth-of-type(2) output.receipt", "The receipt holds")
	earlier := b.Eval(`document.querySelector("#cells > .cell:nth-of-type(2)").dataset.run`)
	b.Click("#cells > .cell:nth-of-type(2) .again button")
	b.Until(`document.querySelector("#cells > .cell:nth-of-type(2)").dataset.run !== ` + quoted(earlier))
	b.Has("#cells > .cell:nth-of-type(2) .answer", "42") // the session has its variables
	for _, formula := range []string{"Integrate[Exp[-x^2]/x, x]", "Solve[Sin[x] == 1/2, x]", "Series[1/Sin[x], {x, 0, 5}]", "{{1, a/b}, {Sqrt[2], x^(2/3)}}"} {
		evaluate(formula)
		b.Until(`document.querySelector("` + last + `.formula math")`)
	}
	picture(t, b, "evaluate-formulas")
	b.Go(s.URL + "/bursts")
	b.Until(`document.querySelector("td a") || (location.reload(), false)`)
	b.Click("td a")
	b.Until(`document.querySelector("svg.timeline path")`)
	picture(t, b, "burst")
	b.Go(s.URL + "/history?verdict=verified")
	b.Has("#rows tbody", "Integrate[x^2 Sin[x], x]")
	b.Go(s.URL + "/history")
	b.Has("#rows tbody", "a * 7")
	picture(t, b, "history")
	b.Click("#rows tr:last-child a")
	b.Has(".verdict", "Verified by exact")
	b.Click(".check-receipt")
	b.Has("output.receipt", "The receipt holds")
	picture(t, b, "run")

	b.Go(s.URL + "/jobs")
	b.Click("main details:nth-of-type(2) summary")
	b.Fill("#circuit", ghz)
	b.Has("#diagram", "15 instructions")
	picture(t, b, "circuit-drawn", "#diagram")
	b.Click("main details:nth-of-type(2) button.primary")
	b.Has("#job .badge", "done")
	b.Until(`document.querySelectorAll("svg.chart rect").length >= 2`)
	picture(t, b, "job-circuit")
	for _, judged := range []struct{ export, name, badge, shows string }{
		{"judge/addComm", "addComm", "verified", "No axiom was found"}, {"reject/bogus1", "thm", "rejected", "type_mismatch"}, {"judge/usesSorry", "usesSorry", "unsupported", "sorry"},
	} {
		prove(t, b, s.URL, leanExport(t, judged.export), judged.name)
		b.Click("#job a.button")
		b.Until(`location.pathname.startsWith("/certificates/")`)
		b.Has("main .badge", judged.badge)
		b.Has("main", judged.shows)
		picture(t, b, "certificate-"+judged.badge)
	}
	b.Go(s.URL + "/jobs")
	b.Has("#rows tbody", "usesSorry")
	b.Has("#rows tbody", "rejected")
	picture(t, b, "jobs")
	b.Go(s.URL + "/proofs")
	b.Has("main", "usesSorry")
	for _, path := range []string{"/reference?q=integrate", "/plans", "/account"} {
		b.Go(s.URL + path)
		picture(t, b, strings.TrimPrefix(strings.Split(path, "?")[0], "/"))
	}
	b.Go(s.URL + "/reference/Integrate")
	b.Has(".cell", "Right")
	picture(t, b, "reference-symbol")
	for _, fault := range b.Faults() {
		t.Error(fault)
	}
}

// ghz is a circuit with every kind of mark.
const ghz = `OPENQASM 3; include "stdgates.inc"; qubit[4] q; bit[4] c;
h q[0]; cx q[0], q[1]; cx q[1], q[2]; cx q[2], q[3]; barrier q;
rz(pi/4) q[1]; swap q[0], q[3]; ccx q[0], q[1], q[2];
if (c[0] == 1) { x q[3]; }
c = measure q;`

// prove uploads an export, has it inspected, and submits it.
func prove(t *testing.T, b *browser.Tab, address, export, name string) {
	t.Helper()
	b.Go(address + "/proofs")
	b.Eval("upload(new File([" + quoted(export) + "], " + quoted(name+".ndjson") + "))")
	b.Until(`document.querySelector("#upload").value.length === 36`)
	b.Fill("#declarations", name)
	b.Click(`button[value="inspect"]`)
	b.Has("main", "declarations in the export")
	b.Click(`button[value="check"]`)
	b.Has("#job .badge", "done")
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string
	return string(encoded)
}

// picture writes pictures of the page as it stands, where they are asked for: small and dark, large and light. An element that is named is at
// the top of them.
func picture(t *testing.T, b *browser.Tab, name string, top ...string) {
	t.Helper()
	folder := os.Getenv("RECKON_SCREENSHOTS")
	if folder == "" {
		return
	}
	for _, as := range []struct {
		width  int64
		scheme string
	}{{360, "dark"}, {1280, "light"}} {
		b.Show(as.width, 800, as.scheme)
		for _, element := range top {
			b.Eval("(document.querySelector(" + quoted(element) + `).scrollIntoView(), "")`)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, as.width, as.scheme)), b.Screenshot(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
