package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
	"reckon/internal/config"
	"reckon/internal/identity"
	"reckon/internal/keyring"
	"reckon/internal/passwords"
	"reckon/internal/private"
	"reckon/internal/ratelimit"
	"reckon/internal/statefiles"
	"reckon/projections"
)

// installation is the flags of every operator's command, the same as the server's. It opens nothing: what a
// command works on is what settings tells, so that no command can look elsewhere than the servers do.
type installation struct{ config.Installation }

// settings are where the parts of an installation are, as its servers know them.
type settings struct {
	config.Installation // complete
	plans               account.Plans
	log                 string // where the running server's log is reached, with its credentials; empty where none runs
	// unknown are the parts of which nobody said where they are: the log is elsewhere, and no server has run on this folder.
	unknown map[string]bool
}

// serverSettings is what a running server answers on its socket.
type serverSettings struct {
	Installation config.Installation `json:"installation"`
	Plans        account.Plans       `json:"plans"`
	Log          string              `json:"log"` // address at which other processes of the user reach the log, with its credentials
	Process      string              `json:"process"`
	PID          int                 `json:"pid"`
}

// answerTimeout is how long a server may take to tell its settings, which it has at hand: it is stopped or overloaded.
const answerTimeout = 10 * time.Second

// settings asks the server that runs on the data folder. Where none runs they are the command's own, completed by
// what the folder's last server had. It refuses a data folder of another user, and a setting that contradicts the server's.
func (i installation) settings(ctx context.Context) (*settings, error) {
	if err := i.Check(); err != nil {
		return nil, err
	}
	if err := checkData(i.Data); err != nil {
		return nil, err
	}
	given, err := i.Absolute()
	if err != nil {
		return nil, err
	}
	var running serverSettings
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ok, err := askServer(bounded, given.Data, "GET", "/settings", &running)
	if err != nil {
		return nil, err
	}
	if ok {
		if given, err = given.Under(running.Installation, "the server that runs on "+given.Data); err != nil {
			return nil, err
		}
		return &settings{Installation: given, plans: running.Plans, log: running.Log}, nil
	}
	return completeSettings(given)
}

// completeSettings are the settings where no server runs.
func completeSettings(given config.Installation) (*settings, error) {
	s := &settings{unknown: map[string]bool{}}
	switch known, same, found, err := readServed(given.Data); {
	case err != nil:
		return nil, err
	case found:
		last := servedFile(given.Data)
		if !same {
			if known, err = known.OfCopy(given, last); err != nil {
				return nil, err
			}
		}
		if given, err = given.Under(known, last); err != nil {
			return nil, err
		}
		if err := given.RequireSecrets(last); err != nil {
			return nil, err
		}
	case given.Eventstore != "" && given.Eventstore != config.EmbeddedLog:
		s.unknown["database"] = given.Database == ""
		s.unknown["identity"] = given.Identity == "" && !strings.HasPrefix(given.Database, "postgres")
		s.unknown["blobs"], s.unknown["keys"] = given.Blobs == "", given.Keys == ""
	}
	var err error
	if s.Installation, err = given.Complete(); err != nil {
		return nil, err
	}
	s.plans, err = config.LoadPlans(string(s.Config))
	return s, err
}

// require refuses a part of which nobody said where it is.
func (s *settings) require(setting string) error {
	if !s.unknown[setting] {
		return nil
	}
	return fmt.Errorf("--%s: the log is at --eventstore and no server has run on %s, so it is not known where the servers have their %s; "+
		"name a server's --data, or give the setting as the servers have it (--config FILE has them all)", setting, s.Data, setting)
}

// servedFile is where a server leaves its settings, without passwords, for commands that come when it has ended.
func servedFile(data string) string { return filepath.Join(data, "settings.json") }

// servedSettings is what servedFile holds. The paths of what lies in the folder are relative to it, so that a folder that is
// moved or copied is an installation of its own; Data is where the server saw the folder.
type servedSettings struct {
	config.Installation

	Device uint64 `json:"device"` // of the folder, with Inode: a copy is another one
	Inode  uint64 `json:"inode"`
}

// folderID is the device and the inode of a folder.
func folderID(data string) (device, inode uint64, err error) {
	info, err := os.Stat(data)
	if err != nil {
		return 0, 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s has no inode", data)
	}
	return uint64(stat.Dev), stat.Ino, nil //nolint:unconvert // the type differs between systems
}

