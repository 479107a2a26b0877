package reference_test

import (
	"strings"
	"testing"

	"reckon/domain/reference"
)

// TestData: every file of the source can be read, names are unique, and what entries name is there.
func TestData(t *testing.T) {
	entries, wrong := reference.Load()
	wrong = append(wrong, reference.LintNames(entries)...)
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	wrong = append(wrong, reference.Lint(entries, about.Has)...)
	for _, err := range wrong {
		t.Error("data/" + err.Error())
	}
	if len(entries) == 0 {
		t.Error("no entry was read")
	}
}

// TestBuiltIsOfTheSource: built.json was made from this source: what it says of an entry is of these examples, and nothing else has any.
func TestBuiltIsOfTheSource(t *testing.T) {
	about, err := reference.Current()
	if err != nil {
		t.Fatal(err)
	}
	source := map[string]string{}
	for _, e := range about.Entries {
		inputs := []string{}
		for _, example := range e.Examples {
			inputs = append(inputs, example.Input)
		}
		source[string(e.Kind)+" "+e.Name] = strings.Join(inputs, "\n")
	}
	for _, row := range about.Rows {
		name := string(row.Kind) + " " + row.Name
		inputs := []string{}
		for _, example := range row.Examples {
			inputs = append(inputs, example.Input)
		}
		if built := strings.Join(inputs, "\n"); built != source[name] {
			t.Errorf("%s: built.json has the examples\n%s\nand the source\n%s\nbuild it again: reckon reference build", name, built, source[name])
		}
		delete(source, name)
	}
	for name := range source {
		t.Errorf("built.json has no row for %s: build it again: reckon reference build", name)
	}
}

func TestParse(t *testing.T) {
	entries, wrong := reference.Parse("trigonometry.txt", `# Sin
summary: The sine of an angle in radians.
usage: Sin[z] | the sine of z
usage: Sin[x °] | of an angle in degrees | or so
tags: trigonometry elementary
elsewhere: sin, np.sin
see: Cos, Tan
note: It is entire.
> Sin[Pi/6]
= 1/2 | special angle
> f[x_] := Sin[x];
>> f[2.]
= 0.9092974268256817 ~ 1*^-12 | DLMF 4.14

# Alternatives
summary: Either.
usage: a | b
tags: patterns
> MatchQ[a, a | b]
= True | documented: either

# Power
summary: A power.
usage: x^y | x to the power y
> {1/0, <|"a" -> 1|>, a | b}
= message Power::infy {ComplexInfinity, <|"a" -> 1|>, a | b} | by hand: division
> Union[{3, 1}, {2}]
= {3, 2, 1} any-order | by hand
> "a|b"
= text "a|b" | documented: itself
> Plot[x, {x, 0, 1}]
= plot | a line
> POST /api/jobs {"kind": "qsim",
>> "circuit": {}}
= job {"counts": {"0": 3}} ~ 1*^-9 | by hand
`)
	if len(wrong) != 1 || wrong[0].Error() != "trigonometry.txt:15: Alternatives has 1 examples, a symbol has at least 2" {
		t.Error(wrong)
	}
	if len(entries) != 2 {
		t.Fatalf("%+v", entries)
	}
	sin, power := entries[0], entries[1]
	if sin.Usage[1] != (reference.Usage{Form: "Sin[x °]", About: "of an angle in degrees | or so"}) || sin.Elsewhere[1] != "np.sin" || sin.See[1] != "Tan" || sin.Tags[1] != "elementary" {
		t.Errorf("%+v", sin)
	}
	if e := sin.Examples[1]; e.Input != "f[x_] := Sin[x];\nf[2.]" || e.Right.Tolerance == nil || e.Right.Text != "0.9092974268256817" || e.Right.Source != "DLMF 4.14" {
		t.Errorf("%+v", e)
	}
	ways := []reference.Way{reference.ByMessage, reference.ByValue, reference.ByText, reference.ByPlot, reference.ByJob}
	for i, e := range power.Examples {
		if e.Right.Way != ways[i] {
			t.Errorf("%+v", e)
		}
	}
	if r := power.Examples[0].Right; r.Value == nil || r.Text != `Power::infy {ComplexInfinity, <|"a" -> 1|>, a | b}` {
		t.Errorf("%+v", r)
	}
	if r := power.Examples[2].Right; r.Text != "a|b" {
		t.Errorf("%+v", r)
	}
}

