package giac

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/expression"
)

// words are the names that may be written to Giac beside vv0, ff0 and digits: those of the table and of the questions.
var words = func() []string {
	all := strings.Fields("integrate sum product limit solve csolve desolve rsolve laplace ilaplace normal diff assume integer real and or infinity")
	for _, t := range toGiac {
		all = append(all, regexp.MustCompile(`[A-Za-z_]+`).FindAllString(t.template, -1)...)
	}
	for _, c := range constants {
		all = append(all, regexp.MustCompile(`[A-Za-z_]+`).FindAllString(c[1], -1)...)
	}
	return all
}()

var (
	name  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	bytes = regexp.MustCompile(`^[A-Za-z0-9_()\[\]+\-*/^,=<>!' ]*$`)
	made  = regexp.MustCompile(`^(?:vv|ff)[0-9]+$`)
)

// requireOurs fails where a text for Giac holds anything but what the table and the writer have.
func requireOurs(t testing.TB, about string, w way) {
	t.Helper()
	for _, text := range append(slices.Clone(w.before), w.text) {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "complex_mode:=1"), "all_trig_solutions:=1")
		if !bytes.MatchString(text) {
			t.Errorf("%s: other bytes are written: %q", about, text)
		}
		for _, word := range name.FindAllString(text, -1) {
			if !made.MatchString(word) && !slices.Contains(words, word) {
				t.Errorf("%s: %s is written: %q", about, word, text)
			}
		}
	}
}

// hostile are questions whose names and texts mean something to Giac.
var hostile = []string{
	`Integrate[read, read]`, `Integrate[system x, x]`, `Integrate["read(\"/etc/hostname\")", x]`, `Integrate[x, "x);system(\"id\""]`, `Integrate[read["/etc/hostname"], x]`,
	`Integrate[eval[system["id"]], x]`, "Integrate[write`fopen x, x]", `Solve[eval == 2, eval]`, `Solve[x == "a", x]`, `DSolve[system'[x] == system[x], system[x], x]`,
	`DSolve[y'[x] == read[y[x]], y[x], x]`, `RSolve[a[n] == a[n - 1] + n, a["system"], n]`, `Limit[x, x -> "read(1)"]`, `Sum[k, {k, 1, "n"}]`, `Integrate[x, x, Assumptions -> "system(1)"]`,
	`Integrate[x, x, Assumptions -> x > y]`, `Integrate[i e pi, e]`, `Integrate[$CommandLine x, x]`, `Integrate[x^(2;3), x]`, `Integrate[\[Alpha] \[Infinity], \[Alpha]]`, `Integrate[ff0[vv0], vv0]`,
	`Solve[{x == 1, y == 2}, {x, "y"}]`, `Reduce[x < system, x, Reals]`, `Integrate[x /. x -> y, x]`, `Integrate[f'[x], x]`, `Integrate[Sqrt[1 - x^2], x, GenerateConditions -> system]`,
}

// TestNothingOfTheUsersIsWritten: whatever a question holds, Giac is sent names of the table, names made here and digits; or nothing.
func TestNothingOfTheUsersIsWritten(t *testing.T) {
	t.Parallel()
	sent := 0
	for _, text := range hostile {
		ways, err := waysOf(mustParse(t, text))
		if err == nil {
			sent++
		}
		for _, w := range ways {
			requireOurs(t, text, w)
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
	f.Add("Integrate[Sqrt[1 - x^2]/(a + Sin[b x]), {x, 0, Infinity}, Assumptions -> a > 0 && Element[b, Integers]]")
	f.Add("Limit[Binomial[n, k]/n^k, n -> Infinity]")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := expression.Parse(text)
		if err != nil {
			return
		}
		for _, head := range []string{"Integrate", "Sum", "Solve", "Reduce", "DSolve", "RSolve", "Limit", "LaplaceTransform"} {
			for _, question := range []*expression.Expr{tree, expression.NewCall(head, tree, expression.Sym("x")), expression.Apply(expression.Sym(head), tree.Args...)} {
				ways, err := waysOf(question)
				if err != nil {
					continue
				}
				for _, w := range ways {
					requireOurs(t, text, w)
				}
			}
		}
	})
}

