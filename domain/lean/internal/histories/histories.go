// Package histories checks one export in several ways that differ in what the kernel remembers and what it is asked in
// between. The answers must be the same. Tests use it.
package histories

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
)

// ways are the ways to ask. The first is the one that a service uses.
var ways = []struct {
	name      string
	questions kernel.Questions
}{
	{"as ever", kernel.Questions{}},
	{"caches off", kernel.Questions{Uncached: true}},
	{"other questions in between", kernel.Questions{Disturb: 1}},
	{"others in between", kernel.Questions{Disturb: 2}},
}

// stepsEach is the number of steps a declaration may take in each way but the first.
const stepsEach = 1 << 17

// Sampled says whether a text is among one in n.
func Sampled(text []byte, n uint32) bool {
	h := fnv.New32a()
	h.Write(text)
	return h.Sum32()%n == 0
}

// Count is what was compared.
type Count struct {
	Files    int    // exports
	Finished [4]int // by way: how many exports were decided in it
}

func (c Count) String() string {
	out := fmt.Sprintf("%d exports", c.Files)
	for i, w := range ways {
		out += fmt.Sprintf(", %d decided %s", c.Finished[i], w.name)
	}
	return out
}

// Add counts what another count did.
func (c *Count) Add(more Count) {
	c.Files += more.Files
	for i := range c.Finished {
		c.Finished[i] += more.Finished[i]
	}
}

// Compare checks an export in every way and describes the first difference, or returns "". A way that does not finish is
// not compared, and an export that cannot be read is none.
func Compare(text []byte) (difference string, count Count) {
	first := ""
	for i, w := range ways {
		answer, finished, ok := ask(text, w.questions, i > 0)
		if !ok {
			return "", Count{}
		}
		count.Files = 1
		if !finished {
			continue
		}
		count.Finished[i] = 1
		switch {
		case first == "":
			first = answer
		case answer != first && difference == "":
			difference = fmt.Sprintf("%s it is %s; before, it was %s", w.name, answer, first)
		}
	}
	return difference, count
}

func ask(text []byte, questions kernel.Questions, bounded bool) (answer string, finished, ok bool) {
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	if err != nil {
		return "", false, false
	}
	if bounded {
		questions.MaxSteps = stepsEach
	}
	r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: 1, MaxDepth: 20_000, MaxExprs: file.Store.ExprCount() + 1<<20, Questions: questions})
	switch {
	case r.Exhausted != nil:
		return "", false, true
	case r.Refusal != nil:
		return fmt.Sprintf("refused at %s: %s", file.Store.NameString(r.Refusal.Declaration), r.Refusal.Class), true, true
	}
	return "accepted", true, true
}
