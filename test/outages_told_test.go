package test

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// answerPattern finds an answer in a cell of what callers are told, and in a measured one: its status and its code.
var answerPattern = regexp.MustCompile("([345][0-9]{2}) `([a-z_]+)`")

// answersIn are the answers that a text names, each "503 unavailable", sorted.
func answersIn(text string) (answers []string) {
	for _, m := range answerPattern.FindAllStringSubmatch(text, -1) {
		answers = append(answers, m[1]+" "+m[2])
	}
	slices.Sort(answers)
	return slices.Compact(answers)
}

// statesMeasured are the words of a row's state that TestWhatCallersAreTold and TestWhatCallersAreToldByFullDisks have.
var statesMeasured = regexp.MustCompile(`\b(refusing|silent|slow|full)\b`)

// TestCallersAreToldWhatTheCodeAnswers: each answer that docs/outages.md says callers get is one that the code gives. Its status is that of its code in
// docs/errors.md, which is written from the kinds of problem. Where the answers of a row were measured it names those and no others; elsewhere
// a test of the row looks for the answer: for its code, its kind, or an error that the tables of the APIs make that kind.
func TestCallersAreToldWhatTheCodeAnswers(t *testing.T) {
	t.Parallel()
	measured := measuredAnswers(t)
	statuses := statusesOfCodes(t)
	all := sources(t)
	signs, bodies := signsOfCodes(all, statuses), bodiesOfTests(all)
	unused := maps.Clone(measured)
	for _, f := range failures {
		row := f.part + ", " + f.state
		told := answersIn(f.told)
		for _, answer := range told {
			status, code, _ := strings.Cut(answer, " ")
			if statuses[code] != status {
				t.Errorf("%s: callers are told %s, and the status of %s is %q", row, answer, code, statuses[code])
			}
		}
		var got []string
		here := false
		if strings.Contains(f.tests, "TestWhatCallersAreTold") {
			for _, state := range statesMeasured.FindAllString(f.state, -1) {
				if answers, is := measured[f.part+", "+state]; is {
					here = true
					got = append(got, answers...)
					delete(unused, f.part+", "+state)
				}
			}
			slices.Sort(got)
			got = slices.Compact(got)
			if here && !slices.Equal(got, told) {
				t.Errorf("%s: callers are told %v, and %v was measured", row, told, got)
			}
		}
		if here {
			continue
		}
		for _, answer := range told {
			_, code, _ := strings.Cut(answer, " ")
			looked := false
			for _, name := range strings.Fields(f.tests) {
				looked = looked || looksFor(bodies, name, signs[code])
			}
			if !looked {
				t.Errorf("%s: no test of the row looks for %s", row, answer)
			}
		}
	}
	for name := range unused {
		t.Errorf("no row says what was measured while %s", name)
	}
}

// measuredAnswers are the refusals of toldFile, by "part, state".
func measuredAnswers(t *testing.T) map[string][]string {
	t.Helper()
	measured := map[string][]string{}
	for failure, answers := range told(t) {
		var words []string
		for request, answer := range answers {
			if request != "`GET /readyz`" {
				words = append(words, answer)
			}
		}
		measured[failure] = answersIn(strings.Join(words, "\n"))
	}
	return measured
}

// statusesOfCodes are the rows of docs/errors.md.
func statusesOfCodes(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|").FindAllStringSubmatch(string(page), -1) {
		statuses[m[1]] = m[2]
	}
	return statuses
}

// signsOfCodes are the names by which tests look for a code: itself, its kind, and what is made that kind: the errors of the APIs' tables,
// and those that name a part which is away (httpkit.Translate).
func signsOfCodes(all []source, statuses map[string]string) map[string]map[string]bool {
	codes, signs := map[string]string{}, map[string]map[string]bool{}
	for code := range statuses {
		signs[code] = map[string]bool{code: true}
	}
	sign := func(code, name string) {
		if signs[code] != nil {
			signs[code][name] = true
		}
	}
	eachNode(all, func(s source, n ast.Node) {
		spec, is := n.(*ast.ValueSpec)
		if !is || s.test || len(spec.Names) != len(spec.Values) {
			return
		}
		for i, value := range spec.Values {
			literal, is := value.(*ast.CompositeLit)
			if !is || lastName(literal.Type) != "Kind" || len(literal.Elts) == 0 {
				continue
			}
			if code, is := literal.Elts[0].(*ast.BasicLit); is && code.Kind == token.STRING {
				codes[spec.Names[i].Name] = strings.Trim(code.Value, `"`)
				sign(codes[spec.Names[i].Name], spec.Names[i].Name)
			}
		}
	})
	eachNode(all, func(s source, n ast.Node) {
		switch n := n.(type) {
		case *ast.CompositeLit: // a row of a table of problems
			row := map[string]string{}
			for _, element := range n.Elts {
				if pair, is := element.(*ast.KeyValueExpr); is {
					row[lastName(pair.Key)] = lastName(pair.Value)
				}
			}
			if code := codes[row["Kind"]]; !s.test && row["Err"] != "" && code != "" {
				sign(code, row["Err"])
			}
		case *ast.FuncDecl:
			if !s.test && n.Name.Name == "UnavailablePart" && n.Recv != nil {
				sign(codes["Unavailable"], lastName(n.Recv.List[0].Type))
			}
		}
	})
	return signs
}

func eachNode(all []source, visit func(source, ast.Node)) {
	for _, s := range all {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if n != nil {
				visit(s, n)
			}
			return true
		})
	}
}

// lastName is the name of an identifier, of what is selected, or of what a pointer points to.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return lastName(e.X)
	}
	return ""
}

// bodiesOfTests are the functions and the package's values of test files, by package and name.
func bodiesOfTests(all []source) map[string][]ast.Node {
	bodies := map[string][]ast.Node{}
	for _, s := range all {
		if !s.test {
			continue
		}
		for _, declared := range s.tree.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					bodies[s.pkg+"."+d.Name.Name] = append(bodies[s.pkg+"."+d.Name.Name], d.Body)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if values, is := spec.(*ast.ValueSpec); is {
						for _, name := range values.Names {
							bodies[s.pkg+"."+name.Name] = append(bodies[s.pkg+"."+name.Name], values)
						}
					}
				}
			}
		}
	}
	return bodies
}

// looksFor tells whether a test, or a function of its package that it uses, has one of the signs.
func looksFor(bodies map[string][]ast.Node, name string, signs map[string]bool) bool {
	visited, found := map[string]bool{}, false
	var visit func(name string)
	visit = func(name string) {
		if visited[name] {
			return
		}
		visited[name] = true
		pkg := name[:strings.LastIndex(name, ".")+1]
		for _, body := range bodies[name] {
			ast.Inspect(body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					found = found || signs[n.Name]
					visit(pkg + n.Name)
				case *ast.BasicLit:
					for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(n.Value, -1) {
						found = found || signs[word]
					}
				}
				return true
			})
		}
	}
	visit(name)
	return found
}
