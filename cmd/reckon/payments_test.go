package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSecretOfPayments(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("s", 32)
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string // of the error; empty: none
	}{
		"one":             {secret + "\n", 0o600, ""},
		"two":             {secret + "\n" + strings.Repeat("n", 40) + "\n", 0o400, ""},
		"none":            {"\n", 0o600, "1 to 4"},
		"a short one":     {"secret\n", 0o600, "at least 32 bytes"},
		"others may read": {secret, 0o644, "chmod go-rwx"},
		"another file":    {strings.Repeat(secret+"\n", 1000), 0o600, "longer than"},
	} {
		file := filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		provider, err := paymentProvider(file)
		if c.want == "" && (err != nil || provider == nil) || c.want != "" && (err == nil || provider != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%s: %v, %v", name, provider, err)
		}
	}
	if provider, err := paymentProvider(""); provider != nil || err != nil {
		t.Errorf("no file: %v, %v", provider, err)
	}
	if _, err := paymentProvider(filepath.Join(folder, "nowhere")); err == nil || !strings.Contains(err.Error(), "--payment-secret-file") {
		t.Errorf("a missing file: %v", err)
	}
}
