// Package verification holds the battery that the verification rules are measured with, and its reader.
//
// The battery (testdata) was fixed before the rules were written; testdata/README.md says how it is made.
package verification

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed testdata/*.txt testdata/forms/*.txt testdata/independent/*.txt testdata/classes/*.txt testdata/stranger/*.txt testdata/proofs/*.txt testdata/programs/*.txt
var files embed.FS

// Pair is one answer of the battery.
type Pair struct {
	Rule   string // the slug the pair was written for
	Input  string
	Answer string
	Right  bool
	Origin string // the source of a right answer, the mutation of a wrong one
}

// Battery reads every pair that was fixed before the rules were written.
func Battery() ([]Pair, error) { return load("testdata/*.txt") }

// Forms reads the pairs that were added since: further forms of call, and answers that are easily misjudged.
func Forms() ([]Pair, error) { return load("testdata/forms/*.txt") }

// Independent reads the pairs that another hand wrote once the rules were done, without a look at the first ones.
func Independent() ([]Pair, error) { return load("testdata/independent/*.txt") }

// Classes reads what verdicts were once wrong about, each finding with its neighbours.
func Classes() ([]Pair, error) { return load("testdata/classes/*.txt") }

// Blind reads the classes whose wrong answers hide from a search what it would find.
func Blind() ([]Pair, error) { return load("testdata/classes/blind_searches.txt") }

// Proofs reads, for each rule of proofs, what it must verify and what it must not, be it wrong or only not shown to be right.
func Proofs() ([]Pair, error) { return load("testdata/proofs/*.txt") }

// Programs reads what the functions of program_value come to, from the reference (domain/reference/data) and by hand, and answers that are not it.
func Programs() ([]Pair, error) { return load("testdata/programs/*.txt") }

// Stranger reads the pairs of a third hand, made to mislead and written without a look at the rules.
func Stranger() ([]Pair, error) { return load("testdata/stranger/*.txt") }

// Every takes of each group of pairs (one rule, right or wrong) the first and then each n-th, so that every group is there.
func Every(n int, pairs []Pair) []Pair {
	type group struct {
		rule  string
		right bool
	}
	seen := map[group]int{}
	var taken []Pair
	for _, pair := range pairs {
		of := group{pair.Rule, pair.Right}
		if seen[of]%n == 0 {
			taken = append(taken, pair)
		}
		seen[of]++
	}
	return taken
}

func load(pattern string) ([]Pair, error) {
	found, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	for _, file := range found {
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		part, err := read(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		pairs = append(pairs, part...)
	}
	return pairs, nil
}

func read(text string) ([]Pair, error) {
	var pairs []Pair
	rule, input := "", ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if slug, ok := strings.CutPrefix(line, "# rule: "); ok {
			rule = slug
			continue
		}
		if !strings.HasPrefix(line, " ") {
			input = line
			continue
		}
		answer, origin, ok := strings.Cut(line, " ## ")
		right := strings.HasPrefix(answer, " + ")
		if !ok || rule == "" || input == "" || !right && !strings.HasPrefix(answer, " - ") {
			return nil, fmt.Errorf("line %d is neither an input nor an answer: %q", number, line)
		}
		pairs = append(pairs, Pair{Rule: rule, Input: input, Answer: answer[3:], Right: right, Origin: origin})
	}
	return pairs, lines.Err()
}
