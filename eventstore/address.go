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

// UnguardedError is returned by Connect for an address at which other users could
// read, write or impersonate the log: everyone who can write to the log is an
// administrator of the service. Missing says what the address lacks.
type UnguardedError struct{ Missing string }

func (e *UnguardedError) Error() string {
	return fmt.Sprintf("the event store's address %s; whoever may write to the log is an administrator of this service (docs/security.md). "+
		"Say esdb://user:password@host:port with TLS, or unix:PATH of a socket of your own, or --insecure-eventstore if nobody else can reach that server", e.Missing)
}

// CheckAddress returns an error for an address that Connect cannot parse. It opens
// no connection and does not check who else can reach the server.
func CheckAddress(address string) error {
	_, err := clientConfiguration(address)
	return err
}

// clientConfiguration parses an address. The official client's connection strings
// cannot name a Unix socket, but its dialer accepts every gRPC target, so the
// socket's path is set in the parsed configuration.
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

// checkGuarded returns an *UnguardedError unless the address is that of a Unix socket
// of this user or root, or uses verified TLS with a client certificate or a user and password.
func checkGuarded(c *esdb.Configuration) error {
	if strings.HasPrefix(c.Address, socketScheme) {
		address, err := url.Parse(c.Address)
		if err != nil {
			return err
		}
		return checkSocketOwner(address.Path)
	}
	switch {
	case c.DisableTLS:
		return &UnguardedError{"has tls=false: events can be read and changed on the network"}
	case c.SkipCertificateVerification:
		return &UnguardedError{"has tlsVerifyCert=false: any server could stand in for the event store"}
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

// checkSocketOwner returns an *UnguardedError when another user owns the socket or its
// folder, or can create files in the folder. Who can connect is set by the socket's mode.
func checkSocketOwner(path string) error {
	for _, name := range []string{filepath.Dir(path), path} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // only the folder's owner can create the missing file
		case err != nil:
			return err
		case info.IsDir() && info.Mode().Perm()&0o022 != 0:
			return &UnguardedError{"names a socket in " + name + ", where other users of this machine can put one"}
		}
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != os.Geteuid() && owner != 0 {
			return &UnguardedError{fmt.Sprintf("names a socket of another user's: %s belongs to user %d", name, owner)}
		}
	}
	return nil
}

// Redacted returns the address with its password replaced by "…", for messages and logs.
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

// withoutAddress replaces a *url.Error, whose text repeats the address and its password.
func withoutAddress(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return errors.New("it is no URL; special characters of a password must be percent-encoded")
	}
	return err
}
