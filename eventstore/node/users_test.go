package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/users"
	"reckon/test/wait"
)

// detailsOf returns the details of a user, or of all for an empty name.
func detailsOf(ctx context.Context, conn *grpc.ClientConn, user string) ([]*users.DetailsResp_UserDetails, error) {
	request := &users.DetailsReq{}
	if user != "" {
		request.Options = &users.DetailsReq_Options{LoginName: user}
	}
	call, err := users.NewUsersClient(conn).Details(ctx, request)
	if err != nil {
		return nil, err
	}
	var all []*users.DetailsResp_UserDetails
	for {
		next, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, next.GetUserDetails())
	}
}

// TestUsersByCalls: the life of a user by calls, where everybody is an administrator and where one has signed in.
func TestUsersByCalls(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	insecure, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, insecure) })
	for name, at := range map[string]struct {
		conn *grpc.ClientConn
		ctx  context.Context
	}{"secured": {s.conn, as(t, admin)}, "insecure": {(&running{Node: insecure}).raw(t), testCtx(t)}} {
		t.Run(name, func(t *testing.T) { lifeOfAUser(t, at.ctx, at.conn) })
	}
}

func lifeOfAUser(t *testing.T, ctx context.Context, conn *grpc.ClientConn) {
	t.Helper()
	client := users.NewUsersClient(conn)
	begun := time.Now()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	refused := func(what string, err error, code codes.Code, trailer metadata.MD, want ...string) {
		t.Helper()
		if status.Code(err) != code {
			t.Errorf("%s: %v, want %v", what, err, code)
		}
		for i := 0; i < len(want); i += 2 {
			if !slices.Equal(trailer.Get(want[i]), want[i+1:i+2]) {
				t.Errorf("%s: trailers %v, want %s %s", what, trailer, want[i], want[i+1])
			}
		}
	}
	create := func(o *users.CreateReq_Options, trailer *metadata.MD) error {
		_, err := client.Create(ctx, &users.CreateReq{Options: o}, grpc.Trailer(trailer))
		return err
	}
	var trailer metadata.MD
	must("creation", create(&users.CreateReq_Options{LoginName: "eve", Password: "changeit", FullName: "Eve E.", Groups: []string{"$ops", "g"}}, &trailer))
	refused("a second creation", create(&users.CreateReq_Options{LoginName: "eve", Password: "changeit"}, &trailer), codes.AlreadyExists, trailer, "exception", "user-conflict", "login-name", "eve")
	for _, bad := range []*users.CreateReq_Options{
		nil, {LoginName: "$admins", Password: "changeit"}, {LoginName: "x", Password: "short"}, {LoginName: "x", Password: strings.Repeat("p", 1<<20)},
		{LoginName: "x", Password: "changeit", FullName: strings.Repeat("f", 1<<10)}, {LoginName: "x", Password: "changeit", Groups: []string{"$all"}},
		{LoginName: "x", Password: "changeit", Groups: slices.Repeat([]string{"g"}, 1000)}, {LoginName: strings.Repeat("x", 1<<20), Password: "changeit"},
	} {
		if err := create(bad, &trailer); status.Code(err) != codes.InvalidArgument {
			t.Errorf("creation of %.100v: %v", bad, err)
		}
	}
	details := func(full string, disabled bool, groups ...string) {
		t.Helper()
		got, err := detailsOf(ctx, conn, "eve")
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		u := got[0]
		if u.GetLoginName() != "eve" || u.GetFullName() != full || u.GetDisabled() != disabled || !slices.Equal(u.GetGroups(), groups) {
			t.Errorf("got %v", u)
		}
		if at := time.Unix(0, u.GetLastUpdated().GetTicksSinceEpoch()*100); at.Before(begun.Add(-time.Millisecond)) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("updated at %v", at)
		}
	}
	details("Eve E.", false, "$ops", "g")
	_, err := client.Update(ctx, &users.UpdateReq{Options: &users.UpdateReq_Options{LoginName: "eve", FullName: "Eve", Groups: []string{"h"}}})
	must("update", err)
	details("Eve", false, "h")
	_, err = client.Disable(ctx, &users.DisableReq{Options: &users.DisableReq_Options{LoginName: "eve"}})
	must("disable", err)
	details("Eve", true, "h")
	_, err = client.Enable(ctx, &users.EnableReq{Options: &users.EnableReq_Options{LoginName: "eve"}})
	must("enable", err)
	details("Eve", false, "h")

	change := func(from, to string) error {
		_, err := client.ChangePassword(ctx, &users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: "eve", CurrentPassword: from, NewPassword: to}}, grpc.Trailer(&trailer))
		return err
	}
	must("update left the password, which changes", change("changeit", "changed it"))
	refused("change of a wrong password", change("changeit", "changed again"), codes.PermissionDenied, trailer, "exception", "access-denied")
	refused("change to a short one", change("changed it", "short"), codes.InvalidArgument, trailer)
	_, err = client.ResetPassword(ctx, &users.ResetPasswordReq{Options: &users.ResetPasswordReq_Options{LoginName: "eve", NewPassword: "was reset"}})
	must("reset", err)
	must("change of the reset password", change("was reset", "changed again"))
	_, err = client.Update(ctx, &users.UpdateReq{Options: &users.UpdateReq_Options{LoginName: "eve", FullName: "Eve", Password: "in an update"}})
	must("update with a password", err)
	must("change of that", change("in an update", "changed again"))

	_, err = client.Delete(ctx, &users.DeleteReq{Options: &users.DeleteReq_Options{LoginName: "eve"}})
	must("deletion", err)
	for what, f := range map[string]func(...grpc.CallOption) error{
		"deletion": func(o ...grpc.CallOption) error {
			_, err := client.Delete(ctx, &users.DeleteReq{Options: &users.DeleteReq_Options{LoginName: "eve"}}, o...)
			return err
		},
		"update": func(o ...grpc.CallOption) error {
			_, err := client.Update(ctx, &users.UpdateReq{Options: &users.UpdateReq_Options{LoginName: "eve"}}, o...)
			return err
		},
		"reset": func(o ...grpc.CallOption) error {
			_, err := client.ResetPassword(ctx, &users.ResetPasswordReq{Options: &users.ResetPasswordReq_Options{LoginName: "eve", NewPassword: "changed again"}}, o...)
			return err
		},
		"change": func(o ...grpc.CallOption) error {
			_, err := client.ChangePassword(ctx, &users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: "eve", CurrentPassword: "changed again", NewPassword: "changed again"}}, o...)
			return err
		},
		"enable": func(o ...grpc.CallOption) error {
			_, err := client.Enable(ctx, &users.EnableReq{Options: &users.EnableReq_Options{LoginName: "eve"}}, o...)
			return err
		},
		"disable": func(o ...grpc.CallOption) error {
			_, err := client.Disable(ctx, &users.DisableReq{Options: &users.DisableReq_Options{LoginName: "eve"}}, o...)
			return err
		},
		"details": func(...grpc.CallOption) error {
			call, err := client.Details(ctx, &users.DetailsReq{Options: &users.DetailsReq_Options{LoginName: "eve"}})
			if err == nil {
				_, err = call.Recv()
				trailer = call.Trailer()
			}
			return err
		},
	} {
		refused(what+" of nobody", f(grpc.Trailer(&trailer)), codes.NotFound, trailer, "exception", "user-not-found", "login-name", "eve")
	}
	must("creation of a name that was", create(&users.CreateReq_Options{LoginName: "eve", Password: "changeit"}, &trailer))
	all, err := detailsOf(ctx, conn, "")
	must("details of all", err)
	if names := slices.Collect(func(yield func(string) bool) {
		for _, u := range all {
			if !yield(u.GetLoginName()) {
				return
			}
		}
	}); !slices.Contains(names, "eve") || !slices.IsSorted(names) {
		t.Errorf("the users are %v", names)
	}
}

