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
	ways := []reference.Way{reference.ByMessage, reference.ByValue, reference.ByText, reference.ByPlot}
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
