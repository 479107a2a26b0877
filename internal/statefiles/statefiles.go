package statefiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"reckon/internal/disk"
)

// HeadBytes begin every file and do not count towards the limits: amplitudes are powers of two in bytes, and with the heads of their files
// they would just miss bounds that are.
const HeadBytes = 128

// Limits bound what a folder keeps. None may be zero.
type Limits struct {
	Age          time.Duration // of a file; then it is forgotten
	AccountBytes int64         // of one account's files without their heads, those being written included
	TotalBytes   int64         // of all files without their heads; at least AccountBytes
}

// counted is what a file of so many bytes counts for.
func counted(bytes int64) int64 { return max(0, bytes-HeadBytes) }

var (
	// ErrForgotten means that a file is not kept any more.
	ErrForgotten = errors.New("the file is not kept any more")
	// ErrTooLarge means that a file would be larger than an account's files may be together.
	ErrTooLarge = errors.New("the file is larger than what is kept for an account")
	// ErrClosed means that the files of the account were forgotten for good.
	ErrClosed = errors.New("the account is closed")
	// ErrNoRoom means that files that are being written leave no room for another.
	ErrNoRoom = errors.New("other files that are being written leave no room for it")
)

// Reason tells a user why Create, Write or Keep failed, without names of this machine.
func Reason(err error) string {
	for _, known := range []error{ErrTooLarge, ErrNoRoom, ErrClosed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if disk.IsFull(err) {
		return "its disk is full"
	}
	return "its disk failed"
}

// The limits of a server that is given no others: --state-age, --state-space-account and --state-space.
const (
	DefaultAge          = 24 * time.Hour
	DefaultAccountBytes = 2048 << 20
	DefaultTotalBytes   = 8192 << 20
)

const (
	// sweepInterval is how often Run looks for files that have reached their age.
	sweepInterval = time.Minute
	// closedFor is how long nothing is written for an account whose files were forgotten: far longer than a job of it may go on.
	closedFor = 24 * time.Hour
	// incoming begins the names of files that are being written. Who writes one holds a lock on it.
	incoming = ".incoming-"
	lockName = ".lock"
)

// namePattern is an account or a job, as ids are written; also what no path can be made of.
var namePattern = regexp.MustCompile(`^[0-9a-f-]{36}$`)

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Folder is the files of an installation: ACCOUNT/JOB.SHA256. A closed account has an empty file in place of its folder.
type Folder struct {
	root   string
	limits Limits
	now    func() time.Time
	logger *slog.Logger // told of files that could not be written
}

// Open opens or creates a folder. It forgets nothing: Run and Create do.
func Open(root string, limits Limits, now func() time.Time, logger *slog.Logger) (*Folder, error) {
	if err := disk.MakeFolder(root); err != nil {
		return nil, fmt.Errorf("folder of state vectors: %w", err)
	}
	return &Folder{root: root, limits: limits, now: now, logger: logger}, nil
}

// Largest is the length of the largest file that can be kept.
func (f *Folder) Largest() int64 { return f.limits.AccountBytes + HeadBytes }

// Run forgets files that have reached their age, until ctx ends.
func (f *Folder) Run(ctx context.Context) error {
	for {
		if err := f.locked(func() error { return f.makeRoom("", 0) }); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepInterval):
		}
	}
}

// File is one that is being written.
type File struct {
	folder       *Folder
	file         *os.File
	account, job string
	digest       hash.Hash
	written      int64
	size         int64
	finished     bool
}

