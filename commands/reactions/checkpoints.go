package reactions

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/receipt"
	"reckon/domain/transparency"
)

// Witnesses cosign checkpoints.
type Witnesses interface {
	// Cosign returns what those say that have not cosigned the checkpoint of a state yet, in bounded time. The error says which failed; what
	// the others said holds all the same.
	Cosign(ctx context.Context, state transparency.State) (transparency.Answers, error)
}

// Checkpoints signs a checkpoint of the transparency log once per Interval while there are leaves that none covers, and has it
// cosigned. Several processes may do so at once, and a process may die at any moment. All fields but Witnesses are required.
type Checkpoints struct {
	Commands  *commands.Checkpoints
	Witnesses Witnesses // nil: there are none
	Interval  time.Duration
	Clock     commands.Clock
	Logger    *slog.Logger
	Build     string // revision of this binary, for metadata

	trouble    atomic.Pointer[string]
	conflicted atomic.Bool
	behind     atomic.Bool
}

// Conflicted tells whether a witness that is heeded contradicted the last checkpoint when it was looked at.
func (c *Checkpoints) Conflicted() bool { return c.conflicted.Load() }

// Behind tells whether witnesses could not be asked for the last checkpoint yet, because the tables lag behind the log or are away: that is no trouble of
// a witness.
func (c *Checkpoints) Behind() bool { return c.behind.Load() }

// Trouble says, to anyone, why the last checkpoint was not signed or not cosigned; empty while all is well, and before the first look.
func (c *Checkpoints) Trouble() string {
	if said := c.trouble.Load(); said != nil {
		return *said
	}
	return ""
}

// describe returns Trouble's text for an error, which may name machines.
func describe(err error) string {
	var (
		rolledBack *commands.RolledBackError
		forgotten  *commands.ForgottenTreeError
		conflict   *transparency.ConflictError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &conflict):
		return "no checkpoint is signed: a witness has cosigned another history of this log, or a later state of it; the log of the server says what to do"
	case errors.As(err, &rolledBack):
		return "no checkpoint is signed: the keys have signed a tree that this log does not lead to; the log of the server says what to do"
	case errors.As(err, &forgotten):
		return "no checkpoint is signed: what was signed last is not known, because the file signed-tree is missing; the log of the server says what to do"
	case errors.Is(err, receipt.ErrCannotSign):
		return "no checkpoint is signed: there is no key to sign with"
	}
	return "the last checkpoint could not be signed, or a witness did not cosign it; it is tried again, and the log of the server says why"
}

// Run signs and has cosigned until the context ends, and then returns nil.
func (c *Checkpoints) Run(ctx context.Context) error {
	failed := ""
	for {
		more, err := c.Look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		said := describe(err)
		c.trouble.Store(&said)
		_, conflicted := errors.AsType[*transparency.ConflictError](err)
		c.conflicted.Store(conflicted)
		switch {
		case err == nil:
			failed = ""
		case conflicted && err.Error() != failed:
			failed = err.Error()
			c.Logger.Error("a witness contradicts the transparency log: no checkpoint is signed any more", "error", err)
		case errors.Is(err, receipt.ErrCannotSign): // the signer of receipts logs it
		case err.Error() != failed:
			failed = err.Error()
			c.Logger.Warn("the last checkpoint could not be signed, or a witness did not cosign it; trying again", "error", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.Interval):
		}
	}
}

// Look signs what is to be signed and asks the witnesses that have not cosigned the last checkpoint. more tells that leaves are left.
func (c *Checkpoints) Look(ctx context.Context) (more bool, err error) {
	signing, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	more, err = c.Commands.Sign(signing, c.intent())
	if err != nil || more || c.Witnesses == nil {
		return more, err
	}
	state, _, err := c.Commands.Last(signing)
	if err != nil || state.Last.Size == 0 {
		return false, err
	}
	answers, failed := c.Witnesses.Cosign(ctx, state)
	c.behind.Store(answers.Behind != nil)
	if len(answers.Lines) > 0 {
		failed = errors.Join(failed, c.Commands.Cosign(ctx, c.intent(), state.Last, answers.Lines))
	}
	for _, conflict := range answers.Conflicts {
		failed = errors.Join(failed, c.Commands.Contradict(ctx, c.intent(), conflict))
	}
	return len(answers.Conflicts) > 0 && failed == nil, failed // the next look refuses to sign, if the conflict is with the last checkpoint
}

// signTimeout bounds one look at the log. What was read of it when the time is over is kept for the next.
const signTimeout = 5 * time.Minute

func (c *Checkpoints) intent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: c.Clock.Now(), Actor: "signer:transparency", Build: c.Build}
}
