package circuit

import "context"

func runStabilizer(ctx context.Context, c Circuit, rng *random, report *progress, result *Result) error {
	return nil
}

func (c Circuit) stabilizerCost(cost Cost, events int) Cost { return cost }
