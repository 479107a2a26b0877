// Package browser opens pages in headless Chromium for tests and does in them what a person does.
//
// It promises to wait for conditions and never for a time, and to note what must not happen on a page: violations of its policy,
// errors of its scripts. A test is skipped where there is no Chromium.
package browser

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/test/need"
	"reckon/test/shared"
	"reckon/test/wait"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a condition may take on a machine that has much else to do.
const patience = 3 * time.Minute

// Pauses between two looks whether a condition holds, which are requests to the browser: the first and the longest.
const finest, widest = 5 * time.Millisecond, 100 * time.Millisecond

// Size of a new tab in CSS pixels.
const width, height = 1280, 900

var (
	starting sync.Once
	browser  context.Context
	started  error
)

// Tab is a page of a browser with cookies of its own.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// New opens a tab that ends with the test, in a profile of its own of the one browser of the package's tests: a start of Chromium takes two
// seconds of processor time, a profile a tenth. The package's TestMain calls shared.Run, which ends the browser.
func New(t testing.TB) *Tab {
	t.Helper()
	path := program(t)
	life := shared.Life(t)
	starting.Do(func() {
		allocator, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.NoFirstRun, chromedp.WSURLReadTimeout(patience), chromedp.WindowSize(width, height))
		ctx, cancel := chromedp.NewContext(allocator)
		life.Cleanup(func() {
			cancel()
			stop()
		})
		_, started = chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
		browser = ctx
	})
	if started != nil {
		t.Fatal(started)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &Tab{t: t, ctx: ctx}
	b.must(chromedp.Listen(ctx, b.note))
	do(b, chromedp.EmulateViewport(width, height))                                                                            // the windows of further profiles have another size
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}) // other tabs are open
	b.must(err)
	_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	b.must(err)
	_, err = chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	b.must(err)
	return b
}

// program is Chromium: without a window's parts where that is installed, which takes half of the processor time.
func program(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil {
		return path
	}
	return need.Program(t, "chromium", "chromium-headless-shell")
}

func (b *Tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// note keeps what must not happen. A request that was refused is no fault: pages show refusals.
func (b *Tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdplog.EventEntryAdded:
		if e.Entry.Source != cdplog.EntrySourceNetwork && e.Entry.Level == cdplog.EntryLevelError {
			b.faults = append(b.faults, e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			text := "console.error:"
			for _, argument := range e.Args {
				text += " " + string(argument.Value) + argument.Description
			}
			b.faults = append(b.faults, text)
		}
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, fmt.Sprintf("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	}
}

// Faults are the violations of policies and errors of scripts so far.
func (b *Tab) Faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.faults...)
}

// Fault waits for a fault that says so, which the browser reports some time after its cause.
func (b *Tab) Fault(text string) {
	b.t.Helper()
	wait.Until(b.t, fmt.Sprintf("a fault says %q", text), func() bool {
		return slices.ContainsFunc(b.Faults(), func(fault string) bool { return strings.Contains(fault, text) })
	})
}

// do runs a step within the tab's patience.
func do[T any](b *Tab, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, step)
	b.must(err)
	return value
}

// Go opens an address and waits until it is loaded.
func (b *Tab) Go(address string) {
	b.t.Helper()
	do(b, chromedp.Navigate(address))
	b.Until(`document.readyState === "complete"`)
}

// Back goes to the page before and waits until it is loaded.
func (b *Tab) Back() {
	b.t.Helper()
	do(b, chromedp.NavigateBack())
	b.Until(`document.readyState === "complete"`)
}

// Show sets the size of the window in CSS pixels, and the colour scheme that its reader prefers: light or dark. It returns once the page, which a
// click may have begun to load, is loaded and laid out in that size.
func (b *Tab) Show(width, height int64, scheme string) {
	b.t.Helper()
	do(b, chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	b.must(err)
	b.Until(fmt.Sprintf(`document.readyState === "complete" && document.fonts.status === "loaded" && innerWidth === %d`, width))
}

// Speak sets the language whose form of numbers and times the browser writes, as de-DE.
func (b *Tab) Speak(language string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: language})
	b.must(err)
}

// Eval is the value of a JavaScript expression as text; promises are awaited.
func (b *Tab) Eval(expression string) string {
	b.t.Helper()
	return do(b, chromedp.Evaluate[string]("Promise.resolve("+expression+").then(String)", chromedp.EvalAwaitPromise))
}

// Until waits until a JavaScript expression is true.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for pause := finest; ; pause = min(pause*5/4, widest) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		// Between two documents there is none to ask.
		value, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		cancel()
		if err == nil && value {
			return
		}
		if time.Now().After(deadline) || b.ctx.Err() != nil {
			b.t.Fatalf("it never became true: %s (%v)\nat %s:\n%s\nfaults: %q", expression, err, b.Eval("location.href"), b.Eval("document.body.innerText.slice(0, 4000)"), b.Faults())
		}
		wait.Pace(pause)
	}
}

