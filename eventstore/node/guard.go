package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/eventstore/node/protos/users"
	"reckon/internal/passwords"
)

// callRule says what one RPC needs. The zero rule lets every user in, and nobody else.
type callRule struct {
	open    bool                                  // for everyone; credentials are not looked at
	roles   []string                              // the user has one of these
	needs   func(request any) (access.Need, bool) // the right that the first message asks for; false: it names none that exists
	live    func(request any) bool                // the call goes on until its client ends it: rights are watched
	refused func() proto.Message                  // a message of the request, for calls that must be read to their end before they are refused
}

// callRules has a row for every RPC that the node serves to users. An RPC without a row is refused.
var callRules = map[string]callRule{
	serverfeatures.ServerFeatures_GetSupportedMethods_FullMethodName: {open: true},
	gossip.Gossip_Read_FullMethodName:                                {open: true},
	grpc_health_v1.Health_Check_FullMethodName:                       {open: true},
	grpc_health_v1.Health_List_FullMethodName:                        {open: true},
	grpc_health_v1.Health_Watch_FullMethodName:                       {open: true},

	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {roles: operators},
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {roles: operators},

	streams.Streams_Read_FullMethodName:        {needs: needOfRead, live: isSubscription},
	streams.Streams_Append_FullMethodName:      {needs: needOfAppend, refused: func() proto.Message { return new(streams.AppendReq) }},
	streams.Streams_Delete_FullMethodName:      {needs: needOfDelete},
	streams.Streams_Tombstone_FullMethodName:   {needs: needOfTombstone},
	streams.Streams_BatchAppend_FullMethodName: {}, // each batch is authorized by itself, and refused in its own answer

	streamsv2.StreamsService_AppendSession_FullMethodName: {refused: func() proto.Message { return new(streamsv2.AppendRequest) }}, // severalService authorizes each stream
	streamsv2.StreamsService_AppendRecords_FullMethodName: {},

	persistent.PersistentSubscriptions_Create_FullMethodName:           {roles: operators},
	persistent.PersistentSubscriptions_Update_FullMethodName:           {roles: operators},
	persistent.PersistentSubscriptions_Delete_FullMethodName:           {roles: operators},
	persistent.PersistentSubscriptions_ReplayParked_FullMethodName:     {roles: operators},
	truncateParkedFullMethod:                                           {roles: operators},
	persistent.PersistentSubscriptions_RestartSubsystem_FullMethodName: {roles: operators},
	persistent.PersistentSubscriptions_GetInfo_FullMethodName:          {},
	persistent.PersistentSubscriptions_List_FullMethodName:             {},
	persistent.PersistentSubscriptions_Read_FullMethodName:             {needs: needOfGroup, live: func(any) bool { return true }},

	users.Users_Create_FullMethodName:         {roles: administrators},
	users.Users_Update_FullMethodName:         {roles: administrators},
	users.Users_Delete_FullMethodName:         {roles: administrators},
	users.Users_Enable_FullMethodName:         {roles: administrators},
	users.Users_Disable_FullMethodName:        {roles: administrators},
	users.Users_ResetPassword_FullMethodName:  {roles: administrators},
	users.Users_ChangePassword_FullMethodName: {}, // authorizeUser, as of the next
	users.Users_Details_FullMethodName:        {},

	operations.Operations_StartScavenge_FullMethodName:                  {roles: operators},
	operations.Operations_StopScavenge_FullMethodName:                   {roles: operators},
	operations.Operations_Shutdown_FullMethodName:                       {roles: operators},
	operations.Operations_MergeIndexes_FullMethodName:                   {roles: operators},
	operations.Operations_ResignNode_FullMethodName:                     {roles: operators},
	operations.Operations_SetNodePriority_FullMethodName:                {roles: operators},
	operations.Operations_RestartPersistentSubscriptions_FullMethodName: {roles: operators},

	monitoring.Monitoring_Stats_FullMethodName: {roles: operators}, // authorizeOperator before each answer
}

var (
	administrators = []string{access.Admins}
	operators      = []string{access.Admins, access.Ops}
)

func needOfRead(request any) (access.Need, bool) {
	switch source := request.(*streams.ReadReq).GetOptions().GetStreamOption().(type) {
	case *streams.ReadReq_Options_All:
		return access.Need{Action: access.Read, Stream: eventlog.AllStream}, true
	case *streams.ReadReq_Options_Stream:
		return access.NeedOf(access.Read, string(source.Stream.GetStreamIdentifier().GetStreamName())), true
	default:
		return access.Need{}, false
	}
}

