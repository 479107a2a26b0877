package httpkit

import "net/http"

// The kinds of problem that the service answers, beside those that kinds of job
// declare. A code, once published, keeps its meaning; docs/errors.md is generated
// from both.
var (
	InvalidRequest     = Kind{"invalid_request", http.StatusBadRequest, "The request is not valid", "A field or parameter is missing, of the wrong type or out of range; `errors` lists each one. Correct it and send again."}
	UnknownField       = Kind{"unknown_field", http.StatusBadRequest, "The body has a field nobody knows", "Field names are exact, upper and lower case included. Remove or rename the field that `detail` names."}
	InvalidJSON        = Kind{"invalid_json", http.StatusBadRequest, "The body is not acceptable JSON", "One JSON value, UTF-8, no lone surrogates, no U+0000, no repeated keys, not deeper than 64 levels, nothing after it."}
	BodyRequired       = Kind{"body_required", http.StatusBadRequest, "The request needs a body", "Send a JSON object."}
	InvalidParameter   = Kind{"invalid_parameter", http.StatusBadRequest, "A query or path parameter is not valid", "It is unknown, repeated, not UTF-8 or out of range; `errors` lists each one."}
	AmbiguousRequest   = Kind{"ambiguous_request", http.StatusBadRequest, "Where the request ends is not certain", "A proxy and the service could see its end in different places, so that one request could carry another. Send one Content-Length or chunked, not both, and lines that end with CR LF. The connection is closed."}
	MalformedRequest   = Kind{"malformed_request", http.StatusBadRequest, "The request is not HTTP/1.1", "Its first line or a header cannot be read: no Host or two, a control character in a value, a name that is none. Use an HTTP library. The connection is closed."}
	UnsupportedVersion = Kind{"unsupported_version", http.StatusBadRequest, "This API version is not served", "Leave the API-Version header out or send the version that answers carry."}
	ExpressionRequired = Kind{"expression_required", http.StatusBadRequest, "An expression is needed", "Send it as a non-empty string in the field `expression`."}
	TooComplex         = Kind{"expression_too_complex", http.StatusBadRequest, "The expression is too large or too deeply nested", "`detail` gives the bound. Split the work, or define parts in a session."}
	InvalidSessionID   = Kind{"invalid_session_id", http.StatusBadRequest, "The session id is not valid", "A session id is your own name for the session: 1 to 64 of A-Z a-z 0-9 . _ - and not . or .."}
	VerifyInput        = Kind{"verify_input", http.StatusBadRequest, "Send run_id, or code and result", "Either `run_id` alone, or `code` and `result` together."}
	LocateInput        = Kind{"locate_input", http.StatusBadRequest, "Send run_id or job_id", "Exactly one of the query parameters `run_id` and `job_id`."}

	UnknownJobKind  = Kind{"unknown_job_kind", http.StatusBadRequest, "There is no such kind of job", "`detail` lists the kinds that can be submitted here. No slot was spent."}
	TimeoutOverPlan = Kind{"timeout_over_plan", http.StatusBadRequest, "The job asks for more time than the plan gives", "`detail` gives the plan's budget; leave `timeout_ms` out to get all of it. No slot was spent."}

	InvalidExport       = Kind{"invalid_export", http.StatusBadRequest, "The proof export cannot be read", "`detail` names the line; the message in `errors` is the stable name of the reason (`bad_meta`, `format_window`, `blank_line`, `bad_json`, …). Send what lean4export writes, format 3.1. Nothing was stored and no slot was spent."}
	ExportOverBudget    = Kind{"export_over_budget", http.StatusBadRequest, "The proof export is larger than the plan takes", "`detail` gives both sizes. Export fewer declarations or change the plan."}
	ExportTooLarge      = Kind{"export_too_large", http.StatusBadRequest, "The proof export is too large for a JSON body", "Upload it with POST /api/proofs and send its `upload_id`."}
	ExportChoice        = Kind{"export_choice", http.StatusBadRequest, "Send one export", "Exactly one of the fields that `detail` names."}
	UnknownUpload       = Kind{"unknown_upload", http.StatusBadRequest, "The upload is not yours to validate", "Your account has no upload with this id."}
	InvalidDeclarations = Kind{"invalid_declarations", http.StatusBadRequest, "The names of declarations are not valid", "1 to 32 names as exported, none of them twice. No slot was spent."}
	InvalidSource       = Kind{"invalid_source", http.StatusBadRequest, "There is no source to elaborate, or too much", "`source` is 1 to 65536 bytes of UTF-8."}
	InvalidModule       = Kind{"invalid_module", http.StatusBadRequest, "The module name is not valid", "A dotted name of ASCII identifiers outside Lean's own libraries, like Service or My.Proofs."}
	ElaborationFailed   = Kind{"elaboration_failed", http.StatusBadRequest, "The source has errors", "`errors` lists Lean's messages. POST /api/proofs/elaborate shows them all and costs no slot either."}

	Unauthenticated    = Kind{"unauthenticated", http.StatusUnauthorized, "A credential is needed", "Send `Authorization: Bearer <API token>` or sign in."}
	InvalidToken       = Kind{"invalid_token", http.StatusUnauthorized, "The credential is not valid", "The token is malformed, unknown, expired or revoked. Mint another one."}
	InvalidCredentials = Kind{"invalid_credentials", http.StatusUnauthorized, "Wrong email or password", "Check both; an address nobody registered is answered in the same way."}

	InvalidSignature = Kind{"invalid_signature", http.StatusUnauthorized, "The call is not signed", "What calls the webhook signs each call, at the time of the call, with the secret that both know. See docs/billing.md."}

	FirstPartyOnly    = Kind{"first_party_only", http.StatusForbidden, "This needs another credential", "The route is closed to this kind of credential: sign in, or use what `detail` names."}
	InsufficientScope = Kind{"insufficient_scope", http.StatusForbidden, "The token may not do this", "The token was given scopes, and the one that `detail` and WWW-Authenticate name is not among them. Use a token that has it."}
	CrossOrigin       = Kind{"cross_origin", http.StatusForbidden, "Cross-origin write refused", "A browser sent this from another site without an Authorization header. Use an API token."}
	WrongPassword     = Kind{"wrong_password", http.StatusForbidden, "The password is not the account's", "You are signed in still. Attempts are limited: X-RateLimit-Remaining says how many are left."}
	ExpressionDenied  = Kind{"expression_denied", http.StatusForbidden, "The expression uses something that is not permitted", "`detail` names the function. Nothing was evaluated or logged."}
	NotMathematics    = Kind{"not_mathematics", http.StatusForbidden, "Without an account only mathematics is evaluated", "`head` names what may not be used and `allowlist` lists what may. Nothing was evaluated and the allowance is as it was."}
	ProofsNotOnPlan   = Kind{"proofs_not_on_plan", http.StatusForbidden, "The plan has no proof checking", "See /billing/plans for those that have."}

	NoSuchRoute   = Kind{"no_such_route", http.StatusNotFound, "There is nothing at this address", "See /openapi.json for the addresses of the API; pages, OAuth and /mcp are not in it."}
	AnonymousOff  = Kind{"anonymous_off", http.StatusNotFound, "Evaluation without an account is switched off", "The operator of this service answers evaluations of accounts only: open one, or use another deployment."}
	NoSuchRun     = Kind{"no_such_run", http.StatusNotFound, "No such run", "Your account has no run with this id."}
	NoReceipt     = Kind{"no_receipt", http.StatusNotFound, "The run has no receipt", "Only a run that ended with an answer has one."}
	NoPlot        = Kind{"no_plot", http.StatusNotFound, "The run has no plot", "No graphic was stored for this run."}
	NoSuchToken   = Kind{"no_such_token", http.StatusNotFound, "No such token", "Your account has no token with this id."}
	NoSuchSignIn  = Kind{"no_such_sign_in", http.StatusNotFound, "No such sign-in", "Your account has no browser session with this id: it may have ended."}
	NoSuchJob     = Kind{"no_such_job", http.StatusNotFound, "No such job", "Your account has no job with this id."}
	NoStatevector = Kind{"no_statevector", http.StatusNotFound, "The job has no file of a state vector", "Only a circuit that asked for one with `npy` and has succeeded has one, and none that the server could not write: `detail` says which."}
	NoSuchApp     = Kind{"no_such_connection", http.StatusNotFound, "No such connected app", "Your account has no connected app with this id."}
	NoSuchUpload  = Kind{"no_such_upload", http.StatusNotFound, "No such upload", "Your account has no upload with this id."}
	NoMCPSession  = Kind{"no_such_mcp_session", http.StatusNotFound, "No such MCP session", "The header `Mcp-Session-Id` is none that this service gave. Initialize again."}
	NoSuchSymbol  = Kind{"no_such_symbol", http.StatusNotFound, "No such symbol", "The function reference has no symbol and no task of this name. `suggestions` has those that it resembles; GET /api/docs/search finds others."}
	NoCertificate = Kind{"no_such_certificate", http.StatusNotFound, "No such certificate", "There is no certificate with this id, or it is not your account's."}
	NoSuchBurst   = Kind{"no_such_burst", http.StatusNotFound, "No such burst", "Your account has no burst with this id, or none any more: the id changes when an earlier activity becomes known. GET /api/bursts/locate finds a burst by a run or a job."}
	NoTile        = Kind{"no_such_tile", http.StatusNotFound, "No such tile", "The tree of the last checkpoint has no tile, or no bundle of entries, of this level, index and width: ask for what GET /transparency/checkpoint has (C2SP tlog-tiles)."}
	MethodRefused = Kind{"method_not_allowed", http.StatusMethodNotAllowed, "The address does not take this method", "The Allow header lists those it takes."}

	BudgetExhausted   = Kind{"budget_exhausted", http.StatusRequestTimeout, "The compute budget is exhausted", "The evaluation ran past the plan's budget and was stopped. Simplify it or submit it as a job. `run_id` names the logged run. In a session `session_ended` says that its variables are gone."}
	BodyTimeout       = Kind{"body_timeout", http.StatusRequestTimeout, "The body did not arrive in time", "Send the request again."}
	StateForgotten    = Kind{"statevector_forgotten", http.StatusGone, "The file of the state vector is not kept any more", "Files are kept for a time, and an account's within a bound: fetch them soon. Submit the same circuit again for the same file; its SHA-256 is in the job's result for ever."}
	EmailTaken        = Kind{"email_taken", http.StatusConflict, "The address is already registered", "Sign in instead."}
	PaymentRefused    = Kind{"payment_refused", http.StatusConflict, "The payment does not fit", "There is no such invoice, it is void or paid otherwise, or the amount is another: `detail` says which. Nothing was noted as paid: an operator looks at it, and gives back what was not owed."}
	TooManySessions   = Kind{"too_many_sessions", http.StatusConflict, "The plan's live sessions are all in use", "Clear one with DELETE /api/sessions/{id} or wait until one expires."}
	UploadUsed        = Kind{"upload_used", http.StatusConflict, "The upload is another job's", "One upload is checked by one job. Upload the export again for another check. The slot was not spent, or was given back."}
	OtherAccount      = Kind{"other_account", http.StatusConflict, "Somebody else is signed in", "A page's form, and an upload with `Reckon-Account`, are done for the account that they were made for only. Nothing was done: load the page again, or sign in as that account."}
	ConditionFailed   = Kind{"condition_failed", http.StatusPreconditionFailed, "The file is not the one that is asked for", "If-Match names none of its ETags, or it was written after If-Unmodified-Since. Leave the condition out to have the file as it is; its ETag is in the answer."}
	TooLarge          = Kind{"body_too_large", http.StatusRequestEntityTooLarge, "The body is too large", "`detail` gives the limit."}
	ExpressionTooLong = Kind{"expression_too_long", http.StatusRequestEntityTooLarge, "The expression is too long without an account", "`detail` gives its length and the limit, in bytes of UTF-8. Nothing was evaluated and the allowance is as it was."}
	NotJSON           = Kind{"unsupported_media_type", http.StatusUnsupportedMediaType, "The body must be JSON", "Send `Content-Type: application/json`, UTF-8, without Content-Encoding."}
	NotAnExport       = Kind{"unsupported_export_type", http.StatusUnsupportedMediaType, "The body must be a proof export", "Send `Content-Type: application/x-ndjson`, or `application/gzip` with `Content-Encoding: gzip`."}
	ExpectationFailed = Kind{"expectation_failed", http.StatusExpectationFailed, "The header Expect asks for something unknown", "Leave it out, or send `Expect: 100-continue`. The connection is closed."}
	RangeRefused      = Kind{"range_not_satisfiable", http.StatusRequestedRangeNotSatisfiable, "The file has no such bytes", "Range asks for bytes beyond its end, or is not valid. Content-Range in the answer says how many bytes there are; without Range the whole file is answered."}
	SyntaxError       = Kind{"syntax_error", http.StatusUnprocessableEntity, "The text is not in the language", "`detail` says what is wrong, where, and shows the place. POST /api/jobs answers it with 400, submits nothing and spends no slot; elsewhere `run_id` names the logged run."}
	EngineRefused     = Kind{"engine_refused", http.StatusUnprocessableEntity, "The engine does not evaluate this", "`detail` is the engine's reason. `run_id` names the logged run."}
	OutputTooLarge    = Kind{"output_too_large", http.StatusUnprocessableEntity, "The result or what was printed is too large", "`detail` gives the limit. End the line with ; to compute without showing the result, ask for a part of it, or print less. `run_id` names the logged run."}
	EngineQuit        = Kind{"engine_quit", http.StatusUnprocessableEntity, "The expression ended its engine process", "Quit and Exit do. `run_id` names the logged run."}
	EngineCrashed     = Kind{"engine_crashed", http.StatusUnprocessableEntity, "The engine process died", "The expression made it fail or run out of memory; other evaluations are not affected. `run_id` names the logged run."}
	SessionClosed     = Kind{"session_closed", http.StatusUnprocessableEntity, "The session was cleared meanwhile", "Somebody cleared the session while the expression was evaluated in it. `run_id` names the logged run."}
	Cancelled         = Kind{"cancelled", http.StatusUnprocessableEntity, "Nobody waited for the answer any more", "Whoever asked closed the connection, or cancelled the call. `run_id` names the run that was logged, if one was; whether anything else was written is unknown: reads will tell."}
	HeadersTooLarge   = Kind{"headers_too_large", http.StatusRequestHeaderFieldsTooLarge, "The headers are too large", "`detail` gives the limit for the request line and all headers together. The connection is closed."}
	RateLimited       = Kind{"rate_limited", http.StatusTooManyRequests, "Too many requests", "Wait for the seconds in Retry-After. X-RateLimit-Limit, -Remaining and -Reset are on every limited answer."}
	TooMany           = Kind{"too_many_evaluations", http.StatusTooManyRequests, "The plan's evaluations at once are all in use", "Wait until one of your evaluations or checks has ended: Retry-After is when the oldest is over at the latest. Nothing was logged, and it does not count against the limit per minute."}
	AllowanceSpent    = Kind{"daily_allowance_spent", http.StatusTooManyRequests, "The day's jobs are used up", "All kinds of job share one allowance per UTC day. Wait for the seconds in Retry-After (it is renewed at 00:00 UTC), or cancel a job that has not started: its slot is given back."}
	Elaborating       = Kind{"elaboration_in_flight", http.StatusTooManyRequests, "An elaboration of your account is in flight", "One at a time. Wait for its answer."}

	Internal        = Kind{"internal", http.StatusInternalServerError, "Something went wrong", "It is our fault. Give the request_id when you report it."}
	UnknownCoding   = Kind{"unknown_transfer_coding", http.StatusNotImplemented, "The Transfer-Encoding is not known", "Send `Transfer-Encoding: chunked`, or a Content-Length. The connection is closed."}
	UnsupportedHTTP = Kind{"unsupported_http_version", http.StatusHTTPVersionNotSupported, "This version of HTTP is not served", "Send HTTP/1.1; a proxy in front may serve others. The connection is closed."}
	Saturated       = Kind{"saturated", http.StatusServiceUnavailable, "The service is at its limit", "No worker became free in time, or too many passwords wait to be checked. Nothing was logged, and it does not count against the limit per minute. Retry-After is when a worker comes free at the latest."}
	Unavailable     = Kind{"unavailable", http.StatusServiceUnavailable, "A part of the service cannot be reached", "Try again after Retry-After. Whether a write happened is unknown: reads will tell."}
	NotYetLogged    = Kind{"not_yet_in_transparency_log", http.StatusServiceUnavailable, "No checkpoint covers it yet", "What is sealed is in the transparency log some seconds later. Try again after Retry-After."}
	NoElaboration   = Kind{"no_elaboration", http.StatusServiceUnavailable, "There is no elaboration service", "This deployment has none, or it does not respond. Elaborate and export with your own toolchain and upload the export."}
)

