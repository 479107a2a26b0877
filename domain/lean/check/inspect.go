package check

import (
	"context"
	"io"

	"reckon/domain/lean/kernel"
)

// Inspect reads an export and says everything Run does but judge: what the named declarations state, which
// axioms they reach, whether the core is Lean's. The verdict is Verified when nothing is wrong so far, Unsupported or
// Inconclusive as Run's would be; Kernel stays Undecided, so that no report of Inspect passes for a judgement.
func Inspect(ctx context.Context, r io.Reader, opts Options) (*Report, error) {
	report, file, err := read(ctx, r, opts)
	if err != nil {
		return nil, err
	}
	if file == nil {
		report.Kernel = Undecided
		return report, nil
	}
	j := &judge{report: report, file: file, opts: opts, tables: loadReferenceTables()}
	j.recognises = kernel.Prepare(ctx, file.Store, file.Declarations, opts.Kernel).Recognises
	missing := j.describe()
	report.Verdict = Verified
	if missing != nil {
		report.Refusal = missing
	} else {
		j.judgeFoundations()
	}
	if report.Refusal != nil {
		report.Verdict = Unsupported
	}
	return report, nil
}