func isSubscription(request any) bool {
	return request.(*streams.ReadReq).GetOptions().GetSubscription() != nil
}

func needOfAppend(request any) (access.Need, bool) {
	options := request.(*streams.AppendReq).GetOptions()
	return access.NeedOf(access.Write, string(options.GetStreamIdentifier().GetStreamName())), options != nil
}

func needOfDelete(request any) (access.Need, bool) {
	return access.NeedOf(access.Delete, string(request.(*streams.DeleteReq).GetOptions().GetStreamIdentifier().GetStreamName())), true
}

func needOfTombstone(request any) (access.Need, bool) {
	return access.NeedOf(access.Delete, string(request.(*streams.TombstoneReq).GetOptions().GetStreamIdentifier().GetStreamName())), true
}

func needOfGroup(request any) (access.Need, bool) {
	options := request.(*persistent.ReadReq).GetOptions()
	if options.GetAll() != nil {
		return access.Need{Action: access.Read, Stream: eventlog.AllStream}, true
	}
	return access.NeedOf(access.Read, string(options.GetStreamIdentifier().GetStreamName())), options != nil
}

// guard lets users do what they may, and refuses everything else. All calls of users go
// through it; handlers need not know of it, but for authorizeStream.
type guard struct {
	log    *eventlog.Log
	users  *access.Authenticator
	logger *slog.Logger
	shares shares
	wait   time.Duration // longest reading of a refused request
}

// caller is who makes one call.
type caller struct {
	guard   *guard
	session *access.Session
}

var errNoRule = &failure{code: codes.PermissionDenied, message: "nobody may call this", trailers: metadata.Pairs("exception", "access-denied")}

func denied(message string) *failure {
	return &failure{code: codes.PermissionDenied, message: message, trailers: metadata.Pairs("exception", "access-denied")}
}

// authenticate returns who makes a call; nil for an open RPC.
func (g *guard) authenticate(ctx context.Context, method string) (*caller, callRule, error) {
	rule, known := callRules[method]
	switch {
	case !known:
		return nil, rule, errNoRule
	case rule.open:
		return nil, rule, nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	header := md.Get("authorization")
	if len(header) == 0 {
		return nil, rule, denied("access is denied without a user: give credentials")
	}
	session, err := g.users.Authenticate(ctx, header, addressOf(ctx))
	if err != nil {
		return nil, rule, authenticationFailure(err)
	}
	if err := g.keepPlace(ctx, session); err != nil {
		return nil, rule, err
	}
	c := &caller{g, session}
	if len(rule.roles) > 0 {
		if err := c.authorizeRole(rule.roles, ""); err != nil {
			return nil, rule, err
		}
	}
	return c, rule, nil
}

// authorizeRole returns nil when the caller has one of the roles as the log is now, or is the user self.
func (c *caller) authorizeRole(roles []string, self string) error {
	view, err := c.guard.log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	p, err := c.session.Principal(view)
	if err != nil {
		return authenticationFailure(err)
	}
	if p.Name == self || slices.ContainsFunc(roles, p.Is) {
		return nil
	}
	return denied("access is denied: only members of " + strings.Join(roles, " and ") + " may do this")
}

// authenticationFailure translates an error of package access.
func authenticationFailure(err error) error {
	for _, refused := range []error{access.ErrCredentials, access.ErrMalformed, access.ErrTooManyGuesses, access.ErrEnded} {
		if errors.Is(err, refused) {
			return &failure{code: codes.Unauthenticated, message: err.Error()}
		}
	}
	if errors.Is(err, passwords.ErrBusy) {
		return &failure{code: codes.Unavailable, message: err.Error()}
	}
	return err
}

// addressOf returns the address of a call's client, without its port.
func addressOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return hostOf(p.Addr)
}

func hostOf(address net.Addr) string {
	host, _, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	return host
}

// authorize returns nil when the caller has a right in the log as the view shows it.
func (c *caller) authorize(view *eventlog.View, need access.Need) error {
	p, err := c.session.Principal(view)
	if err != nil {
		return authenticationFailure(err)
	}
	allowed, err := access.Allowed(view, p, need)
	if err == nil && !allowed {
		err = denied("access is denied to " + p.Name + ": " + need.String())
	}
	return err
}

func (c *caller) authorizeNow(need access.Need) error {
	view, err := c.guard.log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	return c.authorize(view, need)
}

type callerKey struct{}

