package apitest

import (
	"bytes"
	"context"

	"reckon/domain/lean/check"
)

// inspector is commands.ProofJudge without a process of its own.
type inspector struct{}

// Inspect is commands.ProofJudge.
func (inspector) Inspect(ctx context.Context, content []byte, declarations []string) (check.Report, error) {
	report, err := check.Inspect(ctx, bytes.NewReader(content), check.Options{Declarations: declarations, FileName: "export.ndjson"})
	if err != nil {
		return check.Report{}, err
	}
	return *report, nil
}