// TestUsersChangeTheirOwn: a user reads and changes themselves, and what they run with the old password ends.
func TestUsersChangeTheirOwn(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	own, err := detailsOf(as(t, ordinary), s.conn, ordinary)
	if err != nil || len(own) != 1 || own[0].GetLoginName() != ordinary {
		t.Fatal(own, err)
	}
	client := users.NewUsersClient(s.conn)
	if _, err := client.ChangePassword(as(t, ordinary), &users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: ordinary, CurrentPassword: passwordOf(ordinary), NewPassword: "another one"}}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the old password is refused", func() bool { // a machine that verifies none within strangeWait loses the connection: then it is tried again, as clients do
		_, err := detailsOf(as(t, ordinary), s.conn, ordinary)
		if code := status.Code(err); code != codes.Unauthenticated && code != codes.Unavailable {
			t.Fatalf("with the old password: %v", err)
		}
		return status.Code(err) == codes.Unauthenticated
	})
	changed := metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic(ordinary, "another one"))
	if _, err := detailsOf(changed, s.conn, ordinary); err != nil {
		t.Error(err)
	}
	// one who may change their own is no oracle for guessing
	tooMany := false
	for i := range 30 {
		_, err := client.ChangePassword(changed, &users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: ordinary, CurrentPassword: fmt.Sprint("a guess ", i), NewPassword: "another one"}})
		if status.Code(err) != codes.PermissionDenied {
			t.Fatal(err)
		}
		tooMany = tooMany || strings.Contains(err.Error(), access.ErrTooManyGuesses.Error())
	}
	if !tooMany {
		t.Error("passwords can be guessed")
	}
}

