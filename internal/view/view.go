package view

import (
	"strconv"
	"time"

	"reckon/domain/event"
)

// ReceiptPath is where the receipt of a run is served.
func ReceiptPath(runID int64) string { return "/api/receipts/" + strconv.FormatInt(runID, 10) }

// PlotPath is where the graphic of a run is served.
func PlotPath(runID int64) string { return "/api/plots/" + strconv.FormatInt(runID, 10) }

// NullIfEmpty is null for the empty string.
func NullIfEmpty[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// NullableTimestamp is a moment as answers hold it (event.Timestamp), null for the zero time.
func NullableTimestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return NullIfEmpty(event.Timestamp(t))
}

// NextPage ends a page of a list that goes from its newest row to its oldest.
type NextPage struct {
	NextBefore *string `json:"next_before" doc:"What to give as before for the next page; null on the last page"`
}
