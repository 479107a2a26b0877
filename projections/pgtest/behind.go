package pgtest

import (
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"reckon/test/proxy"
)

// Behind opens a way by TCP to a PostgreSQL, and returns the address of its database on that way.
func Behind(t testing.TB, database string) (way *proxy.Proxy, address string) {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	network, server := pgconn.NetworkAddress(config.Host, config.Port)
	way = proxy.Start(t, network, server)
	user := url.User(config.User)
	if config.Password != "" {
		user = url.UserPassword(config.User, config.Password)
	}
	through := url.URL{Scheme: "postgres", User: user, Host: way.Address(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return way, through.String()
}
