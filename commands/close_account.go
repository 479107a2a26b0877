package commands

import (
	"context"
	"errors"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/token"
)

// CloseAccount ends the intent's account, and returns the position of the
// account's last event. From then on no credential of the account is accepted; what it has left is ended by Closing.
// An account that is closed stays so, without an error. It returns account.ErrNotFound
// or an error of Handle.
func CloseAccount(ctx context.Context, store Store, in Intent) (event.Position, error) {
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.Close{Account: in.Account}))
	if errors.Is(err, account.ErrClosed) {
		return at, nil
	}
	return at, err
}

// Held lists the parts of an account that do not end by themselves when it is closed.
type Held struct {
	Jobs     []string // ids of jobs that have not ended
	Sessions []string // names of live sessions
	Tokens   []string // ids of API tokens that were not revoked
}

// Holdings proposes what to end; the streams decide.
type Holdings interface {
	// Of returns what an account had at a position of the log, and may have had since. It waits until it knows; ErrUnavailable when
	// it cannot.
	Of(ctx context.Context, accountID string, at event.Position) (Held, error)
}

// People holds the data of accounts outside of the log: addresses, passwords, browser sessions, files.
type People interface {
	// Forget removes everything of an account, and the use of its tokens. It may be repeated. ErrUnavailable when it cannot now.
	Forget(ctx context.Context, accountID string, tokens []string) error
}

// Closing ends what closed accounts have left. Its methods may be repeated: a crash between any two of their appends is finished by the
// next call.
type Closing struct {
	Jobs     *Jobs
	Holdings Holdings
	People   People
	// EndGrants ends what OAuth clients may do for an account; nil: there are no such clients.
	EndGrants func(ctx context.Context, in Intent, accountID string) error
}

// EndAll ends everything that an account had when it was closed, at this position: jobs are cancelled, those that had not started with
// a refund; sessions, tokens and grants end; its address, its password and the files of its state vectors are forgotten. What the log says of its runs stays.
func (c *Closing) EndAll(ctx context.Context, in Intent, accountID string, at event.Position) error {
	held, err := c.Holdings.Of(ctx, accountID, at)
	if err != nil {
		return err
	}
	in.Account = accountID
	for _, id := range held.Jobs {
		if err := c.cancel(ctx, in, id); err != nil {
			return err
		}
	}
	for _, id := range held.Sessions {
		if _, _, _, err := ClearSession(ctx, c.Jobs.Store, in.withNewID(), id); err != nil {
			return err
		}
	}
	for _, id := range held.Tokens {
		if err := c.revoke(ctx, in, id); err != nil {
			return err
		}
	}
	if c.EndGrants != nil {
		if err := c.EndGrants(ctx, in, accountID); err != nil {
			return err
		}
	}
	return c.People.Forget(ctx, accountID, held.Tokens)
}

// EndJob cancels a job that was queued by a request which its account's closing overtook. The job of an open account goes on.
func (c *Closing) EndJob(ctx context.Context, in Intent, accountID, jobID string) error {
	return c.ifClosed(ctx, accountID, func() error { return c.cancel(ctx, in, jobID) })
}

// EndSession is EndJob of a session.
func (c *Closing) EndSession(ctx context.Context, in Intent, accountID, sessionID string) error {
	return c.ifClosed(ctx, accountID, func() error {
		_, _, _, err := ClearSession(ctx, c.Jobs.Store, in, sessionID)
		return err
	})
}

// EndToken is EndJob of a token.
func (c *Closing) EndToken(ctx context.Context, in Intent, accountID, tokenID string) error {
	return c.ifClosed(ctx, accountID, func() error { return c.revoke(ctx, in, tokenID) })
}

func (c *Closing) ifClosed(ctx context.Context, accountID string, end func() error) error {
	state, err := ReadAccount(ctx, c.Jobs.Store, accountID)
	if err != nil || !state.Closed {
		return err
	}
	return end()
}

func (c *Closing) cancel(ctx context.Context, in Intent, jobID string) error {
	_, err := c.Jobs.CancelJob(ctx, in.withNewID(), jobID)
	if errors.Is(err, job.ErrNotFound) {
		return nil
	}
	return err
}

func (c *Closing) revoke(ctx context.Context, in Intent, tokenID string) error {
	_, err := RevokeToken(ctx, c.Jobs.Store, in.withNewID(), tokenID)
	if errors.Is(err, token.ErrNotFound) {
		return nil
	}
	return err
}
