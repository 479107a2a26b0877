package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"reckon/internal/config"
)

// The folders that are made without a word, in the working folder: those of the flags' defaults.
const (
	usualData = "reckon-data"
	usualLog  = "reckon-data/eventstore"
)

// newFlag is the flag of every command that makes what it does not find.
type newFlag struct {
	Init bool `help:"Make a new installation or log where --data names a folder that holds none." env:"-"`
}

// NoInstallationError is returned where a folder that was named holds nothing: its name may be mistyped, or its disk away.
type NoInstallationError struct {
	Folder string
	What   string // that would be made: installation or event log
}

func (e *NoInstallationError) Error() string {
	return fmt.Sprintf("there is no %s at %s, and a new one has none of the accounts and receipts of another. Is the name mistyped, or a disk not mounted? "+
		"--init makes a new one there", e.What, e.Folder)
}

// allow returns nil where something new may be made in a folder that holds nothing: it is the usual one, --init is given, or a
// person at a terminal says yes. Else it returns a *NoInstallationError.
func (n newFlag) allow(folder, what, usual string) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if usual, err = filepath.Abs(usual); err != nil || absolute == usual || n.Init {
		return err
	}
	if !isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
		return &NoInstallationError{Folder: absolute, What: what}
	}
	return confirm(fmt.Sprintf("There is no %s at %s. Make a new one?", what, absolute))
}

// isTerminal reports whether a person may sit at a file.
func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// allowServer is allow for the folder of a server that is about to start; i is complete. A folder that would hold nothing but
// what can be made again needs no word.
func (n newFlag) allowServer(i config.Installation) error {
	if err := checkData(i.Data); err != nil {
		return err
	}
	if i.Eventstore == config.EmbeddedLog {
		missing, err := holdsNothing(i.LogFolder())
		if err != nil {
			return err
		}
		if !missing {
			return n.allowIdentity(i)
		}
		if err := checkLog(i); err != nil {
			return err
		}
		return n.allow(i.Data, "installation", usualData)
	}
	if i.KeepsNothing() {
		return nil
	}
	used, err := usedBefore(i.Data)
	if err != nil {
		return err
	}
	if len(used) > 0 {
		return n.allowIdentity(i)
	}
	return n.allow(i.Data, "installation", usualData)
}

// LostIdentityError is returned where the identity tables would be made anew in a folder on which a server has run: nobody of the
// log's accounts could sign in any more, and who registers is unknown to the other processes.
type LostIdentityError struct {
	Data, File string
	Last       string // where the last server had them
}

func (e *LostIdentityError) Error() string {
	return fmt.Sprintf("there is no %s: the last server of %s had its accounts' addresses and passwords at %s. Give --identity or --database as it had them, or bring the file back; "+
		"--init makes new tables, in which none of the accounts is", e.File, e.Data, e.Last)
}

// allowIdentity returns a *LostIdentityError where a server has run on the folder, and the file of identities that i names is missing.
func (n newFlag) allowIdentity(i config.Installation) error {
	file, isFile := strings.CutPrefix(i.Identity, "sqlite:")
	if !isFile || n.Init || exists(file) {
		return nil
	}
	last, _, served, err := readServed(i.Data)
	if err != nil || !served {
		return err
	}
	return &LostIdentityError{Data: i.Data, File: file, Last: last.IdentityAddress()}
}

// allowLog is allow for the folder of a node.
func (n newFlag) allowLog(folder string) error {
	if err := checkData(folder); err != nil {
		return err
	}
	missing, err := holdsNothing(filepath.Join(folder, "segments"))
	if err != nil || !missing || exists(filepath.Join(folder, "HEAD")) { // without its segments a log is damaged
		return err
	}
	return n.allow(folder, "event log", usualLog)
}

// usedBefore are those of ofAnInstallation that lie in a data folder and are not empty.
func usedBefore(data string) (found []string, err error) {
	for _, name := range ofAnInstallation {
		path := filepath.Join(data, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		empty := false
		if err == nil && info.IsDir() {
			empty, err = holdsNothing(path)
		}
		if err != nil {
			return nil, err
		}
		if !empty {
			found = append(found, name)
		}
	}
	return found, nil
}
