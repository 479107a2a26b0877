package node

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/group"
)

// groupsService implements the PersistentSubscriptions service. Which event goes to whom is
// decided in package group; this file creates, changes and removes groups, groups_run.go
// reads the log for them and makes their state durable, groups_read.go serves consumers.
type groupsService struct {
	persistent.UnimplementedPersistentSubscriptionsServer
	log     *eventlog.Log
	closing <-chan struct{}
	logger  *slog.Logger

	admin chan struct{} // holds a token while groups are created, changed or removed

	mu     sync.Mutex
	groups map[string]*consumerGroup // by groupID
	failed error                     // why the configuration cannot be read; nil when it was

	consumers *quota        // connected to all groups
	unsettled atomic.Int64  // events held by all groups
	reading   chan struct{} // holds a token for each page being read
	memory    *budget       // content of large events being sent, with what other calls hold
}

// maxNamedConfigs is how many events that are no configuration are named in the log at a time.
const maxNamedConfigs = 10

func newGroupsService(log *eventlog.Log, closing <-chan struct{}, memory *budget, logger *slog.Logger) *groupsService {
	s := &groupsService{
		log: log, closing: closing, logger: logger,
		consumers: newQuota(maxConsumers, maxConsumers, errTooManyConsumers), admin: make(chan struct{}, 1), reading: make(chan struct{}, maxGroupReads), memory: memory,
	}
	s.load()
	return s
}

