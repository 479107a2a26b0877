package node

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/users"
	"reckon/internal/passwords"
)

// usersService manages the users in the log. Where nobody is asked who they are, it does so
// for everybody: those users count once the node has a port for users.
type usersService struct {
	users.UnimplementedUsersServer
	directory     access.Directory
	authenticator *access.Authenticator
	memory        *budget
	places        chan struct{} // of calls that hash a password; others wait, and sign-ins have a queue of their own
}

func newUsersService(log *eventlog.Log, memory *budget, clock func() time.Time) *usersService {
	hasher := passwords.NewHasher(passwords.Standard).AtMost(someProcessors()) // one for sign-ins and changes
	return &usersService{
		directory:     access.Directory{Store: logStore{log}, Hasher: hasher},
		authenticator: access.NewAuthenticator(log, hasher, clock),
		memory:        memory,
		places:        make(chan struct{}, maxUserCalls),
	}
}

// enter waits for a place to hash a password; leave returns it.
func (s *usersService) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// userFailure translates an error about a user into the status and trailers that clients know.
func userFailure(err error, login string) error {
	trailers := func(exception string) metadata.MD {
		return metadata.Pairs("exception", exception, "login-name", login)
	}
	switch {
	case errors.Is(err, access.ErrNoSuchUser):
		return &failure{code: codes.NotFound, message: err.Error(), trailers: trailers("user-not-found")}
	case errors.Is(err, access.ErrUserExists):
		return &failure{code: codes.AlreadyExists, message: err.Error(), trailers: trailers("user-conflict")}
	case errors.Is(err, access.ErrTooManyUsers):
		return &failure{code: codes.ResourceExhausted, message: err.Error()}
	case errors.Is(err, access.ErrChanged), errors.As(err, new(*eventlog.WrongExpectedRevisionError)):
		return &failure{code: codes.Aborted, message: "the user was changed at the same time: try again"}
	case errors.Is(err, access.ErrCredentials), errors.Is(err, access.ErrTooManyGuesses):
		return denied(err.Error())
	case errors.Is(err, passwords.ErrBusy):
		return &failure{code: codes.Unavailable, message: "too many passwords are being checked: try again in a moment"}
	}
	for _, refused := range []error{access.ErrInvalidLogin, access.ErrInvalidGroups, access.ErrInvalidFullName, access.ErrInvalidPassword} {
		if errors.Is(err, refused) {
			return invalid(err.Error())
		}
	}
	return err
}

// answer returns an empty answer, or the status of an error about a user.
func answer[R any](ctx context.Context, response *R, err error, login string) (*R, error) {
	if err != nil {
		return nil, statusError(ctx, userFailure(err, login))
	}
	return response, nil
}

// Create is users.UsersServer.
func (s *usersService) Create(ctx context.Context, req *users.CreateReq) (*users.CreateResp, error) {
	o := req.GetOptions()
	return answer(ctx, &users.CreateResp{}, s.create(ctx, o), o.GetLoginName())
}

func (s *usersService) create(ctx context.Context, o *users.CreateReq_Options) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	held := s.memory.hold(ctx)
	defer held.release()
	if err := held.reserve(ctx, usersListBytes); err != nil {
		return err
	}
	return s.directory.Create(ctx, o.GetLoginName(), o.GetFullName(), o.GetGroups(), o.GetPassword())
}

// Update is users.UsersServer.
func (s *usersService) Update(ctx context.Context, req *users.UpdateReq) (*users.UpdateResp, error) {
	o := req.GetOptions()
	leave, err := s.enter(ctx)
	if err == nil {
		err = s.directory.Update(ctx, o.GetLoginName(), o.GetFullName(), o.GetGroups(), o.GetPassword())
		leave()
	}
	return answer(ctx, &users.UpdateResp{}, err, o.GetLoginName())
}