// recordServed writes the settings of a server that has opened all of its parts.
func recordServed(i config.Installation) error {
	relative, err := i.WithoutSecrets().RelativeToData()
	if err != nil {
		return err
	}
	record := servedSettings{Installation: relative}
	if record.Device, record.Inode, err = folderID(i.Data); err != nil {
		return fmt.Errorf("settings for operators' commands: %w", err)
	}
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	path := servedFile(i.Data)
	if err := os.WriteFile(path+".new", append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("settings for operators' commands: %w", err)
	}
	return os.Rename(path+".new", path)
}

// readServed reads what recordServed wrote; found is false when there is nothing. same is whether the folder is the
// server's own and no copy: it has its inode, on the same device or at the same path, because the number of a device may
// change when the machine starts.
func readServed(data string) (i config.Installation, same, found bool, err error) {
	content, err := os.ReadFile(servedFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return i, false, false, nil
	}
	var record servedSettings
	if err == nil {
		err = json.Unmarshal(content, &record)
	}
	if err == nil {
		i = record.Installation
		i.Data = data
		i, err = i.InData()
	}
	if err != nil {
		return i, false, false, fmt.Errorf("settings of the last server: %w; remove %s and give the settings to this command", err, servedFile(data))
	}
	device, inode, err := folderID(data)
	return i, inode == record.Inode && (device == record.Device || data == record.Data), true, err
}

// checkData is private.CheckFolder that accepts a missing folder.
func checkData(folder string) error {
	if err := private.CheckFolder(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// requireExists tells that there is nothing to read, where a command that reads would
// have to make what it reads.
func requireExists(path, what string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s at %s: `reckon serve --init` makes one; --data DIR names another installation", what, path)
	} else if err != nil {
		return err
	}
	return nil
}

// openLog connects to the log: of the running server, of another node, or through a node
// that it starts. It returns an error when there is no log.
func (s *settings) openLog(ctx context.Context) (*eventstore.Store, func(), error) {
	if s.log == "" && s.Eventstore == config.EmbeddedLog {
		if missing, err := s.logMissing(); err != nil {
			return nil, nil, err
		} else if missing {
			return nil, nil, fmt.Errorf("there is no event log at %s: `reckon serve --init` makes one; --data DIR names another installation", s.LogFolder())
		}
	}
	return newFlag{}.connectLog(s, ctx)
}

// createLog is openLog that creates the data folder and an embedded log if they are missing and may be made. A log that
// may not be written to is refused before anything else is.
func (n newFlag) createLog(s *settings, ctx context.Context) (*eventstore.Store, func(), error) {
	store, closeStore, err := n.connectLog(s, ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := store.CheckUsable(ctx); err != nil {
		closeStore()
		return nil, nil, err
	}
	return store, closeStore, nil
}

func (n newFlag) connectLog(s *settings, ctx context.Context) (*eventstore.Store, func(), error) {
	connection, closeNode := s.log, func() {}
	switch {
	case connection != "":
	case s.Eventstore == config.EmbeddedLog:
		missing, err := s.logMissing()
		if err != nil {
			return nil, nil, err
		}
		if missing {
			if err := s.requireEmpty(); err != nil {
				return nil, nil, err
			}
			if err := n.allow(s.Data, "installation", usualData); err != nil {
				return nil, nil, err
			}
		}
		if err := private.MakeFolder(s.Data, slog.Default()); err != nil {
			return nil, nil, err
		}
		own, err := s.openOwnNode(ctx)
		if err != nil {
			return nil, nil, err
		}
		if missing { // perhaps by mistake: in another working folder
			fmt.Fprintln(os.Stderr, "made a new installation in", s.Data)
		}
		connection = own.ConnectionString()
		closeNode = func() { _ = own.Close(context.WithoutCancel(ctx)) }
	default:
		connection = s.Eventstore
	}
	store, err := connect(ctx, connection, s.InsecureEventstore)
	if err != nil {
		closeNode()
		return nil, nil, err
	}
	return store, func() { store.Close(); closeNode() }, nil
}

// connect connects a command to a log that answers within eventstore.RetryTimeout, as its calls do.
func connect(ctx context.Context, address string, insecure bool) (*eventstore.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, eventstore.RetryTimeout)
	defer cancel()
	return eventstore.Connect(ctx, eventstore.Config{Connection: address, Insecure: insecure, Catalogue: domain.Catalogue(), Logger: slog.Default()})
}

// logMissing reports whether the folder of an embedded log is missing or empty, as the mount point of a disk that is away.
func (s *settings) logMissing() (bool, error) {
	return holdsNothing(s.LogFolder())
}

// requireEmpty refuses to make an installation in a data folder that is not empty, the place of its log aside.
func (s *settings) requireEmpty() error {
	found, err := entries(s.Data)
	if err != nil {
		return err
	}
	if found = slices.DeleteFunc(found, func(name string) bool { return name == filepath.Base(s.LogFolder()) }); len(found) > 0 {
		return &LostLogError{Data: s.Data, Log: s.LogFolder(), Found: found}
	}
	return nil
}

// ofAnInstallation are the files that a server leaves in its data folder besides its log, and that no command leaves there before it.
var ofAnInstallation = []string{"blobs", "identity.db", "keys", "readmodels.db", "settings.json"}

// checkLog returns a *LostLogError where a server would make a new log beside what another log was used with.
func checkLog(i config.Installation) error {
	missing, err := holdsNothing(i.LogFolder())
	if err != nil || !missing {
		return err
	}
	found, err := usedBefore(i.Data)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &LostLogError{Data: i.Data, Log: i.LogFolder(), Found: found}
	}
	return nil
}