// load reads the configuration and starts the groups. A configuration that cannot be read
// fails every call until RestartSubsystem reads it again.
func (s *groupsService) load() {
	passed := 0
	configs, err := readGroupConfigs(s.log, func(revision uint64, reason error) {
		if passed++; passed <= maxNamedConfigs {
			s.logger.Warn("an event is no configuration of a persistent subscription, and is passed over", "stream", groupConfigStream, "revision", revision, "reason", reason)
		}
	})
	if passed > maxNamedConfigs {
		s.logger.Warn("more events are no configuration of a persistent subscription", "stream", groupConfigStream, "count", passed-maxNamedConfigs)
	}
	groups := make(map[string]*consumerGroup, len(configs))
	for _, c := range configs {
		if err != nil {
			break
		}
		groups[c.id()], err = s.start(c)
	}
	if err != nil {
		s.logger.Error("persistent subscriptions cannot be started", "error", err)
		for _, g := range groups {
			if g != nil {
				g.stop(err, false)
			}
		}
		groups = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups, s.failed = groups, err
}

// stopAll puts away all groups; their consumers receive the reason.
func (s *groupsService) stopAll(reason func(*consumerGroup) error) {
	s.mu.Lock()
	groups := s.groups
	s.groups, s.failed = nil, errShuttingDown
	s.mu.Unlock()
	var stopping errgroup.Group
	stopping.SetLimit(maxGroupReads)
	for _, g := range groups {
		stopping.Go(func() error {
			g.stop(reason(g), true)
			return nil
		})
	}
	_ = stopping.Wait() // no function of it returns an error
}

// close puts away all groups before the log is closed.
func (s *groupsService) close() {
	s.admin <- struct{}{}
	s.stopAll(func(*consumerGroup) error { return errShuttingDown })
}

// changing waits until no other call changes the groups; done ends the change.
func (s *groupsService) changing(ctx context.Context) (done func(), err error) {
	select {
	case s.admin <- struct{}{}:
		return func() { <-s.admin }, nil
	case <-s.closing:
		return nil, errShuttingDown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the group, or the error of one that does not exist.
func (s *groupsService) find(name groupName) (*consumerGroup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return nil, s.failed
	}
	// the names of two groups can have the same id: a::b of s, and b of s::a
	if g := s.groups[name.id()]; g != nil && g.config.groupName == name {
		return g, nil
	}
	return nil, name.missing()
}

// Create creates a group.
func (s *groupsService) Create(ctx context.Context, req *persistent.CreateReq) (*persistent.CreateResp, error) {
	return &persistent.CreateResp{}, statusError(ctx, s.create(ctx, req.GetOptions()))
}

func (s *groupsService) create(ctx context.Context, options *persistent.CreateReq_Options) error {
	config, from, err := configOfCreate(options)
	if err != nil {
		return err
	}
	done, err := s.changing(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	_, exists := s.groups[config.id()]
	count, failed := len(s.groups), s.failed
	s.mu.Unlock()
	switch {
	case failed != nil:
		return failed
	case exists:
		return config.failure(codes.AlreadyExists, "persistent-subscription-exists", "it exists")
	case count >= maxGroups:
		return &failure{code: codes.ResourceExhausted, message: "this node has as many persistent subscriptions as it can: delete some"}
	}
	if err := config.setStart(s.log, from); err != nil {
		return err
	}
	// a group of that name that was removed must not leave its progress to this one
	if err := s.removeState(ctx, config.groupName); err != nil {
		return err
	}
	if err := appendGroupConfig(ctx, s.log, config); err != nil {
		return err
	}
	return s.put(config)
}

// put starts a group whose configuration is durable.
func (s *groupsService) put(config groupConfig) error {
	g, err := s.start(config)
	if err != nil {
		s.fail(err)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[config.id()] = g
	return nil
}

// fail makes every call answer the error: what is in memory is not what is durable.
func (s *groupsService) fail(err error) {
	s.logger.Error("persistent subscriptions are stopped", "error", err)
	s.stopAll(func(*consumerGroup) error { return err })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// Update changes the settings of a group. Its consumers are dropped; its progress and its
// filter stay.
func (s *groupsService) Update(ctx context.Context, req *persistent.UpdateReq) (*persistent.UpdateResp, error) {
	return &persistent.UpdateResp{}, statusError(ctx, s.update(ctx, req.GetOptions()))
}

func (s *groupsService) update(ctx context.Context, options *persistent.UpdateReq_Options) error {
	config, from, err := configOfUpdate(options)
	if _, missing := s.find(config.groupName); missing != nil {
		return missing
	}
	if err != nil {
		return err
	}
	done, err := s.changing(ctx)
	if err != nil {
		return err
	}
	defer done()
	g, err := s.find(config.groupName)
	if err != nil {
		return err
	}
	config.Filter = g.config.Filter
	if from == nil {
		config.Start, config.After = g.config.Start, g.config.After
	} else if err := config.setStart(s.log, *from); err != nil {
		return err
	}
	if err := appendGroupConfig(ctx, s.log, config); err != nil {
		return err
	}
	g.stop(config.dropped(), true)
	if err := s.put(config); err != nil {
		return err
	}
	s.compact(ctx)
	return nil
}

// compact shortens the stream of configurations. A failure costs nothing but its length.
func (s *groupsService) compact(ctx context.Context) {
	s.mu.Lock()
	configs := make([]groupConfig, 0, len(s.groups))
	for _, g := range s.groups {
		configs = append(configs, g.config)
	}
	s.mu.Unlock()
	if err := compactGroupConfigs(ctx, s.log, configs); err != nil {
		s.logger.Warn("the configuration of persistent subscriptions was not shortened", "error", err)
	}
}

// Delete removes a group with its progress and its parked events. Its consumers are dropped.
func (s *groupsService) Delete(ctx context.Context, req *persistent.DeleteReq) (*persistent.DeleteResp, error) {
	return &persistent.DeleteResp{}, statusError(ctx, s.delete(ctx, nameFromWire(req.GetOptions())))
}

func (s *groupsService) delete(ctx context.Context, name groupName) error {
	done, err := s.changing(ctx)
	if err != nil {
		return err
	}
	defer done()
	g, err := s.find(name)
	if err != nil {
		return err
	}
	if err := appendGroupRemoved(ctx, s.log, name); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.groups, name.id())
	s.mu.Unlock()
	g.stop(name.dropped(), false)
	s.compact(ctx)
	return s.removeState(ctx, name)
}

// removeState soft-deletes the checkpoints and the parked events of a group, where there are any.
func (s *groupsService) removeState(ctx context.Context, name groupName) error {
	view, err := s.log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	for _, stream := range []string{name.checkpointStream(), name.parkedStream()} {
		info, err := view.Stream(stream)
		if err != nil {
			return err
		}
		if !info.Exists() || info.Tombstoned {
			continue
		}
		if _, err := s.log.Delete(ctx, stream, eventlog.Any()); err != nil {
			return err
		}
	}
	return nil
}

// ReplayParked delivers parked events again.
func (s *groupsService) ReplayParked(ctx context.Context, req *persistent.ReplayParkedReq) (*persistent.ReplayParkedResp, error) {
	g, until, err := s.parkedBefore(req.GetOptions())
	if err == nil {
		g.change(func(state *group.Group, _ time.Time) { state.Replay(until) })
	}
	return &persistent.ReplayParkedResp{}, statusError(ctx, err)
}

// truncateParkedMethod is a call that the official Go client does not have. Its request and its answer have the fields of
// ReplayParked's (kurrent-io/KurrentDB, src/Protos/Grpc/persistent.proto).
const (
	truncateParkedMethod     = "TruncateParked"
	truncateParkedFullMethod = "/event_store.client.persistent_subscriptions.PersistentSubscriptions/" + truncateParkedMethod
)

// groupsServiceDesc is the service with all its calls.
func groupsServiceDesc() *grpc.ServiceDesc {
	desc := persistent.PersistentSubscriptions_ServiceDesc
	desc.Methods = append(slices.Clone(desc.Methods), grpc.MethodDesc{
		MethodName: truncateParkedMethod,
		Handler: func(server any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			req := &persistent.ReplayParkedReq{}
			if err := decode(req); err != nil {
				return nil, err
			}
			return server.(*groupsService).truncateParked(ctx, req)
		},
	})
	return &desc
}

// truncateParked removes parked events. Those that are being replayed go when they are settled.
func (s *groupsService) truncateParked(ctx context.Context, req *persistent.ReplayParkedReq) (*persistent.ReplayParkedResp, error) {
	g, until, err := s.parkedBefore(req.GetOptions())
	if err == nil {
		g.change(func(state *group.Group, _ time.Time) { state.Discard(until) })
		err = g.truncateParked()
	}
	return &persistent.ReplayParkedResp{}, statusError(ctx, err)
}

// parkedBefore returns the group of a request, and the revision of its parked stream below which the request has all events.
func (s *groupsService) parkedBefore(options *persistent.ReplayParkedReq_Options) (g *consumerGroup, until int64, err error) {
	until = -1
	if stop, ok := options.GetStopAtOption().(*persistent.ReplayParkedReq_Options_StopAt); ok {
		if until = stop.StopAt; until < 0 {
			return nil, 0, invalid("stop_at is negative: it is the number of parked events, those replayed before included")
		}
	}
	if g, err = s.find(nameFromWire(options)); err != nil {
		return nil, 0, err
	}
	g.mu.Lock()
	halted := g.halted
	g.mu.Unlock()
	if halted != nil {
		return nil, 0, halted
	}
	parked, err := streamInfoOf(s.log, g.config.parkedStream())
	if err != nil || parked.SoftDeleted || parked.Tombstoned {
		return g, 0, err
	}
	if end := parked.Last + 1; until < 0 || until > end {
		until = end
	}
	return g, until, nil
}

// RestartSubsystem drops all consumers and reads configuration and checkpoints again.
func (s *groupsService) RestartSubsystem(ctx context.Context, _ *shared.Empty) (*shared.Empty, error) {
	done, err := s.changing(ctx)
	if err != nil {
		return nil, statusError(ctx, err)
	}
	defer done()
	s.stopAll(func(g *consumerGroup) error { return g.config.dropped() })
	s.load()
	s.mu.Lock()
	err = s.failed
	s.mu.Unlock()
	return &shared.Empty{}, statusError(ctx, err)
}

// GetInfo describes a group.
func (s *groupsService) GetInfo(ctx context.Context, req *persistent.GetInfoReq) (*persistent.GetInfoResp, error) {
	g, err := s.find(nameFromWire(req.GetOptions()))
	if err != nil {
		return nil, statusError(ctx, err)
	}
	info, err := g.info()
	return &persistent.GetInfoResp{SubscriptionInfo: info}, statusError(ctx, err)
}

// List describes the groups of a stream, of $all, or all groups.
func (s *groupsService) List(ctx context.Context, req *persistent.ListReq) (*persistent.ListResp, error) {
	of, all, err := listFromWire(req.GetOptions())
	if err != nil {
		return nil, statusError(ctx, err)
	}
	s.mu.Lock()
	var groups []*consumerGroup
	for _, g := range s.groups {
		if all || g.config.Stream == of {
			groups = append(groups, g)
		}
	}
	err = s.failed
	s.mu.Unlock()
	if err == nil && !all && len(groups) == 0 {
		err = missingGroup(of, "")
	}
	slices.SortFunc(groups, func(a, b *consumerGroup) int { return strings.Compare(a.config.id(), b.config.id()) })
	response := &persistent.ListResp{}
	for _, g := range groups {
		if err != nil {
			break
		}
		var info *persistent.SubscriptionInfo
		info, err = g.info()
		response.Subscriptions = append(response.Subscriptions, info)
	}
	if err != nil {
		return nil, statusError(ctx, err)
	}
	return response, nil
}

func streamInfoOf(log *eventlog.Log, stream string) (eventlog.StreamInfo, error) {
	view, err := log.View()
	if err != nil {
		return eventlog.StreamInfo{}, err
	}
	defer view.Close()
	return view.Stream(stream)
}
