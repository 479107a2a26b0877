package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"reckon/eventstore/node/eventlog"
	"reckon/internal/lifecycle"
)

// holderTimeout is how long the server that has a folder may take to say which process it is.
const holderTimeout = 2 * time.Second

// claimFolder locks the data folder (flock) for as long as the process runs, before anything is made in it. The error is an
// *eventlog.FolderInUseError where another server has it. Where the file system locks no folders, claimSocket still tells.
func (s *service) claimFolder(ctx context.Context) error {
	folder, err := os.Open(s.config.Data)
	if err != nil {
		return err
	}
	err = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EBADF) && !errors.Is(err, unix.ENOTSUP) {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = inUse(ctx, s.config.Data)
		}
		return errors.Join(err, folder.Close())
	}
	s.life.Add(lifecycle.Part{Name: "data folder", Stop: func(context.Context) error {
		_ = unix.Flock(int(folder.Fd()), unix.LOCK_UN) // a process that is just being started has a copy of the descriptor until its exec
		return folder.Close()
	}})
	return nil
}

// inUse names the server that has a data folder, when it answers.
func inUse(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, holderTimeout)
	defer cancel()
	var holder serverSettings
	_, _ = askServer(ctx, data, http.MethodGet, "/settings", &holder) // one that is starting or ending does not say
	return &eventlog.FolderInUseError{Dir: data, PID: holder.PID}
}