// Text is what can be read in the first element of a CSS selector.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	b.Until(query(selector))
	return b.Eval(query(selector) + ".innerText")
}

// Has waits until an element of a selector shows a text.
func (b *Tab) Has(selector, text string) {
	b.t.Helper()
	b.Until(query(selector) + "?.innerText.includes(" + quoted(text) + ")")
}

// loaded is when the scripts of a page answer clicks and keys.
const loaded = `document.readyState === "complete" && `

// Click clicks the first element of a selector, once it can be seen and the page is loaded. Where it lies does not matter: a page may be moving.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Until(loaded + query(selector) + "?.checkVisibility()")
	b.Eval("(" + query(selector) + `.click(), "")`)
}

// Type focuses an element, empties it and presses the keys of a text.
func (b *Tab) Type(selector, keys string) {
	b.t.Helper()
	b.Until(loaded + query(selector))
	b.Eval(`(e => { e.focus(); e.select(); return "" })(` + query(selector) + ")")
	b.Press(keys)
}

// Press presses keys where the focus is.
func (b *Tab) Press(keys string, held ...chromedp.KeyOption) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(keys, held...))
}

// Fill gives a field a text, as pasting does.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	b.Until(loaded + query(selector))
	b.Eval(`((e, text) => { e.focus(); e.value = text; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); return "" })(` + query(selector) + "," + quoted(text) + ")")
}

// Screenshot is a picture of the window, as PNG.
func (b *Tab) Screenshot() []byte {
	b.t.Helper()
	return do(b, chromedp.CaptureScreenshot())
}

func query(selector string) string { return "document.querySelector(" + quoted(selector) + ")" }

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string
	return string(encoded)
}

//go:embed axe/package.json
var axePackage []byte

//go:embed axe/package-lock.json
var axeLock []byte

// axe is the source of axe-core. It is kept in the user's cache folder, and installed once a machine for each version.
var axe = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(cache, "reckon", fmt.Sprintf("test-axe-%.6x.js", sha256.Sum256(axeLock)))
	source, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		if err := installAxe(kept); err != nil {
			return "", err
		}
		source, err = os.ReadFile(kept)
	}
	return string(source), err
})

// installAxe has npm install axe-core, and puts its source at a path.
func installAxe(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "axe-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for name, content := range map[string][]byte{"package.json": axePackage, "package-lock.json": axeLock} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel", "error")
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	return os.Rename(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"), path)
}

// Barriers are what axe-core finds on the page that keeps people from using it: rules, with the elements that break them. The test is
// skipped where axe-core cannot be had.
func (b *Tab) Barriers() []string {
	b.t.Helper()
	source, err := axe()
	if errors.Is(err, exec.ErrNotFound) {
		need.Skip(b.t, "npm, to have axe-core", "apt-get install npm")
	}
	if err != nil {
		need.Skip(b.t, fmt.Sprintf("axe-core (%v)", err), "make test, where the npm registry can be reached")
	}
	if b.Eval("typeof axe") == "undefined" {
		do(b, chromedp.Evaluate[chromedp.Void](source))
	}
	found := b.Eval(`axe.run({ resultTypes: ["violations"] }).then(r => JSON.stringify(r.violations.map(v => v.id + " (" + v.help + "): " + v.nodes.map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; "))))`)
	var all []string
	b.must(json.Unmarshal([]byte(found), &all))
	return all
}

// Wide tells by how many CSS pixels the page is wider than its window.
func (b *Tab) Wide() string {
	b.t.Helper()
	return b.Eval("document.documentElement.scrollWidth - document.documentElement.clientWidth")
}

// Transferred is how many bytes came over the network for the page and what it loads.
func (b *Tab) Transferred() (bytes int) {
	b.t.Helper()
	sum := b.Eval(`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, e) => sum + e.transferSize, 0)`)
	if _, err := fmt.Sscan(strings.TrimSpace(sum), &bytes); err != nil {
		b.t.Fatal(err)
	}
	return bytes
}

// ShiftEnter presses Enter with Shift held.
func (b *Tab) ShiftEnter() {
	b.t.Helper()
	b.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift))
}

// Escape presses Escape.
func (b *Tab) Escape() {
	b.t.Helper()
	b.Press(kb.Escape)
}

// Down presses the arrow that points down.
func (b *Tab) Down() {
	b.t.Helper()
	b.Press(kb.ArrowDown)
}

// Enter presses Enter.
func (b *Tab) Enter() {
	b.t.Helper()
	b.Press(kb.Enter)
}
