package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/openfiles"
	"reckon/internal/passwords"
)

// FirstPasswordsFile is the file in a node's folder that holds the passwords which were
// made for the first users: a line NAME:PASSWORD for each. The node does not read it again
// once they exist.
const FirstPasswordsFile = "first-passwords"

// Secure configures access over TLS by users with passwords. Only Listen is required.
type Secure struct {
	Listen          string   // host:port of any address, port 0 for a free one
	CertificateFile string   // PEM; empty: the node makes a CA and a certificate in its folder
	KeyFile         string   // PEM; given with CertificateFile
	Names           []string // by which clients reach the node, for the certificate it makes; beside localhost, the host's name and the address
	AdminPassword   string   // of the user admin when it is created; empty: one is made, and written to FirstPasswordsFile
	OpsPassword     string   // likewise of ops
}

func (s *Secure) validate() error {
	switch {
	case s == nil:
		return nil
	case s.Listen == "":
		return errors.New("node.Config.Secure.Listen is empty: name an address such as 127.0.0.1:2113")
	case (s.CertificateFile == "") != (s.KeyFile == ""):
		return errors.New("node.Config.Secure names a certificate without its key, or a key without its certificate: name both, or neither")
	}
	for _, password := range []string{s.AdminPassword, s.OpsPassword} {
		if password != "" && !passwords.Valid(password) {
			return access.ErrInvalidPassword
		}
	}
	return nil
}

// door is where users come in: a port with TLS, whose calls go through a guard.
type door struct {
	listener net.Listener
	server   *grpc.Server
	plain    *plainHTTP
	caFile   string // of the CA that signed the certificate; empty where one was given
}

// openDoor makes the first users and opens the port. It serves nothing yet.
func (n *Node) openDoor(ctx context.Context, c Config, services func(net.Addr) func(registrar)) (*door, error) {
	if n.log.Err() == nil { // one that is read only has the users that it has
		if err := makeFirstUsers(ctx, c, n.users.directory); err != nil {
			return nil, fmt.Errorf("make the first users: %w", err)
		}
	}
	n.nameOperators(ctx)
	listener, err := listenForUsers(c.Secure.Listen)
	if err != nil {
		return nil, err
	}
	d := &door{listener: &places{Listener: &countingListener{Listener: listener, count: n.foreign}, limit: n.placesOf(openfiles.Port)}}
	var certs *certificates
	if c.Secure.CertificateFile != "" {
		certs, err = givenCertificates(c.Secure.CertificateFile, c.Secure.KeyFile, c.Clock, n.logger)
	} else {
		names := c.Secure.Names
		if c.AdvertiseHost != "" {
			names = append([]string{c.AdvertiseHost}, names...)
		}
		certs, err = ownCertificates(c.Dir, certificateNames(listener.Addr(), names), c.Clock, n.logger)
		d.caFile = filepath.Join(c.Dir, tlsFolder, caFile)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	g := &guard{log: n.log, users: n.users.authenticator, logger: n.logger, wait: n.patience.refused}
	d.plain = n.servePlain(listener.Addr(), c)
	d.server = n.newServer(services(listener.Addr()), g, &inboundCredentials{TransportCredentials: credentials.NewTLS(certs.config()), tls: certs.config(), shakes: newTurns(someProcessors()), memory: n.memory, calls: n.calls, wait: n.patience.stranger, plain: d.plain})
	return d, nil
}

// maxNamedOperators is how many users of a group are named when the port opens.
const maxNamedOperators = 20

// nameOperators logs who has rights beyond those of every user: a log that was open to others may have users that its owner did not make.
func (n *Node) nameOperators(ctx context.Context) {
	of := map[string][]string{}
	err := n.users.directory.Each(ctx, func(u access.User) error {
		for _, group := range operators {
			if !u.Disabled && slices.Contains(u.Groups, group) {
				of[group] = append(of[group], u.LoginName)
			}
		}
		return nil
	})
	if err != nil { // a record that cannot be read gives no rights, and keeps nobody else out
		n.logger.Warn("not all users can be read", "error", err)
	}
	for _, group := range operators {
		names := of[group]
		n.logger.Info("users with rights beyond those of every user", "group", group, "count", len(names), "users", strings.Join(names[:min(len(names), maxNamedOperators)], " "))
	}
}

// SecureConnectionString returns the address of the port with TLS, without a user, for any
// official client; empty where Config.Secure was nil.
func (n *Node) SecureConnectionString() string {
	if n.door == nil {
		return ""
	}
	address := n.door.listener.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "localhost"
	}
	u := url.URL{Scheme: "esdb", Host: net.JoinHostPort(host, strconv.Itoa(address.Port)), RawQuery: "tls=true"}
	if n.door.caFile != "" {
		if absolute, err := filepath.Abs(n.door.caFile); err == nil {
			// a slash needs no escape in a query (RFC 3986, 3.4), and the Java client takes the path as it stands
			u.RawQuery += "&tlsCAFile=" + strings.NewReplacer("%2F", "/", "+", "%20").Replace(url.QueryEscape(absolute))
		}
	}
	return u.String()
}