// Delete is users.UsersServer.
func (s *usersService) Delete(ctx context.Context, req *users.DeleteReq) (*users.DeleteResp, error) {
	login := req.GetOptions().GetLoginName()
	return answer(ctx, &users.DeleteResp{}, s.directory.Delete(ctx, login), login)
}

// Enable is users.UsersServer.
func (s *usersService) Enable(ctx context.Context, req *users.EnableReq) (*users.EnableResp, error) {
	login := req.GetOptions().GetLoginName()
	return answer(ctx, &users.EnableResp{}, s.directory.SetDisabled(ctx, login, false), login)
}

// Disable is users.UsersServer.
func (s *usersService) Disable(ctx context.Context, req *users.DisableReq) (*users.DisableResp, error) {
	login := req.GetOptions().GetLoginName()
	return answer(ctx, &users.DisableResp{}, s.directory.SetDisabled(ctx, login, true), login)
}

// ResetPassword is users.UsersServer.
func (s *usersService) ResetPassword(ctx context.Context, req *users.ResetPasswordReq) (*users.ResetPasswordResp, error) {
	o := req.GetOptions()
	leave, err := s.enter(ctx)
	if err == nil {
		err = s.directory.SetPassword(ctx, o.GetLoginName(), o.GetNewPassword())
		leave()
	}
	return answer(ctx, &users.ResetPasswordResp{}, err, o.GetLoginName())
}

// ChangePassword is users.UsersServer: for the user, and for administrators who know the password.
// Wrong ones are counted like those of sign-ins.
func (s *usersService) ChangePassword(ctx context.Context, req *users.ChangePasswordReq) (*users.ChangePasswordResp, error) {
	o := req.GetOptions()
	err := s.changePassword(ctx, o)
	return answer(ctx, &users.ChangePasswordResp{}, err, o.GetLoginName())
}

func (s *usersService) changePassword(ctx context.Context, o *users.ChangePasswordReq_Options) error {
	if err := authorizeUser(ctx, o.GetLoginName()); err != nil {
		return err
	}
	if _, err := s.directory.Find(ctx, o.GetLoginName()); err != nil {
		return err
	}
	if !passwords.Valid(o.GetNewPassword()) {
		return access.ErrInvalidPassword // before a guess is spent
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	user, err := s.authenticator.CheckPassword(ctx, o.GetLoginName(), o.GetCurrentPassword(), addressOf(ctx))
	if err != nil {
		return err
	}
	return s.directory.ReplacePassword(ctx, o.GetLoginName(), user.Hash, o.GetNewPassword())
}

// Details is users.UsersServer: of one user, for that user and for administrators; of all, for the latter.
func (s *usersService) Details(req *users.DetailsReq, call users.Users_DetailsServer) error {
	ctx, login := call.Context(), req.GetOptions().GetLoginName()
	return statusError(ctx, userFailure(s.details(ctx, login, call.Send), login))
}

func (s *usersService) details(ctx context.Context, login string, send func(*users.DetailsResp) error) error {
	if err := authorizeUser(ctx, login); err != nil {
		return err
	}
	if login != "" {
		user, err := s.directory.Find(ctx, login)
		if err != nil {
			return err
		}
		return send(detailsToWire(user))
	}
	held := s.memory.hold(ctx)
	defer held.release()
	if err := held.reserve(ctx, usersListBytes); err != nil {
		return err
	}
	return s.directory.Each(ctx, func(user access.User) error {
		held.waitForClient()
		defer held.working()
		return send(detailsToWire(user))
	})
}

func detailsToWire(u access.User) *users.DetailsResp {
	return &users.DetailsResp{UserDetails: &users.DetailsResp_UserDetails{
		LoginName: u.LoginName, FullName: u.FullName, Groups: u.Groups, Disabled: u.Disabled,
		LastUpdated: &users.DetailsResp_UserDetails_DateTime{TicksSinceEpoch: u.Updated.UnixNano() / 100},
	}}
}
