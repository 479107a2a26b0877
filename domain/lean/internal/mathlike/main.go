// Command mathlike writes an export shaped like Mathlib's: deep hierarchies of structures, mutual and nested inductive
// types, structural and well-founded recursion, decided propositions, proofs by reflection, long rewriting chains and
// proof terms with much sharing. Every declaration is well-typed by construction, and equal seeds give equal files.
//
//	go run ./domain/lean/internal/mathlike -size 100MB -seed 1 > large.ndjson
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/lean/internal/leansource"
)

//go:embed library.txt
var library string

type generator struct {
	*rand.Rand
	file *leansource.File
}

func main() {
	size := flag.String("size", "1MB", "size of the file, as 500kB, 100MB or in bytes")
	seed := flag.Int64("seed", 1, "of the random choices")
	only := flag.String("only", "", "only modules of this kind")
	flag.Parse()
	bytes, err := parseSize(*size)
	if err == nil {
		err = generate(os.Stdout, bytes, *seed, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mathlike:", err)
		os.Exit(1)
	}
}

func parseSize(text string) (int64, error) {
	units := []struct {
		suffix string
		factor float64
	}{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseFloat(number, 64)
			return int64(n * u.factor), err
		}
	}
	return 0, fmt.Errorf("%q is no size", text)
}

type moduleKind struct {
	name  string
	write func(g *generator, name string) string // what is left to add to the file
}

// kinds are the modules, in turn.
var kinds = []moduleKind{
	{"hierarchy", (*generator).hierarchy},
	{"category", (*generator).category},
	{"inductive", (*generator).inductive},
	{"decide", (*generator).decide},
	{"reflect", (*generator).reflect},
	{"recursion", (*generator).recursion},
	{"simp", (*generator).simp},
}

// generate writes modules until the file has the given size.
func generate(w io.Writer, size, seed int64, only string) error {
	f := leansource.New(w)
	if err := f.Add(leansource.Prelude + library); err != nil {
		return err
	}
	g := &generator{Rand: rand.New(rand.NewSource(seed)), file: f}
	if only != "" && !slices.ContainsFunc(kinds, func(k moduleKind) bool { return k.name == only }) {
		return fmt.Errorf("no module is of kind %q", only)
	}
	for i := 0; f.Written() < size; i++ {
		kind := kinds[i%len(kinds)]
		if only != "" && kind.name != only {
			continue
		}
		name := fmt.Sprintf("M%d", i)
		if text := kind.write(g, name); text != "" {
			if err := f.Add(text); err != nil {
				return fmt.Errorf("%s %s: %w", kind.name, name, err)
			}
		}
	}
	return f.Close()
}
