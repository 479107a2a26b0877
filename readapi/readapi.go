package readapi

import (
	"context"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/receipt"
	"reckon/domain/reference"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/statefiles"
	"reckon/internal/view"
	"reckon/projections"
)

//go:generate go run reckon/internal/lists

// Services are what the handlers read from.
type Services struct {
	Streams  func(ctx context.Context, stream string) ([]event.Recorded, error) // whole, oldest first
	Blobs    event.BlobReader
	States   *statefiles.Folder
	Models   *projections.ReadModels
	JobView  view.Jobs        // shared with writeapi
	JobKinds job.Declarations // what a job was submitted with is answered by its kind's
	// TokenUse is the UTC day (YYYY-MM-DD) each token was last used on.
	TokenUse func(ctx context.Context, tokenIDs []string) (map[string]string, error)

	// Grants are an account's grants to OAuth clients, newest first, also such as are not in force any more.
	Grants func(ctx context.Context, account string) ([]identity.OAuthGrant, error)
	// EmailOf is the address of an account; empty: it has none.
	EmailOf func(ctx context.Context, account string) (string, error)
	// SignIns are an account's browser sessions, newest first; secret is that of the caller's.
	SignIns func(ctx context.Context, account, secret string) ([]identity.SignedIn, error)

	// Wait returns nil once a projection has applied everything up to a position.
	Wait func(ctx context.Context, projection string, p event.Position) error
	// IsReady tells whether a projection holds all that the log held when it began to be built.
	IsReady func(projection string) bool
	Writes  *httpkit.AccountWrites // shared with writeapi
	LogID   string

	Plans  account.Plans
	Rules  identity.Rules
	Signer func() (*receipt.Signer, error) // the key that seals now; nil: a deployment without a key; receipt.ErrCannotSign
	Now    func() time.Time

	SessionIdle time.Duration // after which a session expires
	// Busy tells whether a session's worker is evaluating, where this process can know.
	Busy func(account, sessionID string, epoch int) bool

	Reference    *reference.Reference // the function reference
	Transparency Transparency

	Health    Health
	Build     string
	PublicURL string // scheme and host clients use; empty: addresses are served as paths

	Tools     []Tool   // of /mcp, for agents.md
	Revisions []string // of the Model Context Protocol that /mcp serves
}

// Register adds every route to the API. The description of the API is served
// from here, so that it must be registered last.
func (s Services) Register(api *httpkit.API) error {
	s.addRoutes(api)
	return s.serveDocs(api)
}

// runIDInput bounds a run id to the integers every JSON reader keeps exactly.
type runIDInput struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"run_id of an evaluation of yours"`
}

// Freshness is the input that every list takes. It is exported because huma reads no field of an unexported embedded struct.
type Freshness struct {
	Token string `header:"Consistency-Token" describedPattern:"^[A-Za-z0-9_-]+$" doc:"As a write answered it: the list then includes that write, or says Consistency: stale"`
}

// Page is what every list that is paged by next_before takes; exported as Freshness is.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most rows to answer"`
	Before string `query:"before" maxLength:"32" describedPattern:"^[0-9]{1,18}$" doc:"next_before of the page before; left out for the newest rows"`
}

func (p Page) asked() projections.Page { return projections.Page{Limit: p.Limit, Before: p.Before} }

// maxStaleWait is the longest time that a list waits until its read model has applied a write.
const maxStaleWait = 500 * time.Millisecond

// waitUntilApplied waits, for at most maxStaleWait, until the projection has applied
// the caller's last write known to this process and the one that token names. An
// answer that was given before then, or while the projection is being built, has the
// header Consistency: stale. Its errors
// are a malformed token and the end of the context.
func (s Services) waitUntilApplied(ctx context.Context, projection, token string) error {
	target := s.Writes.LastWrite(auth.PrincipalOf(ctx).Account)
	fresh := s.IsReady(projection)
	if token != "" {
		asked, err := httpkit.ParseConsistencyToken(token)
		switch {
		case err != nil:
			return err
		case asked.Log != s.LogID:
			fresh = false // positions of another log cannot be compared with this one's
		case target.Less(asked.Position):
			target = asked.Position
		}
	}
	if target != (event.Position{}) {
		bounded, cancel := context.WithTimeout(ctx, maxStaleWait)
		defer cancel()
		fresh = s.Wait(bounded, projection, target) == nil && fresh
	}
	if !fresh {
		httpkit.AnswerHeader(ctx).Set(httpkit.ConsistencyHeader, httpkit.Stale)
	}
	return ctx.Err()
}
