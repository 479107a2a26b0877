package main

import (
	"bytes"
	"context"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
)

func TestEveryKindOfModuleIsAccepted(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range int64(2) {
				var out bytes.Buffer
				if err := generate(&out, 1_200_000, seed, kind.name); err != nil {
					t.Fatal(err)
				}
				file, err := export.Read(context.Background(), &out, export.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{})
				if r.Refusal != nil {
					t.Fatalf("seed %d: %s: %v", seed, file.Store.NameString(r.Refusal.Declaration), r.Refusal)
				}
				if !r.Accepted() || r.Checked < 400 {
					t.Fatalf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

func TestEqualSeedsGiveEqualFiles(t *testing.T) {
	var a, b, c bytes.Buffer
	for out, seed := range map[*bytes.Buffer]int64{&a: 7, &b: 7, &c: 8} {
		if err := generate(out, 1_000_000, seed, ""); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) || bytes.Equal(a.Bytes(), c.Bytes()) {
		t.Error("the seed does not decide what the file is")
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"12": 12, "500kB": 500_000, "1.5MB": 1_500_000, "2GB": 2_000_000_000} {
		if n, err := parseSize(text); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	if _, err := parseSize("large"); err == nil {
		t.Error("large is no size")
	}
}