// TestUsersOfAnInsecureNodeCount: they are in the log, and sign in once there is a port for users.
func TestUsersOfAnInsecureNodeCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	insecure, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = users.NewUsersClient((&running{Node: insecure}).raw(t)).Create(testCtx(t), &users.CreateReq{Options: &users.CreateReq_Options{LoginName: "zoe", Password: passwordOf("zoe"), Groups: []string{access.Ops}}})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, insecure)
	var logged strings.Builder
	logger := slog.New(slog.NewTextHandler(&logged, nil))
	n, err := Open(Config{Dir: dir, Logger: logger, Secure: &Secure{Listen: "127.0.0.1:0", AdminPassword: passwordOf(admin), OpsPassword: passwordOf(ops)}})
	if err != nil {
		t.Fatal(err)
	}
	if said := logged.String(); !strings.Contains(said, "group=$admins count=1 users=admin") || !strings.Contains(said, `group=$ops count=2 users="ops zoe"`) {
		t.Errorf("who may operate is not said: %s", said)
	}
	t.Cleanup(func() { stop(t, n) })
	s := &secured{Node: n, dir: dir}
	own, err := detailsOf(as(t, "zoe"), s.dialTLS(t), "zoe")
	if err != nil || len(own) != 1 || !slices.Equal(own[0].GetGroups(), []string{access.Ops}) {
		t.Error(own, err)
	}
}

// TestManyUsersAtOnce: creations wait for each other, and none fails for their number.
func TestManyUsersAtOnce(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	conn := (&running{Node: n}).raw(t)
	const many = 100 // more than the queue of sign-ins holds on two cores
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() {
			_, err := users.NewUsersClient(conn).Create(testCtx(t), &users.CreateReq{Options: &users.CreateReq_Options{LoginName: fmt.Sprintf("u%03d", i), Password: "changeit"}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	all, err := detailsOf(testCtx(t), conn, "")
	if err != nil || len(all) != many {
		t.Errorf("%d users, %v", len(all), err)
	}
}

// TestNamesOfUsersAreBounded: each creation reads them all.
func TestNamesOfUsersAreBounded(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	for from := 0; from < 10_000; from += 5000 {
		named := make([]eventlog.Proposed, 5000)
		for i := range named {
			named[i] = eventlog.Proposed{ID: uuid.New(), Type: "$User", JSON: true, Data: fmt.Appendf(nil, `"u%d"`, from+i)}
		}
		if _, err := n.log.Append(t.Context(), access.UsersStream, eventlog.Any(), named); err != nil {
			t.Fatal(err)
		}
	}
	_, err = n.users.Create(t.Context(), &users.CreateReq{Options: &users.CreateReq_Options{LoginName: "one-more", Password: "changeit"}})
	if status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	if _, err = n.users.Create(t.Context(), &users.CreateReq{Options: &users.CreateReq_Options{LoginName: "u77", Password: "changeit"}}); err != nil {
		t.Errorf("a name that was there before: %v", err)
	}
}

// TestANodeStartsWithARecordThatIsNoUsers: it gives no rights, and keeps nobody out.
func TestANodeStartsWithARecordThatIsNoUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, round := range []string{"made", "damaged"} {
		n, err := Open(Config{Dir: dir, Secure: &Secure{Listen: "127.0.0.1:0", AdminPassword: passwordOf(admin), OpsPassword: passwordOf(ops)}})
		if err != nil {
			t.Fatal(round, err)
		}
		s := &secured{Node: n, dir: dir}
		s.owner(t, "$user-ops", "$UserUpdated", `"nobody"`)
		if _, err := detailsOf(as(t, admin), s.dialTLS(t), admin); err != nil {
			t.Error(round, err)
		}
		stop(t, n)
	}
}
