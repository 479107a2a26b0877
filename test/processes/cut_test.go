package processes

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// cutAtWill is a way to a server that can be cut and mended.
type cutAtWill struct {
	network, server string // where the server listens

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

// cuttable returns a way to a PostgreSQL, and the address of its database on that way.
func cuttable(t testing.TB, database string) (*cutAtWill, string) {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutAtWill{open: map[net.Conn]bool{}}
	c.network, c.server = pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); c.cut() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go c.join(client)
		}
	}()
	user := url.User(config.User)
	if config.Password != "" {
		user = url.UserPassword(config.User, config.Password)
	}
	through := url.URL{Scheme: "postgres", User: user, Host: listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return c, through.String()
}

// join copies between a client and the server until one of them ends or the way is cut.
func (c *cutAtWill) join(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial(c.network, c.server)
	if err != nil || !c.add(client, server) {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, client)
	delete(c.open, server)
}

func (c *cutAtWill) add(connections ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, connection := range connections {
		if c.isCut {
			_ = connection.Close()
			continue
		}
		c.open[connection] = true
	}
	return !c.isCut
}

// cut ends every connection and lets no new one through.
func (c *cutAtWill) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	for connection := range c.open {
		_ = connection.Close()
	}
	clear(c.open)
}

func (c *cutAtWill) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = false
}