// FuzzRead: whatever Giac prints is read into a tree that prints and reads back, or refused.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"2/4*vv0*sqrt(-vv0^2+1)+1/2*asin(vv0)", "list[vv0<0,((vv0>-2) and (vv0<(sqrt(2))))]", "c_0*cos(vv0)+c_1*sin(vv0)", "2*n_0*pi+1/6*pi", "-(infinity)", "+infinity",
		"((vv0>0)? vv0 : -vv0)", "piecewise(vv0>0,vv0^2/2,-1/2*vv0^2)", "vv0!", "rootof([[1,0],[1,0,-2]])", "1.5e-10", `"text"`, "ff0(vv0)", "a^b^-c", "((((((", "--vv0", "undef",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{variables: []string{"x"}, functions: []string{"y"}}
		e, err := r.read(text)
		if err != nil {
			return
		}
		if _, err := expression.Parse(e.FullForm()); err != nil {
			t.Errorf("%q is read as %s, which does not read: %v", text, e.FullForm(), err)
		}
	})
}

// TestDeepAnswers: what is nested deeper or larger than the bounds is refused, in time linear to the bounds.
func TestDeepAnswers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"brackets": strings.Repeat("(", 60_000), "signs": strings.Repeat("-", 60_000) + "1", "powers": strings.Repeat("2^", 30_000) + "2", "lists": strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000),
		"terms": strings.Repeat("1+", 30_000) + "1", "long": strings.Repeat("1", maxAnswerBytes+1),
	} {
		if e, err := (&reader{}).read(text); err == nil {
			t.Errorf("%s: read as a tree of %d parts", name, len(e.Args))
		}
	}
}

// TestEscapes: Giac's own ways to the machine, written as no question can write them, meet the walls: no file is read or made, nothing is run.
func TestEscapes(t *testing.T) {
	t.Parallel()
	e := start(t)
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret")
	const said = "73519046288"
	if err := os.WriteFile(secret, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "written")
	for _, text := range []string{
		`read("` + secret + `")`, `eval(read("` + secret + `"))`, `fopen("` + secret + `")`, `readrgb("` + secret + `")`, `csv2gen("` + secret + `",",")`, `cat("` + secret + `")`,
		`system("cat ` + secret + `")`, `expr("read(\"` + secret + `\")")`, `execute("read(\"` + secret + `\")")`, `python("print(open('` + secret + `').read())")`, `import("` + secret + `")`, `load("` + secret + `")`,
		`insmod("` + secret + `")`, `unarchive("` + secret + `")`, `readwav("` + secret + `")`, `ls("` + folder + `")`, `cd("` + folder + `")`,
		`write("` + file + `",1)`, `archive("` + file + `",1)`, `fprint(fopen("` + file + `"),1)`, `system("touch ` + file + `")`, `writewav("` + file + `",[[1]])`, `writergb("` + file + `",[[1]])`, `xyztrange(-5,5)`, `plot(x)`,
		`system("kill -9 1")`, `purge("/")`,
	} {
		printed, err := e.evaluate(t.Context(), nil, text, 5*time.Second)
		if strings.Contains(printed, said) {
			t.Errorf("%s: the file is read: %q", text, printed)
		}
		if _, missing := os.Stat(file); missing == nil {
			t.Errorf("%s: a file is made", text)
			_ = os.Remove(file)
		}
		if testing.Verbose() {
			t.Logf("%s: %.60q, %v", text, printed, err)
		}
	}
	if printed, err := e.evaluate(t.Context(), nil, "1+1", 5*time.Second); err != nil || printed != "2" {
		t.Errorf("after all that: %q, %v", printed, err)
	}
}