// LostLogError is returned where a new log would be made in a folder that has been an installation, or is something else.
type LostLogError struct {
	Data, Log string
	Found     []string // names in Data
}

func (e *LostLogError) Error() string {
	const most = 8
	found := strings.Join(e.Found[:min(most, len(e.Found))], ", ")
	if len(e.Found) > most {
		found += ", …"
	}
	return fmt.Sprintf("there is no event log at %s, and %s is not empty: it holds %s. Put the log back (is a disk not mounted?), give --eventstore where it is elsewhere, "+
		"or name a folder that is empty; a new log has none of the accounts and receipts of an old one", e.Log, e.Data, found)
}

// holdsNothing reports whether a folder is missing or empty.
func holdsNothing(folder string) (bool, error) {
	found, err := entries(folder)
	return len(found) == 0, err
}

// entries are the names in a folder, none where it is missing. lost+found is what an empty disk holds.
func entries(folder string) ([]string, error) {
	list, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range list {
		if entry.Name() != "lost+found" {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// How long a command waits for another one that has the log, and how often it looks.
const (
	commandTurn     = 5 * time.Second
	commandTurnLook = 50 * time.Millisecond
)

// openOwnNode opens the node of the data folder, once another command that has it has ended.
// commandTurn bounds the wait alone: the opening of a large log may take longer.
func (s *settings) openOwnNode(ctx context.Context) (*node.Node, error) {
	turn := time.NewTimer(commandTurn)
	defer turn.Stop()
	for {
		n, err := openNode(ctx, node.Config{Dir: s.LogFolder(), Logger: slog.Default()})
		var inUse *eventlog.FolderInUseError
		if !errors.As(err, &inUse) {
			return n, err
		}
		select {
		case <-time.After(commandTurnLook):
			continue
		case <-ctx.Done():
		case <-turn.C:
		}
		return nil, fmt.Errorf("%w; a server that is starting answers commands in a moment, and a log that `reckon node` runs is reached with --eventstore unix:%s",
			inUse, filepath.Join(s.LogFolder(), "node.sock"))
	}
}

// openIdentity opens the identity tables; an error when a SQLite file is missing.
func (s *settings) openIdentity(ctx context.Context) (*identity.Store, func(), error) {
	if path, local := strings.CutPrefix(s.Identity, "sqlite:"); local && !s.unknown["identity"] {
		if err := requireExists(path, "database of accounts' addresses and passwords"); err != nil {
			return nil, nil, err
		}
	}
	return s.createIdentity(ctx)
}

// createIdentity is openIdentity that creates a missing SQLite file. There are no limits on registrations and sign-ins.
func (s *settings) createIdentity(ctx context.Context) (*identity.Store, func(), error) {
	if err := s.require("identity"); err != nil {
		return nil, nil, err
	}
	db, err := identity.Open(ctx, identity.Where{Address: s.Identity, Schema: s.IdentitySchema, Logger: slog.Default()})
	if err != nil {
		return nil, nil, err
	}
	unlimited := ratelimit.Rule{Requests: 1 << 30, Window: time.Minute}
	return identity.New(db, time.Now, identity.Rules{Registrations: unlimited, SignIns: unlimited}, passwords.NewHasher(passwords.Standard)), func() { _ = db.Close() }, nil
}

// openDatabase opens the database of read models; an error when a SQLite file is missing.
func (s *settings) openDatabase(ctx context.Context) (*projections.DB, func(), error) {
	if path, local := strings.CutPrefix(s.Database, "sqlite:"); local && !s.unknown["database"] {
		if err := requireExists(path, "database of read models"); err != nil {
			return nil, nil, err
		}
	}
	return s.createDatabase(ctx)
}

// createDatabase is openDatabase that creates a missing SQLite file.
func (s *settings) createDatabase(ctx context.Context) (*projections.DB, func(), error) {
	if err := s.require("database"); err != nil {
		return nil, nil, err
	}
	db, err := projections.Open(ctx, s.Database)
	if err != nil {
		return nil, nil, err
	}
	return db, func() { _ = db.Close() }, nil
}

// openBlobs opens the blobs as they are; an error when their folder is missing.
func (s *settings) openBlobs(ctx context.Context) (blobs.Store, error) {
	if err := s.require("blobs"); err != nil {
		return nil, err
	}
	address, err := s.BlobAddress()
	if err != nil {
		return nil, err
	}
	if address.Folder != "" {
		if err := private.CheckFolder(address.Folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return blobsAt(ctx, address)
}

// blobsAt are the blobs as they are; an error when their folder or bucket is missing.
func blobsAt(ctx context.Context, address blobs.Address) (blobs.Store, error) {
	if address.Folder == "" {
		return openBucket(ctx, address.Bucket)
	}
	if err := requireExists(address.Folder, "folder of blobs"); err != nil {
		return nil, err
	}
	return blobs.ExistingFolder(address.Folder), nil
}

// openBucket returns no store with an error, which a typed nil would be.
func openBucket(ctx context.Context, address blobs.BucketAddress) (blobs.Store, error) {
	bucket, err := blobs.OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	return bucket, nil
}

// openStates opens the files of state vectors to forget some: the limits of the server are not known here.
func (s *settings) openStates() (*statefiles.Folder, error) {
	folder, err := s.StateFolder()
	if err != nil {
		return nil, err
	}
	return statefiles.Open(folder, statefiles.Limits{}, time.Now, slog.Default())
}

// createBlobs is settings.openBlobs that creates a missing folder.
func (s *settings) createBlobs(ctx context.Context) (blobs.Store, error) {
	if err := s.require("blobs"); err != nil {
		return nil, err
	}
	address, err := s.BlobAddress()
	if err != nil {
		return nil, err
	}
	return openBlobs(ctx, address, slog.Default())
}

// openKeys opens the folder of signing keys, which is made if it is missing.
func (s *settings) openKeys() (keyring.Ring, error) {
	if err := s.require("keys"); err != nil {
		return keyring.Ring{}, err
	}
	return openKeys(s.Keys, slog.Default())
}

// heldKeys tells which private halves are in the folder of signing keys. It makes no folder.
func (s *settings) heldKeys() (holds func(kid string) bool, err error) {
	if err := s.require("keys"); err != nil {
		return nil, err
	}
	switch err := private.CheckFolder(s.Keys); {
	case errors.Is(err, fs.ErrNotExist):
		return func(string) bool { return false }, nil
	case err != nil:
		return nil, err
	}
	ring, err := s.openKeys()
	return ring.Holds, err
}

// openBlobs makes a missing folder; a bucket has to exist.
func openBlobs(ctx context.Context, address blobs.Address, logger *slog.Logger) (blobs.Store, error) {
	if address.Folder == "" {
		return openBucket(ctx, address.Bucket)
	}
	if err := private.MakeFolder(address.Folder, logger); err != nil {
		return nil, err
	}
	return blobs.OpenFolder(address.Folder)
}