// authorizeStream returns nil when the caller of a call that names several streams may do something with one of them.
// A call that came through no guard is the node's owner's, who may do everything.
func authorizeStream(ctx context.Context, action access.Action, stream string) error {
	c, guarded := ctx.Value(callerKey{}).(*caller)
	if !guarded {
		return nil
	}
	return c.authorizeNow(access.NeedOf(action, stream))
}

// authorizeUser returns nil when the caller is a user, who may do this to themselves, or an administrator.
func authorizeUser(ctx context.Context, login string) error {
	c, guarded := ctx.Value(callerKey{}).(*caller)
	if !guarded {
		return nil
	}
	return c.authorizeRole(administrators, login)
}

// authorizeOperator returns nil while the caller of a call that goes on is an operator.
func authorizeOperator(ctx context.Context) error {
	c, guarded := ctx.Value(callerKey{}).(*caller)
	if !guarded {
		return nil
	}
	return c.authorizeRole(operators, "")
}

// userOf is the login of who makes a call; empty for a call that came through no guard.
func userOf(ctx context.Context) string {
	if c, guarded := ctx.Value(callerKey{}).(*caller); guarded {
		return c.session.Login()
	}
	return ""
}

// stream is the interceptor of all calls. It authenticates by the head, before a message is awaited.
func (g *guard) stream(server any, call grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c, rule, err := g.authenticate(call.Context(), info.FullMethod)
	if err != nil {
		if rule.refused != nil {
			drainRequest(call, rule.refused(), g.wait)
		}
		return statusError(call.Context(), err)
	}
	if rule.open {
		return handler(server, call)
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(eventlog.By(call.Context(), c.session.Login()), callerKey{}, c))
	guarded := &guardedCall{ServerStream: call, ctx: ctx, cancel: cancel, caller: c, rule: rule, unary: isUnary(info)}
	err = handler(server, guarded)
	ended := context.Cause(ctx)
	cancel(nil)
	guarded.watching.Wait()
	var refused *refusal
	if errors.As(ended, &refused) {
		return statusError(call.Context(), refused.err)
	}
	return err
}

// drainRequest reads a refused request to its end, at most maxRefusedBytes and for a time: a client
// whose sending is interrupted does not report the reason.
func drainRequest(call grpc.ServerStream, message proto.Message, wait time.Duration) {
	drained := make(chan struct{})
	go func() { // it ends with the call
		defer close(drained)
		for read := 0; read < maxRefusedBytes; read += proto.Size(message) + 1 {
			if call.RecvMsg(message) != nil {
				return
			}
		}
	}()
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-drained:
	case <-late.C:
	}
}

// refusal is the cause with which the context of a call ends whose caller may not go on.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }

// guardedCall is a streaming call of a user. It authorizes the request before the handler
// sees it, and every answer by a view at least as new as the one that the answer was read
// from: what was written after a right ended is not sent.
type guardedCall struct {
	grpc.ServerStream
	ctx      context.Context
	cancel   context.CancelCauseFunc
	caller   *caller
	rule     callRule
	unary    bool // authorized once: its answer says what was done
	watching sync.WaitGroup

	mu      sync.Mutex
	asked   bool
	need    *access.Need
	checked uint64 // head of the log at the last check
}

// Context is grpc.ServerStream. It ends, too, when the caller may not go on.
func (g *guardedCall) Context() context.Context { return g.ctx }

// RecvMsg is grpc.ServerStream.
func (g *guardedCall) RecvMsg(message any) error {
	if err := g.ServerStream.RecvMsg(message); err != nil {
		if errors.Is(err, io.EOF) {
			// what was received may have taken long
			if refused := g.check(true); refused != nil {
				return refused
			}
		}
		return err
	}
	g.mu.Lock()
	first := !g.asked
	g.asked = true
	g.mu.Unlock()
	if !first || g.rule.needs == nil {
		return nil
	}
	need, names := g.rule.needs(message)
	if !names {
		return nil // the handler refuses a request that names no stream
	}
	if g.unary {
		if err := g.caller.authorizeNow(need); err != nil {
			return g.end(err)
		}
		return nil
	}
	g.mu.Lock()
	g.need = &need
	g.mu.Unlock()
	if err := g.check(true); err != nil {
		if g.rule.refused != nil {
			drainRequest(g.ServerStream, g.rule.refused(), g.caller.guard.wait)
		}
		return err
	}
	if g.rule.live != nil && g.rule.live(message) {
		g.watch(need)
	}
	return nil
}

