package fricas

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/domain/expression"
	"reckon/runners/engine/enginetest"
	"reckon/test/sweep"
)

// words are the names that may be written to FriCAS beside vv0 and digits: those of the table and of the question.
var words = func() []string {
	all := []string{"integrate", "Expression", "Integer", "pi"}
	for _, t := range toFricas {
		all = append(all, name.FindAllString(t.template, -1)...)
	}
	for _, c := range constants {
		all = append(all, name.FindAllString(c, -1)...)
	}
	return all
}()

var (
	name    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	allowed = regexp.MustCompile(`^[A-Za-z0-9()+\-*/^,:%]*$`)
	made    = regexp.MustCompile(`^vv[0-9]+$`)
)

// requireOurs fails where a text for FriCAS holds anything but what the table and the writer have.
func requireOurs(t testing.TB, about, text string) {
	t.Helper()
	if !allowed.MatchString(text) || !strings.HasPrefix(text, "integrate(") || strings.Contains(text, "--") || strings.Contains(text, "++") {
		t.Errorf("%s: other bytes are written: %q", about, text)
	}
	for _, word := range name.FindAllString(text, -1) {
		if !made.MatchString(word) && !slices.Contains(words, word) {
			t.Errorf("%s: %s is written: %q", about, word, text)
		}
	}
}

// hostile are questions whose names and texts mean something to FriCAS.
var hostile = []string{
	`Integrate[")system id", x]`, `Integrate[x, ")read /etc/hostname"]`, `Integrate[system x, x]`, `Integrate[read, read]`, `Integrate[lisp x, lisp]`, "Integrate[x\n)system id\n, x]", "Integrate[x -- y, x]", "Integrate[x ++ y, x]",
	`Integrate[x;)lisp, x]`, `Integrate["\n)lisp (si:system \"id\")", x]`, `Integrate[\[RawRightParenthesis] x, x]`, `Integrate[SExpression x, x]`, `Integrate[$Lisp x, x]`, `Integrate["x" <> ")quit", x]`, `Integrate[x (* )system id *), x]`,
	`Integrate[x_ x, x]`, `Integrate[#1 x &, x]`, `Integrate[%pi x, x]`, `Integrate[vv0 vv1, vv0]`, `Integrate[x^(2;3), x]`, `Integrate[f[x], x]`, `Integrate[f'[x], x]`, `Integrate[{x, x^2}, x]`, `Integrate[x == y, x]`, "Integrate[a`b x, x]",
	`Integrate[1.5 x, x]`, `Integrate[x, {x, 0, 1}]`, `Integrate[x, x, Assumptions -> system]`, `Integrate[I x, x]`, `Integrate[-(-x), x]`, `Integrate[x - -1, x]`, `Integrate[\[Alpha] \[Infinity], \[Alpha]]`, `Integrate[\[Alpha], \[Alpha]]`,
	`Solve[x == 1, x]`, `Integrate`, `Integrate[x]`, `Integrate[Plus[], x]`, `Integrate[Power[x], x]`,
}

// TestNothingOfTheUsersIsWritten: whatever a question holds, FriCAS is sent names of the table, names made here and digits; or nothing.
func TestNothingOfTheUsersIsWritten(t *testing.T) {
	t.Parallel()
	sent := 0
	for _, text := range hostile {
		tree, err := expression.Parse(text)
		if err != nil {
			continue
		}
		if written, err := (&writer{}).question(tree); err == nil {
			sent++
			requireOurs(t, text, written)
		}
	}
	if sent == 0 || sent == len(hostile) {
		t.Errorf("%d of %d are sent", sent, len(hostile))
	}
}

// FuzzWrite: the same for any text that the service's parser reads.
func FuzzWrite(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := expression.Parse(text)
		if err != nil {
			return
		}
		for _, question := range []*expression.Expr{tree, expression.NewCall("Integrate", tree, expression.Sym("x")), expression.Apply(expression.Sym("Integrate"), tree.Args...)} {
			if written, err := (&writer{}).question(question); err == nil {
				requireOurs(t, text, written)
			}
		}
	})
}

