package check

import (
	"context"
	"errors"
	"io"

	"reckon/domain/lean/export"
)

// Inspect reads an export and says everything Run does that needs no kernel: what the named declarations state, which
// axioms they reach, whether the core is Lean's. The verdict is Verified when nothing is wrong so far, Unsupported or
// Inconclusive as Run's would be; Kernel stays Undecided, so that no report of Inspect passes for a judgement.
func Inspect(ctx context.Context, r io.Reader, opts Options) (*Report, error) {
	file, err := export.Read(ctx, r, opts.Limits)
	report := &Report{Kernel: Undecided, Declarations: []Declaration{}, AxiomsUsed: []string{}}
	report.Export = Export{SHA256: file.SHA256, Bytes: file.Bytes, Meta: file.Meta, Declarations: len(file.Declarations)}
	var bad *export.Error
	switch {
	case errors.As(err, &bad):
		unreadable(report, bad, opts)
		report.Kernel = Undecided
		return report, nil
	case err != nil:
		return nil, err
	}
	j := &judge{report: report, file: file, opts: opts, tables: loadShipped()}
	j.reach = newReach(file.Store, file.Declarations)
	j.prints = fingerprints(file.Store, file.Declarations)
	conformance, basis := conformance(file, j.prints, j.tables)
	report.Conformance = conformance
	report.Verdict = Verified
	if missing := j.describeDeclarations(); missing != nil {
		report.Refusal = missing
	} else {
		j.judgeFoundations(basis)
	}
	if report.Refusal != nil {
		report.Verdict = Unsupported
	}
	return report, nil
}
