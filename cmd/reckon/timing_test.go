package main

import (
	"reflect"
	"testing"

	"reckon/internal/config"
	"reckon/runners/cluster"
)

// TestBeatDefault: the flag's default is the one the cluster's timing is defined with.
func TestBeatDefault(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[config.Serve]().FieldByName("Beat")
	if got, want := field.Tag.Get("default"), cluster.DefaultHeartbeatInterval.String(); got != want {
		t.Errorf("--beat is %s by default, and heartbeats are written every %s", got, want)
	}
}