// makeFirstUsers creates admin and ops where they were never created. Passwords that are
// made are written to FirstPasswordsFile before the users exist.
func makeFirstUsers(ctx context.Context, c Config, users access.Directory) error {
	first := []struct{ name, fullName, group, password string }{
		{"admin", "Event Store Administrator", access.Admins, c.Secure.AdminPassword},
		{"ops", "Event Store Operations", access.Ops, c.Secure.OpsPassword},
	}
	existing, err := users.Names(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(c.Dir, FirstPasswordsFile)
	made, err := readFirstPasswords(file)
	if err != nil {
		return err
	}
	missing := false
	for i, u := range first {
		switch {
		case existing[u.name] || u.password != "":
		case made[u.name] != "": // the last start ended before the user existed
			first[i].password = made[u.name]
		default:
			first[i].password, missing = rand.Text(), true
			made[u.name] = first[i].password
		}
	}
	if missing {
		lines := ""
		for _, u := range first {
			if made[u.name] != "" {
				lines += u.name + ":" + made[u.name] + "\n"
			}
		}
		if err := writePrivate(file, []byte(lines)); err != nil {
			return err
		}
	}
	for _, u := range first {
		if existing[u.name] {
			continue
		}
		if err := users.Create(ctx, u.name, u.fullName, []string{u.group}, u.password); err != nil && !errors.Is(err, access.ErrUserExists) {
			return err
		}
	}
	return nil
}

func readFirstPasswords(file string) (map[string]string, error) {
	made := map[string]string{}
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		if name, password, found := strings.Cut(strings.TrimRight(line, "\n"), ":"); found {
			made[name] = password
		}
	}
	return made, nil
}

// logStore is the log as the directory of users needs it.
type logStore struct{ log *eventlog.Log }

// Newest is access.Store.
func (s logStore) Newest(_ context.Context, stream string) (newest access.Stored, found bool, err error) {
	view, err := s.log.View()
	if err != nil {
		return access.Stored{}, false, err
	}
	defer view.Close()
	info, err := view.Stream(stream)
	if err != nil || info.Tombstoned || !info.Exists() {
		return access.Stored{}, false, err
	}
	record, found, err := view.Event(stream, uint64(info.Last))
	return access.Stored{Data: record.Data, Revision: record.Revision, Written: eventlog.TimeOf(record.CreatedTicks)}, found, err
}

// All is access.Store.
func (s logStore) All(ctx context.Context, stream string) (all [][]byte, err error) {
	view, err := s.log.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	info, err := view.Stream(stream)
	if err != nil || info.Tombstoned || !info.Exists() {
		return nil, err
	}
	for next := info.First; next <= uint64(info.Last); {
		page, err := view.ReadStream(ctx, stream, next, uint64(info.Last), false, eventlog.Page{Records: pageRecords, Bytes: pageBytes})
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return all, nil
		}
		for i := range page {
			all = append(all, page[i].Data)
		}
		next = page[len(page)-1].Revision + 1
	}
	return all, nil
}

// Append is access.Store.
func (s logStore) Append(ctx context.Context, stream string, expected eventlog.Expected, eventType string, data []byte) error {
	_, err := s.log.Append(ctx, stream, expected, []eventlog.Proposed{{ID: uuid.New(), Type: eventType, JSON: true, Data: data}})
	return err
}

// Delete is access.Store.
func (s logStore) Delete(ctx context.Context, stream string) error {
	_, err := s.log.Delete(ctx, stream, eventlog.StreamExists())
	return err
}
