package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"reckon/internal/verifier"
)

// verifyCmd verifies a file offline, as docs/verify.py does.
type verifyCmd struct {
	File      string   `arg:"" help:"Receipt, quote, certificate or checkpoint: a file or an address."`
	Keys      string   `help:"The service's keys (/.well-known/service-keys.json), for receipts and quotes." placeholder:"FILE" env:"-"`
	Log       string   `help:"The log's name and keys (/.well-known/transparency-log.json), for what is to be in the log." placeholder:"FILE" env:"-"`
	Inclusion string   `help:"The proof that the receipt or certificate is in the log." placeholder:"FILE" env:"-"`
	Witness   []string `help:"Verifier key of a witness that must have cosigned; may be given more than once." placeholder:"KEY" sep:"none" env:"-"`
	Grown     string   `help:"An older checkpoint, which the one in FILE must continue." placeholder:"FILE" env:"-"`
	Tiles     string   `help:"Where the log's tiles are, for --grown: https://…/transparency, or a folder." placeholder:"ADDRESS" env:"-"`
}

// fetchTimeout bounds the reading of one address.
const fetchTimeout = 30 * time.Second

// Run prints what is verified, and what is not. It exits 1 when the file does not verify, and 2 when that cannot be tried.
func (c *verifyCmd) Run() error {
	report, err := verifier.Verify(verifier.Files{
		File: c.File, Keys: c.Keys, Log: c.Log, Inclusion: c.Inclusion, Witnesses: c.Witness, Grown: c.Grown, Tiles: c.Tiles, Read: readAnywhere,
	})
	if refused, ok := errors.AsType[*verifier.RefusedError](err); ok {
		fmt.Println("not verified:", refused)
		return exitStatus(1)
	}
	if err != nil {
		return err
	}
	fmt.Print(report)
	return nil
}

// readAnywhere reads a file or an address, at most one byte more than a verifier takes.
func readAnywhere(where string) ([]byte, error) {
	if !strings.HasPrefix(where, "http://") && !strings.HasPrefix(where, "https://") {
		file, err := os.Open(where)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return io.ReadAll(io.LimitReader(file, verifier.MaxBytes+1))
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%q answers %q", where, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, verifier.MaxBytes+1))
}
