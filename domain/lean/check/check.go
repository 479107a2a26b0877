package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/term"
)

// Options say what to check and within which bounds.
type Options struct {
	Declarations []string // names as exported, components joined by dots
	All          bool     // every declaration of the file instead
	FileName     string   // for refusals
	Limits       export.Limits
	Kernel       kernel.Options
}

// Run reads an export and judges it. The error is r's own; everything else is in the report.
func Run(ctx context.Context, r io.Reader, opts Options) (*Report, error) {
	report, file, err := read(ctx, r, opts)
	if file == nil {
		return report, err
	}
	j := &judge{report: report, file: file, opts: opts, tables: loadShipped()}
	j.run(ctx)
	return report, nil
}

// read reads the export. Without a file, the report says why.
func read(ctx context.Context, r io.Reader, opts Options) (*Report, *export.File, error) {
	limits := opts.Limits
	if limits.Threads == 0 {
		limits.Threads = opts.Kernel.Workers
	}
	file, err := export.Read(ctx, r, limits)
	report := &Report{Kernel: Undecided, Declarations: []Declaration{}, AxiomsUsed: []string{}}
	report.Export = Export{SHA256: file.SHA256, Bytes: file.Bytes, Meta: file.Meta, Declarations: len(file.Declarations)}
	var bad *export.Error
	switch {
	case errors.As(err, &bad):
		unreadable(report, bad, opts)
		return report, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return report, file, nil
}

// unreadable reports a file that cannot be read to its end.
func unreadable(report *Report, bad *export.Error, opts Options) {
	report.Refusal = &Refusal{Class: string(bad.Class), Message: bad.Message, File: opts.FileName, Line: bad.Line}
	switch bad.Class {
	case export.TooLarge, export.Stopped:
		report.Verdict = Inconclusive
	case export.FormatWindow:
		report.Verdict = Unsupported
	default:
		report.Kernel, report.Verdict, report.Unreadable = Refused, Unsupported, true
	}
}

// judge is one check under way.
type judge struct {
	report *Report
	file   *export.File
	opts   Options
	tables shipped
	prints map[term.Name]string
	reach  *reach
}

func (j *judge) run(ctx context.Context) {
	s := j.file.Store
	session := kernel.Prepare(ctx, s, j.file.Declarations, j.opts.Kernel)
	var missing *Refusal
	var basis []string
	var describing sync.WaitGroup
	if session.LeavesStoreAlone() {
		describing.Go(func() { missing, basis = j.describe() })
	} else {
		missing, basis = j.describe()
	}
	result := session.Run()
	describing.Wait()
	j.report.DeclarationsChecked = result.Checked
	switch {
	case result.Refusal != nil:
		r := result.Refusal
		j.report.Kernel, j.report.Verdict = Refused, Rejected
		if r.Class == unsafeClass {
			j.report.Verdict = Unsupported
		}
		j.refuse(s.NameString(r.Declaration), string(r.Class), r.Message, r.Line)
	case result.Exhausted != nil:
		e := result.Exhausted
		j.report.Kernel, j.report.Verdict = Undecided, Inconclusive
		j.refuse(s.NameString(e.Declaration), ResourceLimit, e.Reason, e.Line)
	default:
		j.report.Kernel, j.report.Verdict = Accepted, Verified
		if missing != nil {
			j.report.Refusal = missing
		} else {
			j.judgeFoundations(basis)
		}
		if j.report.Refusal != nil {
			j.report.Verdict = Unsupported
		}
	}
}

// describe fills in what needs no kernel. It returns what is wrong with the names asked for, and the logical constants
// that are not Lean's.
func (j *judge) describe() (missing *Refusal, basis []string) {
	j.reach = newReach(j.file.Store, j.file.Declarations)
	j.prints = fingerprints(j.file.Store, j.file.Declarations)
	j.report.Conformance, basis = conformance(j.file, j.prints, j.tables)
	return j.describeDeclarations(), basis
}

func (j *judge) refuse(declaration, class, message string, line int) {
	if j.report.Refusal == nil {
		j.report.Refusal = &Refusal{Declaration: declaration, Class: class, Message: message, File: j.opts.FileName, Line: line}
	}
}

// judgeFoundations refuses axioms outside the core, forged core axioms, and a core that is not Lean's.
func (j *judge) judgeFoundations(basis []string) {
	s := j.file.Store
	for _, used := range j.report.AxiomsUsed {
		if _, core := coreAxioms[used]; core {
			continue
		}
		class, message := CustomAxiom, "the axiom is none of the six of the core library"
		if used == sorryName {
			class, message = Sorry, "a proof is left out (sorry)"
		}
		j.refuse(used, class, message, j.lineOf(used))
	}
	for i := range j.file.Declarations {
		d := &j.file.Declarations[i]
		name := s.NameString(d.Name)
		if _, core := coreAxioms[name]; core && !isCoreAxiom(s, name, d) {
			j.refuse(name, ForgedAxiom, "this is not the core library's axiom of that name", d.Line)
		}
		if slices.Contains(reduceConstants, name) && !isReduceConstant(s, name, d) {
			j.refuse(name, BasisDiffers, "this is not the core library's constant of that name", d.Line)
		}
	}
	for _, name := range basis {
		j.refuse(name, BasisDiffers, "this is not the logical constant of that name that Lean has", j.lineOf(name))
	}
	for _, name := range j.report.Conformance.Differing {
		j.refuse(name, ConformanceDiffers, "this is not the definition Lean "+j.file.Meta.LeanVersion+" has", j.lineOf(name))
	}
}

func (j *judge) lineOf(name string) int {
	for i := range j.file.Declarations {
		for _, n := range namesOf(&j.file.Declarations[i]) {
			if j.file.Store.NameString(n) == name {
				return j.file.Declarations[i].Line
			}
		}
	}
	return 0
}

// describeDeclarations fills in the named declarations and the union of their axioms; it returns what is wrong with
// the names.
func (j *judge) describeDeclarations() (missing *Refusal) {
	names, missing := j.resolve()
	used := map[string]bool{}
	printer := newPrinter(j.file, j.prints, j.tables)
	for _, n := range names {
		d := &j.file.Declarations[j.reach.unitOf[n]]
		text := printer.statement(n)
		sum := sha256.Sum256([]byte(text))
		digest := hex.EncodeToString(sum[:])
		item := Declaration{Name: j.file.Store.NameString(n), Kind: kindOf(d, n), Statement: &text, StatementSHA256: &digest, Axioms: []string{}}
		for _, a := range j.reach.of(n) {
			name := j.file.Store.NameString(a)
			item.Axioms = append(item.Axioms, name)
			used[name] = true
		}
		slices.Sort(item.Axioms)
		j.report.Declarations = append(j.report.Declarations, item)
	}
	for name := range used {
		j.report.AxiomsUsed = append(j.report.AxiomsUsed, name)
	}
	slices.Sort(j.report.AxiomsUsed)
	return missing
}

// resolve finds the declared names asked for.
func (j *judge) resolve() (names []term.Name, missing *Refusal) {
	if j.opts.All {
		for i := range j.file.Declarations {
			if d := &j.file.Declarations[i]; d.Kind == term.Inductive {
				for k := range d.Block.Types {
					names = append(names, d.Block.Types[k].Name)
				}
			} else {
				names = append(names, d.Name)
			}
		}
		return names, nil
	}
	byText := map[string][]term.Name{}
	var declared []string
	for i := range j.file.Declarations {
		for _, n := range namesOf(&j.file.Declarations[i]) {
			text := j.file.Store.NameString(n)
			if !slices.Contains(byText[text], n) {
				byText[text] = append(byText[text], n)
				declared = append(declared, text)
			}
		}
	}
	for _, asked := range j.opts.Declarations {
		found := byText[asked]
		if len(found) == 0 {
			found = byText[unquote(asked)]
		}
		switch {
		case len(found) == 1:
			names = append(names, found[0])
		case missing != nil:
		case len(found) > 1:
			missing = &Refusal{Declaration: asked, Class: AmbiguousDeclaration, File: j.opts.FileName,
				Message: "several declarations have names that print like this"}
		default:
			missing = &Refusal{Declaration: asked, Class: MissingDeclaration, File: j.opts.FileName,
				Message: "the export does not declare it"}
			if near := nearest(asked, declared); near != "" {
				missing.Message = fmt.Sprintf("the export does not declare it; the nearest declared name is %s", near)
			}
		}
	}
	return names, missing
}

// unquote takes Lean's quotation marks off the components of a name.
func unquote(name string) string { return strings.NewReplacer("«", "", "»", "").Replace(name) }