// FuzzRead: whatever FriCAS answers is read into a tree that prints and reads back, or refused.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"(/ (* (erf vv0) (^ (pi) (/ 1 2))) 2)", "(construct (log vv0) (* -1 vv0))", "(construct )", "(construct", "(integral vv0 vv0)", "(complex 0 1)", "(float 3 -69 2)", "(rootOf (+ (^ %%X0 2) 1) %%X0)", "-12", "vv00", "vv1", "((log) 1)",
		"(log  vv0)", "(log vv0) 1", "(", ")", "", "(- vv0)", "(^ 0 -1)", "(construct (construct 1))",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := (&reader{variables: []string{"x"}}).read(text)
		if err != nil {
			return
		}
		if _, err := expression.Parse(e.FullForm()); err != nil {
			t.Errorf("%q is read as %s, which does not read: %v", text, e.FullForm(), err)
		}
	})
}

// TestDeepAnswers: what is nested deeper or larger than the bounds is refused.
func TestDeepAnswers(t *testing.T) {
	t.Parallel()
	for about, text := range map[string]string{
		"brackets": strings.Repeat("(log ", 10_000) + "1" + strings.Repeat(")", 10_000), "open": strings.Repeat("(", maxAnswerBytes), "terms": "(+" + strings.Repeat(" 1", maxNodes) + ")", "long": strings.Repeat("1", maxAnswerBytes+1),
	} {
		if e, err := (&reader{}).read(text); err == nil {
			t.Errorf("%s: read as a tree of %d parts", about, len(e.Args))
		}
	}
}

// TestEscapes: FriCAS's own ways to the machine, written as no question can write them, meet the walls: no file is read or made, nothing is run.
func TestEscapes(t *testing.T) {
	t.Parallel()
	e := start(t)
	folder := t.TempDir()
	secret, file := filepath.Join(folder, "secret"), filepath.Join(folder, "written")
	const said = "73519046288"
	if err := os.WriteFile(secret, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	attacks := []string{
		`)system cat ` + secret, `)read ` + secret, `)lisp (si::system 1)`, `systemCommand('x)`, `1) ; )system touch ` + file + ` ; (1`, `1)::InputForm -- )quit`, `1)::InputForm ++ (1`,
		`OPEN('` + file + `)$Lisp`, `PROBE_-FILE(_/etc_/passwd)$Lisp`, `GETPID()$Lisp`, `SYSTEM(1)$Lisp`, `RUN_-PROGRAM('id,[])$Lisp`, `readFile(1)`, `interpret(parse('x))`, `EVAL(['QUIT])$Lisp`, `QUIT()$Lisp`, `draw(x,x=0..1)`,
		`reopen(1)$TextFile`, `obey('x)$Lisp`, `boot(1)`, `eval('x)$Lisp`, `[)system id]`, `_` + "\t", `1` + "\n" + `)system touch ` + file, `"` + secret + `"`,
	}
	for _, text := range attacks[:sweep.Size(t, "RECKON_FRICAS_ATTACKS", 9, len(attacks))] {
		printed, err := e.evaluate(t.Context(), text, patient)
		if strings.Contains(printed, said) {
			t.Errorf("%s: the file is read: %q", text, printed)
		}
		if _, missing := os.Stat(file); missing == nil {
			t.Errorf("%s: a file is made", text)
			_ = os.Remove(file)
		}
		if testing.Verbose() {
			t.Logf("%.60q: %.60q, %v", text, printed, err)
		}
	}
	// The same expression reads what FriCAS consists of, and no other file.
	length := func(path string) string {
		escaped := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(path, "_$0")
		printed, err := e.evaluate(t.Context(), "#(readLine!(open(string('"+escaped+")::FileName,string('input))$TextFile))", patient)
		return fmt.Sprint(printed, err)
	}
	folders, err := fricasFolders(enginetest.Of(t, Packages))
	if err != nil {
		t.Fatal(err)
	}
	if own := length(filepath.Join(folders[0], "share", "msgs", "s2-us.msgs")); !regexp.MustCompile(`^[0-9]+<nil>$`).MatchString(own) {
		t.Errorf("its own file: %s", own)
	}
	for _, path := range []string{secret, "/etc/passwd"} {
		if other := length(path); !strings.Contains(other, "no value") {
			t.Errorf("%s: %s", path, other)
		}
	}
	if printed, err := e.evaluate(t.Context(), "1+1", patient); err != nil || printed != "2" {
		t.Errorf("after all that: %q, %v", printed, err)
	}
}
