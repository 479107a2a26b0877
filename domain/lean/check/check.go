package check

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/plain"
	"reckon/domain/lean/statement"
	"reckon/domain/lean/term"
)

// Options say which declarations to check and within which bounds.
type Options struct {
	Declarations []string // names as exported, components joined by dots
	All          bool     // every declaration of the file instead
	FileName     string   // for refusals
	Limits       export.Limits
	Kernel       kernel.Options
	Plain        plain.Budget // of the second kernel; its memory is Kernel's
	OneKernel    bool         // the second kernel is not asked
}

// Run reads an export, checks it and judges the named declarations. The error is that of r; every other failure is in the
// report.
func Run(ctx context.Context, r io.Reader, opts Options) (*Report, error) {
	report, file, err := read(ctx, r, opts)
	if file == nil {
		return report, err
	}
	j := &judge{report: report, file: file, opts: opts, tables: loadReferenceTables()}
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
	report := &Report{Kernel: Undecided, Declarations: []Declaration{}, AxiomsUsed: []string{}, Kernels: []KernelAnswer{}}
	report.Export = Export{SHA256: file.SHA256, Bytes: file.Bytes, Meta: file.Meta, Declarations: len(file.Declarations)}
	var bad *export.Error
	switch {
	case errors.As(err, &bad):
		reportUnreadable(report, bad, opts)
		return report, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return report, file, nil
}

// reportUnreadable reports a file that cannot be read to its end.
func reportUnreadable(report *Report, bad *export.Error, opts Options) {
	report.Refusal = &Refusal{Class: Class(bad.Class), Message: bad.Message, File: opts.FileName, Line: bad.Line}
	switch bad.Class {
	case export.TooLarge, export.Stopped:
		report.Verdict = Inconclusive
	case export.FormatWindow:
		report.Verdict = Unsupported
	default:
		report.Kernel, report.Verdict, report.Unreadable = Refused, Unsupported, true
	}
	report.Answered(fastName, report.Kernel, bad.Message)
}

// judge is the state of one call of Run.
type judge struct {
	report *Report
	file   *export.File
	opts   Options
	tables referenceTables
	core   *coreComparison
	reach  *axiomReach
	axioms []term.Name // reached by the requested declarations, in order of name handles

	recognises func(term.Name) bool // by the kernel
	differing  []difference
	names      *statement.Names
	language   *statement.Language
}

func (j *judge) run(ctx context.Context) {
	s := j.file.Store
	session := kernel.Prepare(ctx, s, j.file.Declarations, j.opts.Kernel)
	j.recognises = session.Recognises
	var missing *Refusal
	var describing sync.WaitGroup
	if session.LeavesStoreAlone() {
		describing.Go(func() { missing = j.describe() })
	} else {
		missing = j.describe()
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
		j.refuse(r.Declaration, Class(r.Class), r.Message, r.Line)
	case result.Exhausted != nil:
		e := result.Exhausted
		j.report.Kernel, j.report.Verdict = Undecided, Inconclusive
		j.refuse(e.Declaration, ResourceLimit, e.Reason, e.Line)
	default:
		j.report.Kernel, j.report.Verdict = Accepted, Verified
		if missing != nil {
			j.report.Refusal = missing
		} else {
			j.judgeFoundations()
		}
		if j.report.Refusal != nil {
			j.report.Verdict = Unsupported
		}
	}
	answer, reason := j.answerOf(result)
	j.report.Answered(fastName, answer, reason)
	if j.report.Verdict == Verified && !j.opts.OneKernel {
		j.askPlain(ctx)
	}
}

// describe fills in the parts of the report that do not depend on the kernel. missing is the refusal of a declaration name
// that is unknown, ambiguous or cannot be printed.
func (j *judge) describe() (missing *Refusal) {
	s := j.file.Store
	j.names = statement.NewNames(s, j.file.Declarations, referenceNames())
	j.reach = newReach(s, j.file.Declarations)
	j.core = newCore(j.file, j.tables, j.recognises)
	asked, missing := j.describeDeclarations()
	meaning := j.statementDependencies(asked)
	restedOn := map[term.Name]bool{}
	for _, unit := range meaning {
		for _, n := range namesOf(&j.file.Declarations[unit]) {
			restedOn[n] = true
		}
	}
	j.report.Conformance = j.conformance(restedOn)
	j.report.OwnDefinitions = j.ownDefinitions(meaning)
	return missing
}

func (j *judge) refuse(declaration term.Name, class Class, message string, line int) {
	if j.report.Refusal == nil {
		j.report.Refusal = &Refusal{Declaration: j.names.Text(declaration), Class: class, Message: message, File: j.opts.FileName, Line: line}
	}
}

// judgeFoundations refuses axioms outside the core, forged core axioms, and a core that is not Lean's.
func (j *judge) judgeFoundations() {
	s := j.file.Store
	names := internCore(s)
	for _, used := range j.axioms {
		if _, core := names.axioms[used]; core {
			continue
		}
		class, message := CustomAxiom, "the axiom is none of the six of the core library"
		if s.NameString(used) == sorryName {
			class, message = Sorry, "a proof is left out (sorry)"
		}
		j.refuse(used, class, message, j.lineOf(used))
	}
	for i := range j.file.Declarations {
		d := &j.file.Declarations[i]
		if name, core := names.axioms[d.Name]; core && !isCoreAxiom(s, name, d) {
			j.refuse(d.Name, ForgedAxiom, "this is not the core library's axiom of that name", d.Line)
		}
		if name, core := names.functions[d.Name]; core && !isReduceConstant(s, name, d) {
			j.refuse(d.Name, BasisDiffers, "this is not the core library's constant of that name", d.Line)
		}
	}
	j.judgeCore()
}

// describeDeclarations fills in the named declarations and the union of their axioms; it returns what is wrong with
// the names.
func (j *judge) describeDeclarations() (asked []term.Name, missing *Refusal) {
	names, missing := j.resolveNames()
	used := map[term.Name]bool{}
	j.language = j.newLanguage()
	for _, n := range names {
		d := &j.file.Declarations[j.reach.unitOf[n]]
		item := Declaration{Name: j.names.Text(n), Kind: kindOf(d, n), Axioms: []string{}}
		if refusal := j.fillStatement(n, &item); missing == nil {
			missing = refusal
		}
		for _, a := range j.reach.axiomsOf(n) {
			item.Axioms = append(item.Axioms, j.names.Text(a))
			used[a] = true
		}
		slices.Sort(item.Axioms)
		j.report.Declarations = append(j.report.Declarations, item)
	}
	for a := range used {
		j.axioms = append(j.axioms, a)
		j.report.AxiomsUsed = append(j.report.AxiomsUsed, j.names.Text(a))
	}
	slices.Sort(j.axioms)
	slices.Sort(j.report.AxiomsUsed)
	return names, missing
}
