package check

import "math"

// nearest returns the declared name with the smallest edit distance from asked and that distance, or nothing
// where nothing is declared. Of equally near ones the first declared wins.
func nearest(asked string, declared []string) (best string, bestDistance int) {
	want := []rune(asked)
	bestDistance = math.MaxInt
	for _, name := range declared {
		have := []rune(name)
		if len(have)-len(want) >= bestDistance || len(want)-len(have) >= bestDistance {
			continue
		}
		if d := editDistance(want, have, bestDistance); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best, bestDistance
}

// editDistance is the Levenshtein distance of a and b; a distance of limit or more may be returned as any value ≥ limit.
func editDistance(a, b []rune, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}