// SendMsg is grpc.ServerStream.
func (g *guardedCall) SendMsg(message any) error {
	if err := g.check(false); err != nil {
		return err
	}
	message, err := g.withoutSecrets(message)
	if err != nil {
		return g.end(err)
	}
	return g.ServerStream.SendMsg(message)
}

// check authorizes the call again unless the log has not grown since the last time. An
// error has ended the call.
func (g *guardedCall) check(always bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.need == nil {
		return nil
	}
	view, err := g.caller.guard.log.View()
	if err != nil {
		return g.end(err)
	}
	defer view.Close()
	if !always && view.Head() == g.checked {
		return nil
	}
	if err := g.caller.authorize(view, *g.need); err != nil {
		return g.end(err)
	}
	g.checked = view.Head()
	return nil
}

// end ends the call's context and returns the status that its client gets.
func (g *guardedCall) end(err error) error {
	g.cancel(&refusal{err})
	f := failureOf(err)
	return status.Error(f.code, f.message) // guard.stream answers with the trailers, whatever the handler returns
}

// watch checks the call whenever a stream changes on which its right depends, so that an
// idle subscription ends too.
func (g *guardedCall) watch(need access.Need) {
	depends := need.Watched()
	user, list, settings := g.caller.guard.log.Watch(g.caller.session.Stream()), g.caller.guard.log.Watch(depends[0]), g.caller.guard.log.Watch(depends[1])
	g.watching.Go(func() {
		defer user.Close()
		defer list.Close()
		defer settings.Close()
		for g.check(true) == nil {
			select {
			case <-user.C:
			case <-list.C:
			case <-settings.C:
			case <-g.ctx.Done():
				return
			}
		}
	})
}

// withoutSecrets returns a message as its receiver may see it: without the target of a
// link to a stream that they may not read, and with the records of users emptied.
func (g *guardedCall) withoutSecrets(message any) (any, error) {
	switch m := message.(type) {
	case *streams.ReadResp:
		e := m.GetEvent()
		hide, empty, err := g.hides(e.GetLink().GetStreamIdentifier().GetStreamName(), e.GetEvent().GetStreamIdentifier().GetStreamName())
		if err != nil || !hide && !empty {
			return message, err
		}
		m = proto.Clone(m).(*streams.ReadResp)
		if hide {
			m.GetEvent().Event = nil
		}
		if empty {
			for _, record := range []*streams.ReadResp_ReadEvent_RecordedEvent{m.GetEvent().GetEvent(), m.GetEvent().GetLink()} {
				if record != nil {
					record.Data, record.CustomMetadata = []byte("{}"), nil
				}
			}
		}
		return m, nil
	case *persistent.ReadResp:
		e := m.GetEvent()
		hide, empty, err := g.hides(e.GetLink().GetStreamIdentifier().GetStreamName(), e.GetEvent().GetStreamIdentifier().GetStreamName())
		if err != nil || !hide && !empty {
			return message, err
		}
		m = proto.Clone(m).(*persistent.ReadResp)
		if hide {
			m.GetEvent().Event = nil
		}
		if empty {
			for _, record := range []*persistent.ReadResp_ReadEvent_RecordedEvent{m.GetEvent().GetEvent(), m.GetEvent().GetLink()} {
				if record != nil {
					record.Data, record.CustomMetadata = []byte("{}"), nil
				}
			}
		}
		return m, nil
	}
	return message, nil
}

// hides reports whether the target of a link is hidden from the caller, and whether the
// records of an answer are emptied for them. link is empty for an event that is no link.
func (g *guardedCall) hides(link, event []byte) (hide, empty bool, err error) {
	if len(link) == 0 && len(event) == 0 {
		return false, false, nil
	}
	secret := access.IsSecret(string(link)) || access.IsSecret(string(event))
	if !secret && (len(link) == 0 || len(event) == 0) {
		return false, false, nil
	}
	view, err := g.caller.guard.log.View()
	if err != nil {
		return false, false, err
	}
	defer view.Close()
	p, err := g.caller.session.Principal(view)
	if err != nil {
		return false, false, authenticationFailure(err)
	}
	if p.Is(access.Admins) {
		return false, false, nil
	}
	if len(link) > 0 && len(event) > 0 {
		allowed, err := access.Allowed(view, p, access.NeedOf(access.Read, string(event)))
		if err != nil {
			return false, false, err
		}
		hide = !allowed
	}
	return hide, secret, nil
}
