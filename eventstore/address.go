package eventstore

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

const socketScheme = "unix:"

// UnguardedError: whoever may write to the log is an administrator of the service,
// and this server would let others in.
type UnguardedError struct{ Missing string }

func (e *UnguardedError) Error() string {
	return fmt.Sprintf("the event store's address %s: whoever may write to the log is an administrator of this service (docs/security.md). "+
		"Say esdb://user:password@host:port with TLS, or --insecure-eventstore if nobody else can reach that server", e.Missing)
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

// guarded tells what a server's address lacks to keep others out. The mode of a
// socket does that by itself.
func guarded(c *esdb.Configuration) error {
	switch {
	case strings.HasPrefix(c.Address, socketScheme):
		return nil
	case c.DisableTLS:
		return &UnguardedError{"has tls=false: what it says can be read and changed on the way"}
	case c.SkipCertificateVerification:
		return &UnguardedError{"has tlsVerifyCert=false: any server could stand in for it"}
	case c.Username == "" && c.UserCertFile == "":
		return &UnguardedError{"names no user: a server that lets us in without credentials lets everyone in"}
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
