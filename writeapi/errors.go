package writeapi

import (
	"reckon/commands"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
)

// problems is the one table of the write side's typed errors.
var problems = []httpkit.Mapping{
	{Err: commands.ErrExpressionRequired, Kind: httpkit.ExpressionRequired},
	{Err: commands.ErrBadSessionID, Kind: httpkit.InvalidSessionID},
	{Err: commands.ErrVerifyForm, Kind: httpkit.VerifyInput},
	{Err: commands.ErrTooManySessions, Kind: httpkit.TooManySessions},
	{Err: commands.ErrSaturated, Kind: httpkit.Saturated},
	{Err: session.ErrOwned, Kind: httpkit.Unavailable},
	{Err: job.ErrNone, Kind: httpkit.NoSuchJob},
	{Err: run.ErrNone, Kind: httpkit.NoSuchRun},
	{Err: token.ErrNone, Kind: httpkit.NoSuchToken},
	{Err: identity.ErrEmail, Kind: httpkit.InvalidRequest},
	{Err: identity.ErrPassword, Kind: httpkit.InvalidRequest},
	{Err: identity.ErrEmailTaken, Kind: httpkit.EmailTaken},
	{Err: identity.ErrCredentials, Kind: httpkit.InvalidCredentials},
	{Err: commands.ErrUnavailable, Kind: httpkit.Unavailable},
}