// Create begins the file of a job, which will have so many bytes, and makes room for it: files of the account first, then of the account
// that has most. ErrTooLarge: it has more than Largest. ErrNoRoom: files that are being written leave none. ErrClosed: see Forget.
func (f *Folder) Create(account, job string, bytes int64) (w *File, err error) {
	defer func() { f.report(job, err) }()
	if !namePattern.MatchString(account) || !namePattern.MatchString(job) {
		return nil, fmt.Errorf("state vector of job %q of account %q: these are no ids", job, account)
	}
	if bytes > f.Largest() {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, bytes, f.Largest())
	}
	var file *os.File
	err = f.locked(func() error {
		if info, err := os.Lstat(filepath.Join(f.root, account)); err == nil && !info.IsDir() {
			return ErrClosed
		}
		if err := f.makeRoom(account, counted(bytes)); err != nil {
			return err
		}
		if err := disk.MakeFolder(filepath.Join(f.root, account)); err != nil {
			return err
		}
		var err error
		if file, err = os.CreateTemp(filepath.Join(f.root, account), incoming); err != nil {
			return err
		}
		if err := flock(file, unix.LOCK_EX); err != nil {
			return err
		}
		return file.Truncate(bytes) // so that others count it whole
	})
	if err != nil {
		if file != nil {
			_, _ = file.Close(), os.Remove(file.Name())
		}
		return nil, fmt.Errorf("state vector: %w", err)
	}
	return &File{folder: f, file: file, account: account, job: job, digest: sha256.New(), size: bytes}, nil
}

// report tells the operator why there is no file.
func (f *Folder) report(job string, err error) {
	if err != nil {
		f.logger.Warn("the file of a state vector could not be kept", "job", job, "error", err)
	}
}

// Write is io.Writer.
func (w *File) Write(data []byte) (n int, err error) {
	defer func() { w.folder.report(w.job, err) }()
	if w.written+int64(len(data)) > w.size {
		return 0, fmt.Errorf("state vector: more than the %d bytes it was to have", w.size)
	}
	n, err = w.file.Write(data)
	w.written += int64(n)
	_, _ = w.digest.Write(data[:n]) // never fails (package hash)
	return n, err
}

// Keep makes the file durable under the SHA-256 that it returns, in hexadecimal.
func (w *File) Keep() (sha string, err error) {
	defer func() { w.folder.report(w.job, err) }()
	if w.written != w.size {
		return "", fmt.Errorf("state vector: %d bytes of %d were written", w.written, w.size)
	}
	sha = hex.EncodeToString(w.digest.Sum(nil))
	if err := w.file.Sync(); err != nil {
		return "", fmt.Errorf("state vector: %w", err)
	}
	path := w.folder.path(w.account, w.job, sha)
	if err := w.folder.locked(func() error { return os.Rename(w.file.Name(), path) }); err != nil { // not while Forget removes
		return "", fmt.Errorf("state vector: %w", err)
	}
	w.finished = true
	if err := w.file.Close(); err != nil { // only now: without its lock it would be taken for abandoned
		return "", fmt.Errorf("state vector: %w", err)
	}
	return sha, syncFolder(filepath.Join(w.folder.root, w.account))
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("state vector: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Discard removes a file that is not kept; after Keep it does nothing.
func (w *File) Discard() {
	if !w.finished {
		_, _ = w.file.Close(), os.Remove(w.file.Name()) // what stays is swept as abandoned
	}
}

// Read opens the file of a job with a digest. ErrForgotten: it is not kept any more, or has reached its age.
func (f *Folder) Read(account, job, sha string) (file *os.File, written time.Time, err error) {
	if !namePattern.MatchString(account) || !namePattern.MatchString(job) || !digestPattern.MatchString(sha) {
		return nil, written, ErrForgotten
	}
	file, err = os.Open(f.path(account, job, sha))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) { // the latter of a closed account
		return nil, written, ErrForgotten
	}
	if err != nil {
		return nil, written, fmt.Errorf("state vector: %w", err)
	}
	info, err := file.Stat()
	if err == nil && f.now().Sub(info.ModTime()) > f.limits.Age {
		err = ErrForgotten
	}
	if err != nil {
		return nil, written, errors.Join(err, file.Close())
	}
	return file, info.ModTime(), nil
}

// Forget removes the files of an account for good, and those that are being written: from then on none is kept or begun. It may be repeated.
func (f *Folder) Forget(account string) error {
	if !namePattern.MatchString(account) {
		return fmt.Errorf("state vectors of account %q: this is no id", account)
	}
	return f.locked(func() error {
		path := filepath.Join(f.root, account)
		err := os.RemoveAll(path)
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err == nil {
			err = syncFolder(f.root)
		}
		if err != nil {
			return fmt.Errorf("state vectors of account %s: %w", account, err)
		}
		return nil
	})
}

func (f *Folder) path(account, job, sha string) string {
	return filepath.Join(f.root, account, job+"."+sha)
}

// kept is a file in the folder.
type kept struct {
	path, account string
	bytes         int64 // counted
	at            time.Time
	incoming      bool
}

// makeRoom removes what has reached its age or was left by a crash, and the oldest files until an account has room for so many counted
// bytes more. It is called under the lock.
func (f *Folder) makeRoom(account string, bytes int64) error {
	files, err := f.list()
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b kept) int { return a.at.Compare(b.at) })
	total, of := bytes, map[string]int64{account: bytes}
	for _, file := range files {
		total += file.bytes
		of[file.account] += file.bytes
	}
	remove := func(due func(kept) bool) error {
		for i, file := range files {
			if file.path == "" || !due(file) {
				continue
			}
			if err := os.Remove(file.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			total, of[file.account] = total-file.bytes, of[file.account]-file.bytes
			files[i].path = ""
		}
		return nil
	}
	now := f.now()
	err = remove(func(file kept) bool {
		if file.incoming {
			return abandoned(file.path)
		}
		return now.Sub(file.at) > f.limits.Age
	})
	if err == nil {
		err = remove(func(file kept) bool {
			return !file.incoming && file.account == account && of[account] > f.limits.AccountBytes
		})
	}
	for err == nil && total > f.limits.TotalBytes {
		most := mostKept(files)
		if most == "" && bytes == 0 {
			return nil // nothing is to be written, and what is written ends by itself
		}
		if most == "" {
			return fmt.Errorf("%w: %d bytes, %d are kept for all accounts", ErrNoRoom, total, f.limits.TotalBytes)
		}
		removed := false
		err = remove(func(file kept) bool {
			due := !removed && !file.incoming && file.account == most
			removed = removed || due
			return due
		})
	}
	if err == nil && of[account] > f.limits.AccountBytes {
		return fmt.Errorf("%w: %d bytes of the account, %d are kept", ErrNoRoom, of[account], f.limits.AccountBytes)
	}
	return err
}

