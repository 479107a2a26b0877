//go:build !linux

package eventlog

import "os"

// syncData makes a file's contents and its size durable.
func syncData(f *os.File) error { return f.Sync() }