// TestJobExamples: a request has a result to compare with, an expression has none, and both are objects.
func TestJobExamples(t *testing.T) {
	for text, want := range map[string]string{
		"> POST /api/jobs {\"kind\": \"qsim\"}\n= {1} | by hand":                      "tasks-x.txt:4: what `> POST /api/jobs {…}` answers stands in a line `= job {…} | source`, and nothing else does",
		"> 1 + 1\n= job {\"a\": 1} | by hand":                                         "tasks-x.txt:4: what `> POST /api/jobs {…}` answers stands in a line `= job {…} | source`, and nothing else does",
		"> POST /api/jobs [1]\n= job {\"a\": 1} | by hand":                            "tasks-x.txt:4: behind POST /api/jobs stands no JSON object",
		"> POST /api/jobs {\"kind\": \"qsim\"}\n= job {\"a\": } | by hand":            "tasks-x.txt:5: {\"a\": } is no JSON object: members of the job's result, as they must be",
		"> POST /api/jobs {\"kind\": \"qsim\"}\n= job {\"a\": 1} any-order | by hand": "tasks-x.txt:5: a job is compared as it is: it cannot be checked, and has no order or tolerance",
	} {
		_, wrong := reference.Parse("tasks-x.txt", "# run a job\nsummary: A job.\nsymbols: Plus\n"+text+"\n")
		if len(wrong) == 0 || wrong[0].Error() != want {
			t.Errorf("%s\n%v\n%s", text, wrong, want)
		}
	}
}

func TestCompareJob(t *testing.T) {
	example := func(right string) reference.Example {
		entries, wrong := reference.Parse("tasks-x.txt", "# run a job\nsummary: A job.\nsymbols: Plus\n> POST /api/jobs {\"kind\": \"qsim\"}\n= job "+right+" | by hand\n")
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		return entries[0].Examples[0]
	}
	const result = `{"counts": {"00": 3, "11": 4}, "state": [[0.70710678, 0], [0, 0.5]], "name": "swap", "refusal": null, "elapsed_ms": 7}`
	for right, want := range map[string]bool{
		`{"counts": {"00": 3}}`: true, `{"counts": {"00": 4}}`: false, `{"counts": {"01": 3}}`: false, `{"name": "swap", "refusal": null}`: true, `{"name": null}`: false, `{"elapsed_ms": null}`: false,
		`{"state": [[0.7071, 0], [0, 0.5]]} ~ 1/1000`: true, `{"state": [[0.7071, 0], [0, 0.5]]}`: false, `{"state": [[0.7, 0], [0, 0.5]]} ~ 1/1000`: false, `{"state": [[0.70710678, 0]]}`: false, `{"state": {"0": 1}}`: false,
		`{"counts": {"00": 3.0}}`: true, `{"counts": {"00": "3"}}`: false, `{}`: true,
	} {
		e := example(right)
		if same, difference := reference.Compare(e.Right, reference.Answer{Job: result}); same != want {
			t.Errorf("%s: %t, %s", right, same, difference)
		}
	}
	e := example(`{"counts": {"00": 4}, "name": "swap"}`)
	if shown := reference.Shown(e, reference.Answer{Job: result}); shown != `{"counts":{"00":3},"name":"swap"}` {
		t.Error(shown)
	}
	if same, _ := reference.Compare(e.Right, reference.Answer{Result: "no result"}); same {
		t.Error("an answer without a result is right")
	}
}