// abandoned reports whether the process that was writing a file has died: nobody holds its lock any more.
func abandoned(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // renamed or removed since it was listed, or not to be known
	}
	defer func() { _ = file.Close() }()
	return flock(file, unix.LOCK_EX|unix.LOCK_NB) == nil
}

// flock waits, without LOCK_NB, for a lock of an open file, which ends with it or with its process.
func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// mostKept is the account with most bytes in files that can be forgotten, the first by name of several; empty without any.
func mostKept(files []kept) (most string) {
	of := map[string]int64{}
	for _, file := range files {
		if file.path != "" && !file.incoming {
			of[file.account] += file.bytes
		}
	}
	for account, bytes := range of {
		if most == "" || bytes > of[most] || bytes == of[most] && account < most {
			most = account
		}
	}
	return most
}

// list is every file. Folders of accounts without any are removed, and what was left in place of one long ago.
func (f *Folder) list() (files []kept, err error) {
	accounts, err := os.ReadDir(f.root)
	if err != nil {
		return nil, err
	}
	for _, account := range accounts {
		if !namePattern.MatchString(account.Name()) {
			continue
		}
		folder := filepath.Join(f.root, account.Name())
		if !account.IsDir() {
			if info, err := account.Info(); err == nil && f.now().Sub(info.ModTime()) > closedFor {
				_ = os.Remove(folder)
			}
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process has renamed or removed it
			}
			if err != nil {
				return nil, err
			}
			files = append(files, kept{
				path: filepath.Join(folder, entry.Name()), account: account.Name(), bytes: counted(info.Size()), at: info.ModTime(),
				incoming: strings.HasPrefix(entry.Name(), incoming),
			})
		}
		if len(entries) == 0 {
			_ = os.Remove(folder) // Create makes it again, under the same lock
		}
	}
	return files, nil
}

// locked calls do while no other process makes room.
func (f *Folder) locked(do func() error) error {
	lock, err := os.OpenFile(filepath.Join(f.root, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("folder of state vectors: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := flock(lock, unix.LOCK_EX); err != nil {
		return fmt.Errorf("folder of state vectors: %w", err)
	}
	return do()
}
