package reference_test

import (
	"testing"

	"reckon/domain/reference"
)

// TestWhatIsLeftAsItIsIsNoAnswer: an input that came back is wrong where it has another value, also where the checker proves the two equal.
func TestWhatIsLeftAsItIsIsNoAnswer(t *testing.T) {
	entries, wrong := reference.Parse("test.txt", `# ArcCosh
summary: The inverse hyperbolic cosine.
usage: ArcCosh[z] | its inverse
tags: elementary
> ArcCosh[1/2]
= (I/3) Pi | by hand: Cos[Pi/3] is 1/2
> Hold[1 + 1]
= Hold[1 + 1] | documented: it holds
`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	proved := reference.Verdict{Verified: true, About: "rewrite_identity, numeric"}
	for i, want := range []reference.State{reference.StateWrong, reference.StateRight} {
		example := entries[0].Examples[i]
		judged := reference.Judge(example, reference.Ran{Answer: reference.Answer{Result: example.Input, InputForm: example.Input}, Equal: proved})
		if judged.State != want || !judged.Trivial {
			t.Errorf("%s left as it is: %+v, want %s", example.Input, judged, want)
		}
	}
}
