package writeapi

import (
	"reckon/commands"
	"reckon/domain/billing"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/domain/upload"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/passwords"
	"reckon/internal/payments"
)

// problems says, for each typed error of the write side, of which kind its problem is.
var problems = []httpkit.Mapping{
	{Err: commands.ErrExpressionRequired, Kind: httpkit.ExpressionRequired},
	{Err: commands.ErrInvalidSessionID, Kind: httpkit.InvalidSessionID},
	{Err: commands.ErrInvalidVerifyRequest, Kind: httpkit.VerifyInput},
	{Err: commands.ErrTooManySessions, Kind: httpkit.TooManySessions},
	{Err: commands.ErrSaturated, Kind: httpkit.Saturated},
	{Err: commands.ErrEngineLost, Kind: httpkit.Unavailable},
	{Err: receipt.ErrCannotSign, Kind: httpkit.Unavailable},
	{Err: session.ErrOwnedElsewhere, Kind: httpkit.Unavailable},
	{Err: commands.ErrSessionOwnerUnreached, Kind: httpkit.Unavailable},
	{Err: commands.ErrSessionOwnerAway, Kind: httpkit.Unavailable},
	{Err: job.ErrNotFound, Kind: httpkit.NoSuchJob},
	{Err: run.ErrNotFound, Kind: httpkit.NoSuchRun},
	{Err: grant.ErrNotFound, Kind: httpkit.NoSuchApp},
	{Err: token.ErrInvalidName, Kind: httpkit.InvalidRequest},
	{Err: token.ErrNotFound, Kind: httpkit.NoSuchToken},
	{Err: identity.ErrInvalidEmail, Kind: httpkit.InvalidRequest},
	{Err: identity.ErrInvalidPassword, Kind: httpkit.InvalidRequest},
	{Err: identity.ErrEmailTaken, Kind: httpkit.EmailTaken},
	{Err: identity.ErrWrongPassword, Kind: httpkit.WrongPassword},
	{Err: identity.ErrSignInNotFound, Kind: httpkit.NoSuchSignIn},
	{Err: passwords.ErrBusy, Kind: httpkit.Saturated},
	{Err: identity.ErrWrongCredentials, Kind: httpkit.InvalidCredentials},
	{Err: commands.ErrProofsNotOnPlan, Kind: httpkit.ProofsNotOnPlan},
	{Err: commands.ErrExportChoice, Kind: httpkit.ExportChoice},
	{Err: commands.ErrProofChoice, Kind: httpkit.ExportChoice},
	{Err: commands.ErrInlineExportTooLarge, Kind: httpkit.ExportTooLarge},
	{Err: commands.ErrInvalidSource, Kind: httpkit.InvalidSource},
	{Err: commands.ErrInvalidModule, Kind: httpkit.InvalidModule},
	{Err: upload.ErrNotFound, Kind: httpkit.NoSuchUpload},
	{Err: upload.ErrUploadUsed, Kind: httpkit.UploadUsed},
	{Err: payments.ErrUnauthentic, Kind: httpkit.InvalidSignature},
	{Err: payments.ErrUnreadable, Kind: httpkit.InvalidRequest},
	{Err: billing.ErrInvalid, Kind: httpkit.InvalidRequest},
	{Err: billing.ErrNoSuchInvoice, Kind: httpkit.PaymentRefused},
	{Err: billing.ErrAlreadyPaid, Kind: httpkit.PaymentRefused},
	{Err: billing.ErrVoided, Kind: httpkit.PaymentRefused},
	{Err: billing.ErrPaymentUsed, Kind: httpkit.PaymentRefused},
	{Err: billing.ErrOtherAmount, Kind: httpkit.PaymentRefused},
	{Err: commands.ErrUnavailable, Kind: httpkit.Unavailable},
}
