package database_test

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sys/unix"

	"reckon/internal/database"
	"reckon/projections/pgtest"
)

// TestAServerThatIsGoneIsNoticed: the system gives a connection up within half a minute of the server's last sign, where it would have
// waited for a quarter of an hour.
func TestAServerThatIsGoneIsNoticed(t *testing.T) {
	t.Parallel()
	_, address := pgtest.Behind(t, pgtest.Database(t))
	pool, err := database.Postgres(part, address, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	held, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	err = held.Raw(func(raw any) error {
		socket, err := database.Unwrapped(raw).(*stdlib.Conn).Conn().PgConn().Conn().(*net.TCPConn).SyscallConn()
		if err != nil {
			return err
		}
		return socket.Control(func(descriptor uintptr) {
			for name, option := range map[string]struct{ number, want int }{
				"TCP_USER_TIMEOUT, in ms": {unix.TCP_USER_TIMEOUT, 30_000}, "TCP_KEEPIDLE": {unix.TCP_KEEPIDLE, 15}, "TCP_KEEPINTVL": {unix.TCP_KEEPINTVL, 5}, "TCP_KEEPCNT": {unix.TCP_KEEPCNT, 3},
			} {
				if got, err := unix.GetsockoptInt(int(descriptor), unix.IPPROTO_TCP, option.number); err != nil || got != option.want {
					t.Errorf("%s is %d, %v; want %d", name, got, err, option.want)
				}
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
}
