package main

import (
	"context"
	"errors"
	"fmt"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/internal/database"
	"reckon/internal/identity"
	"reckon/internal/statefiles"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/writeapi"
)

// newClosing ends what closed accounts have left. Whatever else an account can hold is ended here: OAuth grants are the field EndGrants.
func newClosing(jobs *commands.Jobs, models *projections.ReadModels, projector *projecting.Engine, people *identity.Store, states *statefiles.Folder) *commands.Closing {
	return &commands.Closing{
		Jobs: jobs, Holdings: holdings{models, projector}, People: forgetting{people, states},
		EndGrants: func(ctx context.Context, in commands.Intent, accountID string) error {
			in.Account = accountID
			if err := writeapi.EndConnections(ctx, jobs.Store, people, in, grant.AccountClosed); err != nil {
				return later(err)
			}
			return nil
		},
	}
}

// holdings reads what accounts hold in the read models.
type holdings struct {
	models    *projections.ReadModels
	projector *projecting.Engine
}

// Of is commands.Holdings.
func (h holdings) Of(ctx context.Context, accountID string, at event.Position) (held commands.Held, err error) {
	for _, name := range []string{h.models.Jobs.Projection().Name, h.models.Sessions.Projection().Name, h.models.Tokens.Projection().Name} {
		if err := h.projector.Wait(ctx, name, at); err != nil {
			return held, commands.Unanswered(ctx, fmt.Errorf("the read model %s is behind: %w", name, err))
		}
	}
	for _, status := range []job.Status{job.Queued, job.Running} {
		jobs, err := allPages(func(p projections.Page) ([]projections.JobRow, string, error) {
			return h.models.Jobs.List(ctx, accountID, projections.JobsQuery{Page: p, Status: status})
		})
		if err != nil {
			return held, later(err)
		}
		for _, row := range jobs {
			held.Jobs = append(held.Jobs, row.JobID)
		}
	}
	sessions, err := h.models.Sessions.List(ctx, accountID)
	if err != nil {
		return held, later(err)
	}
	for _, row := range sessions {
		held.Sessions = append(held.Sessions, row.SessionID)
	}
	tokens, err := tokensOf(ctx, h.models.Tokens, accountID)
	if err != nil {
		return held, later(err)
	}
	for _, row := range tokens {
		held.Tokens = append(held.Tokens, row.TokenID)
	}
	return held, nil
}

// allPages reads every page of a list.
func allPages[R any](read func(projections.Page) ([]R, string, error)) (all []R, err error) {
	for page := (projections.Page{Limit: projections.MaxLimit}); ; {
		rows, next, err := read(page)
		if err != nil {
			return nil, err
		}
		if all = append(all, rows...); next == "" {
			return all, nil
		}
		page.Before = next
	}
}

func tokensOf(ctx context.Context, tokens *projections.Tokens, accountID string) ([]projections.TokenRow, error) {
	return allPages(func(p projections.Page) ([]projections.TokenRow, string, error) {
		return tokens.List(ctx, accountID, p)
	})
}

// forgetting is the identity tables and the files of state vectors as commands.People.
type forgetting struct {
	people *identity.Store
	states *statefiles.Folder
}

// Forget is commands.People.
func (f forgetting) Forget(ctx context.Context, accountID string, tokens []string) error {
	if err := f.states.Forget(accountID); err != nil {
		return err
	}
	return later(f.people.Forget(ctx, accountID, tokens))
}

// later makes the error of a database that is away one to wait for.
func later(err error) error {
	if _, away := errors.AsType[*database.UnavailableError](err); away {
		return fmt.Errorf("%w: %w", commands.ErrUnavailable, err)
	}
	return err
}