// Kinds lists those above in the order of docs/errors.md.
func Kinds() []Kind {
	return []Kind{
		InvalidRequest, UnknownField, InvalidJSON, BodyRequired, InvalidParameter, AmbiguousRequest, MalformedRequest, UnsupportedVersion, ExpressionRequired, TooComplex, InvalidSessionID, VerifyInput, LocateInput,
		UnknownJobKind, TimeoutOverPlan,
		InvalidExport, ExportOverBudget, ExportTooLarge, ExportChoice, UnknownUpload, InvalidDeclarations, InvalidSource, InvalidModule, ElaborationFailed,
		Unauthenticated, InvalidToken, InvalidCredentials, InvalidSignature,
		FirstPartyOnly, InsufficientScope, CrossOrigin, WrongPassword, ExpressionDenied, NotMathematics, ProofsNotOnPlan,
		NoSuchRoute, AnonymousOff, NoSuchRun, NoReceipt, NoPlot, NoSuchToken, NoSuchSignIn, NoSuchApp, NoSuchJob, NoStatevector, NoSuchUpload, NoMCPSession, NoSuchSymbol, NoCertificate, NoSuchBurst, NoTile, MethodRefused,
		BudgetExhausted, BodyTimeout, EmailTaken, PaymentRefused, TooManySessions, UploadUsed, OtherAccount, StateForgotten, ConditionFailed, TooLarge, ExpressionTooLong, NotJSON, NotAnExport, RangeRefused, ExpectationFailed, SyntaxError, EngineRefused, OutputTooLarge, EngineQuit, EngineCrashed, SessionClosed, Cancelled, HeadersTooLarge, RateLimited, TooMany, AllowanceSpent, Elaborating,
		Internal, UnknownCoding, Saturated, Unavailable, NotYetLogged, NoElaboration, UnsupportedHTTP,
	}
}
