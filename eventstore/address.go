package eventstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

const socketScheme = "unix:"

// UnguardedError: whoever may write to the log is an administrator of the service,
// and this server would let others in.
type UnguardedError struct{ Missing string }

func (e *UnguardedError) Error() string {
	return fmt.Sprintf("the event store's address %s; whoever may write to the log is an administrator of this service (docs/security.md). "+
		"Say esdb://user:password@host:port with TLS, or unix:PATH of a socket of your own, or --insecure-eventstore if nobody else can reach that server", e.Missing)
}

// ValidAddress tells whether an address is one that Connect understands.
func ValidAddress(address string) error {
	_, err := clientConfiguration(address)
	return err
}

// clientConfiguration reads an address. The official client takes no path of a
// socket in its own form of address, but dials whatever gRPC can.
func clientConfiguration(address string) (*esdb.Configuration, error) {
	path, local := strings.CutPrefix(address, socketScheme)
	if !local {
		config, err := esdb.ParseConnectionString(address)
		if err != nil {
			return nil, fmt.Errorf("event store address %q: say unix:PATH or esdb://…: %w", Redacted(address), withoutAddress(err))
		}
		return config, nil
	}
	if path == "" {
		return nil, fmt.Errorf("event store address %q names no socket: say unix:PATH", address)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	config, err := esdb.ParseConnectionString("esdb://localhost?tls=false")
	if err != nil {
		return nil, err
	}
	config.Address = (&url.URL{Scheme: "unix", Path: path}).String()
	return config, nil
}

// guarded tells what an address lacks to keep others out, or from standing in for the log.
func guarded(c *esdb.Configuration) error {
	if strings.HasPrefix(c.Address, socketScheme) {
		address, err := url.Parse(c.Address)
		if err != nil {
			return err
		}
		return guardedSocket(address.Path)
	}
	switch {
	case c.DisableTLS:
		return &UnguardedError{"has tls=false: what it says can be read and changed on the way"}
	case c.SkipCertificateVerification:
		return &UnguardedError{"has tlsVerifyCert=false: any server could stand in for it"}
	case c.UserCertFile != "" || c.UserKeyFile != "":
		if _, err := tls.LoadX509KeyPair(c.UserCertFile, c.UserKeyFile); err != nil { // the client library takes "" for its own folder
			return &UnguardedError{fmt.Sprintf("names a client certificate that cannot be used (userCertFile and userKeyFile, as absolute paths): %v", err)}
		}
	case c.Username == "":
		return &UnguardedError{"names no user: a server that lets us in without credentials lets everyone in"}
	case c.Password == "":
		return &UnguardedError{"names a user without a password: a server that lets us in without credentials lets everyone in"}
	}
	return nil
}

// guardedSocket looks who could have put the socket there. Who can connect to one is for its own mode to say.
func guardedSocket(path string) error {
	for _, place := range []string{filepath.Dir(path), path} {
		info, err := os.Stat(place)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // nobody but the folder's owner can make what is missing
		case err != nil:
			return err
		case info.IsDir() && info.Mode().Perm()&0o022 != 0:
			return &UnguardedError{"names a socket in " + place + ", where other users of this machine can put one"}
		}
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != os.Geteuid() && owner != 0 {
			return &UnguardedError{fmt.Sprintf("names a socket of another user's: %s belongs to user %d", place, owner)}
		}
	}
	return nil
}

// Redacted is an address without its password, for people and logs.
func Redacted(address string) string {
	before, after, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	credentials, host, found := strings.Cut(after, "@")
	if !found {
		return address
	}
	user, _, _ := strings.Cut(credentials, ":")
	return before + "://" + user + ":…@" + host
}

// withoutAddress drops a *url.Error, which repeats the address and with it a password.
func withoutAddress(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return errors.New("it is no URL; special characters of a password must be percent-encoded")
	}
	return err
}
