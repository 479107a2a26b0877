package test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const limitsPage = "../docs/limits.md"

// limit is one bound of docs/limits.md. Its value is read from the source.
type limit struct {
	what    string
	pkg     string // folder
	name    string // of the constant
	unit    string // bytes, time, or what is counted
	answer  string // what comes beyond it
	subject string // heading of the page
}

var limits = []limit{
	{"body of a JSON request", "internal/httpkit", "MaxJSONBytes", "bytes", "413 `body_too_large`", "Requests"},
	{"the same without a credential", "internal/httpkit", "maxPublicBytes", "bytes", "413 `body_too_large`", "Requests"},
	{"nesting of JSON", "internal/httpkit", "maxJSONDepth", "levels", "400 `invalid_json`", "Requests"},
	{"connections of one listener, within its share of the open files: the API's a quarter, one for operators or other processes a 32nd ([node.md](node.md#open-files))", "internal/httpserver", "MaxConnections", "connections", "wait to be accepted", "Requests"},
	{"all headers of a request", "internal/httpserver", "MaxHeaderBytes", "bytes", "431", "Requests"},
	{"rate windows of client addresses, and of e-mail addresses, at a time", "internal/identity", "windowsOfStrangers", "windows", "two addresses share one", "Requests"},
	{"`User-Agent` kept with a run", "internal/httpkit", "maxAgentBytes", "bytes", "cut", "Requests"},
	{"browsers signed in to one account", "internal/identity", "maxSignIns", "sign-ins", "the oldest is signed out", "Requests"},
	{"passwords that wait to be hashed, for each core", "internal/passwords", "waitingPerCore", "passwords", "503 `saturated`", "Requests"},
	{"`idempotency_key`", "writeapi", "maxIdempotencyKeyBytes", "bytes", "400 `invalid_request`", "Requests"},
	{"`wait_ms` of a submission (of a long poll: 400)", "writeapi", "maxWait", "time", "taken as the limit", "Requests"},
	{"expression without an account", "commands", "MaxAnonymousBytes", "bytes", "413 `expression_too_long`", "Evaluation"},
	{"budget of an evaluation without an account; half of the first plan's where that is less", "writeapi", "maxAnonymousBudget", "time", "408 `budget_exhausted`", "Evaluation"},
	{"text of an expression", "domain/expression", "MaxBytes", "bytes", "400 `expression_too_complex`", "Evaluation"},
	{"words of an expression", "domain/expression", "MaxTokens", "tokens", "400 `expression_too_complex`", "Evaluation"},
	{"nesting of an expression", "domain/expression", "MaxDepth", "levels", "400 `expression_too_complex`", "Evaluation"},
	{"name of a session", "domain/session", "MaxIDBytes", "bytes", "400 `invalid_session_id`", "Evaluation"},
	{"warnings kept of a run", "commands", "maxWarnings", "warnings", "the rest is left out", "Evaluation"},
	{"one warning", "commands", "maxWarningBytes", "bytes", "cut", "Evaluation"},
	{"text kept inside an event", "domain/event", "MaxInlineBytes", "bytes", "kept as a blob", "Evaluation"},
	{"tree that a check takes", "domain/verification", "MaxNodes", "nodes", "no verdict", "Evaluation"},
	{"nesting that a check takes", "domain/verification", "MaxDepth", "levels", "no verdict", "Evaluation"},
	{"solutions that a check takes", "domain/verification", "MaxSolutions", "solutions", "no verdict", "Evaluation"},
	{"one number that a check takes", "domain/verification", "MaxDigits", "digits", "no verdict", "Evaluation"},
	{"answer that the pages show as a formula", "domain/mathml", "MaxTextBytes", "bytes", "shown as text alone", "Evaluation"},
	{"atoms and calls of one", "domain/mathml", "MaxNodes", "nodes", "shown as text alone", "Evaluation"},
	{"nesting of one", "domain/mathml", "MaxLevels", "levels", "shown as text alone", "Evaluation"},
	{"cells of a session's notebook that the pages show again", "readapi/workbench", "notebookCells", "cells", "the newest", "Evaluation"},
	{"text searched for in history", "projections", "HistoryMaxQueryRunes", "characters", "400 `invalid_parameter`", "Lists"},
	{"result as history shows it; the receipt has it whole", "projections", "ResultBytes", "bytes", "cut, `result_truncated`", "Lists"},
	{"texts on a page of history or of certificates with more than one row", "projections", "maxPageBytes", "bytes", "the page ends early, with `next_before`", "Lists"},
	{"`offset` of history", "projections", "HistoryMaxOffset", "rows", "400 `invalid_parameter`: go on with `before`", "Lists"},
	{"runs in which a page of history looks for a text without trigrams", "projections", "HistoryScannedRuns", "runs", "the page ends there, `search_truncated`, with `next_before`", "Lists"},
	{"days that a list of bursts covers", "projections", "BurstDays", "days", "older bursts are not listed; locate finds them", "Lists"},
	{"activities that a list of bursts covers", "projections", "BurstActivities", "activities", "`truncated`: the list begins with the oldest of them", "Lists"},
	{"label of an activity", "domain/burst", "LabelBytes", "bytes", "cut", "Lists"},
	{"bursts in a drawing of `reckon bursts`", "domain/burst", "MaxDrawnBursts", "bursts", "the newest are drawn, and their number is said", "Lists"},
	{"agents in a drawing of `reckon bursts`", "domain/burst", "MaxDrawnAgents", "agents", "those of the newest bursts are drawn", "Lists"},
	{"page of any list", "projections", "MaxLimit", "rows", "400 `invalid_parameter`", "Lists"},
	{"expression that the address of a page brings along", "readapi/workbench", "maxPrefilled", "bytes", "the form stays empty, and the page says so", "Lists"},
	{"attempts of a job that its runners abandon", "domain/job", "MaxAbandoned", "attempts", "`lost`", "Jobs"},
	{"qubits of a circuit by state vector, whatever the plan", "domain/circuit", "MaxQubits", "qubits", "400 `malformed_circuit`", "Jobs"},
	{"qubits of a circuit by a method that has no state vector", "domain/circuit", "MaxCliffordQubits", "qubits", "refused", "Jobs"},
	{"states of a circuit by `sparse` or `mps`", "domain/circuit", "maxWideBytes", "bytes", "the job fails, and says how many amplitudes or which bond it reached", "Jobs"},
	{"rounds of one loop of a circuit", "domain/circuit", "MaxRounds", "rounds", "400 `malformed_circuit`", "Jobs"},
	{"circuit that the pages draw while it is written", "readapi/workbench", "maxDrawnBytes", "bytes", "not drawn", "Jobs"},
	{"gates of one", "readapi/workbench", "maxDrawnGates", "gates", "not drawn", "Jobs"},
	{"qubits times columns of one", "readapi/workbench", "maxDrawnCells", "cells", "not drawn", "Jobs"},
	{"time that the file of a state vector is kept (`--state-age`)", "internal/statefiles", "DefaultAge", "time", "410 `statevector_forgotten`", "Jobs"},
	{"such files of one account, and one such file, without their heads of 128 bytes (`--state-space-account`)", "internal/statefiles", "DefaultAccountBytes", "bytes", "the oldest are forgotten; 400 `malformed_circuit` for one file", "Jobs"},
	{"such files of all accounts, in the same way (`--state-space`)", "internal/statefiles", "DefaultTotalBytes", "bytes", "the oldest of the account with most are forgotten", "Jobs"},
	{"expression of an angle", "domain/circuit/openqasm", "maxAngleText", "bytes", "400 `malformed_circuit`", "Jobs"},
	{"channels of a circuit once its noise model has added its own", "domain/circuit", "MaxNoiseChannels", "channels", "400 `malformed_circuit`", "Jobs"},
	{"qubits of a circuit by density matrix; wider noisy ones run by trajectories or on the tableau", "domain/circuit", "MaxDensityQubits", "qubits", "another engine", "Jobs"},
	{"instructions of a circuit with every round of its loops written out", "domain/circuit", "MaxSteps", "instructions", "400 `malformed_circuit`", "Jobs"},
	{"proof export, uploaded", "commands", "MaxExportBytes", "bytes", "413 `body_too_large`; a plan may take less: 400 `export_over_budget`", "Proofs"},
	{"proof export inside a job", "commands", "MaxInlineExportBytes", "bytes", "400 `export_too_large`", "Proofs"},
	{"declarations of one check", "commands", "MaxDeclarations", "names", "400 `invalid_declarations`", "Proofs"},
	{"name of one", "domain/lean/export", "MaxNameBytes", "bytes", "400 `invalid_declarations`; in an export 400 `invalid_export`", "Proofs"},
	{"names of them together", "commands", "maxNamesBytes", "bytes", "400 `invalid_declarations`", "Proofs"},
	{"source to elaborate", "commands", "MaxSourceBytes", "bytes", "400 `invalid_source`", "Proofs"},
	{"call of the payment webhook", "internal/payments", "MaxBodyBytes", "bytes", "413 `body_too_large`", "Billing"},
	{"age of its signature, either way", "internal/payments", "Tolerance", "time", "401 `invalid_signature`", "Billing"},
	{"reference, description, note or id of a payment", "domain/billing", "MaxTextRunes", "characters", "refused", "Billing"},
	{"lines of an invoice that is not paid", "domain/billing", "maxLines", "lines", "the plan changes no more until it is paid or void", "Billing"},
	{"amount of a price or of an invoice", "domain/account", "MaxAmountMinor", "of the currency's smallest unit", "refused", "Billing"},
	{"quote in a file", "cmd/reckon", "maxQuoteBytes", "bytes", "refused", "Billing"},
	{"states of streams that a process keeps between commands", "commands", "maxKeptStates", "states", "the one used longest ago is read from its beginning again", "The log"},
	{"memory of these states, as estimated", "commands", "maxKeptStateBytes", "bytes", "the same", "The log"},
	{"calls to the log in progress", "eventstore", "maxCalls", "calls", "waits; 503 `unavailable` after 30 s", "The log"},
	{"spans that wait for the collector", "internal/tracing/otlp", "MaxQueue", "spans", "dropped, and counted", "Traces"},
	{"sending of one batch of spans, with its repetitions", "internal/tracing/otlp", "exportTimeout", "time", "given up, and counted", "Traces"},
	{"sending of what is left when the process ends", "internal/tracing/otlp", "flushTimeout", "time", "given up", "Traces"},
	{"text of one attribute of a span", "internal/tracing/otlp", "maxAttributeChars", "characters", "cut", "Traces"},
	{"traces that the span of a read model's batch is linked to", "internal/tracing", "MaxLinks", "traces", "the first are", "Traces"},
	{"one append", "eventstore/node/eventlog", "MaxAppendBytes", "bytes", "INVALID_ARGUMENT", "The node"},
	{"name of a stream", "eventstore/node/eventlog", "MaxStreamNameBytes", "bytes", "INVALID_ARGUMENT", "The node"},
	{"message and trailers of an error, as they are sent", "eventstore/node", "maxErrorBytes", "bytes", "[cut](node-protocol.md#errors)", "The node"},
	{"calls of one connection at a time, subscriptions included", "eventstore/node", "maxStreamsPerClient", "calls", "waits", "The node"},
	{"open calls of all connections that gave a right password, or need none; of one connection as many as are left for all", "eventstore/node", "maxCalls", "calls", "RESOURCE_EXHAUSTED", "The node"},
	{"open calls, connections of a listener, subscriptions, consumers of all groups and of one, that one user may have, for each that is left to users; an eighth stays for operators", "eventstore/node", "userShare", "times", "RESOURCE_EXHAUSTED", "The node"},
	{"time for the first message of a call, and for each of a request that is answered as a whole", "eventstore/node", "requestWait", "time", "DEADLINE_EXCEEDED", "The node"},
	{"headers of a call", "eventstore/node", "maxHeaderBytes", "bytes", "the call is reset", "The node"},
	{"events of one append", "eventstore/node", "maxAppendEvents", "events", "INVALID_ARGUMENT", "The node"},
	{"streams that one append writes to or checks", "eventstore/node/eventlog", "MaxAppendStreams", "streams", "INVALID_ARGUMENT", "The node"},
	{"one message of a request", "eventstore/node", "maxMessageBytes", "bytes", "RESOURCE_EXHAUSTED", "The node"},
	{"memory of all clients: messages being received (twice their length), appends not yet durable, pages of reads and of subscriptions, large events on their way to consumers", "eventstore/node", "maxHeldBytes", "bytes", "the client that holds most and has stalled is disconnected; UNAVAILABLE when that gives no room", "The node"},
	{"bytes a second below which a client that sends a message counts as stalled", "eventstore/node", "inboundBytesPerSecond", "bytes", "disconnected when memory is short and it holds most", "The node"},
	{"page that a subscription has in memory while its client takes answers", "eventstore/node", "subscriptionPageBytes", "bytes", "read again when the client goes on", "The node"},
	{"answers of a call on their way, or one answer when that is larger", "eventstore/node", "queuedBytes", "bytes", "waits for the client", "The node"},
	{"subscriptions of all clients", "eventstore/node", "maxSubscriptions", "subscriptions", "RESOURCE_EXHAUSTED", "The node"},
	{"subscriptions of one connection", "eventstore/node", "maxSubscriptionsPerConnection", "subscriptions", "RESOURCE_EXHAUSTED", "The node"},
	{"files that the process may have open (`ulimit -n`, `LimitNOFILE`), at least", "internal/openfiles", "Minimum", "files", "the node does not start", "The node"},
	{"files of segments that stay open, or a quarter of that limit; of the index the same, or an eighth", "eventstore/node/eventlog", "maxOpenSegments", "files", "opened for each read", "The node"},
	{"connections of one listener, or a quarter of the limit of open files, an eighth for the socket", "eventstore/node", "maxConnections", "connections", "the oldest that gave no right password is closed, else the new one", "The node"},
	{"bytes from a connection before its first right password (`--secure`)", "eventstore/node", "maxStrangeBytes", "bytes", "disconnected", "The node"},
	{"calls of a connection at a time before its first right password (`--secure`)", "eventstore/node", "maxStrangeCalls", "calls", "not read from until calls end or a password is verified", "The node"},
	{"bytes of messages that such calls have not read", "eventstore/node", "maxStrangeUnread", "bytes", "likewise", "The node"},
	{"time that a connection is not read from for that", "eventstore/node", "strangeWait", "time", "disconnected", "The node"},
	{"message to a call that is open to everybody, on such a connection", "eventstore/node", "maxStrangeMessage", "bytes", "disconnected", "The node"},
	{"time in which the rest of a refused request is read, so that its client takes the reason", "eventstore/node", "refusedWait", "time", "answered all the same", "The node"},
	{"time in which a client that connects must have begun to speak", "eventstore/node", "handshakeTimeout", "time", "disconnected", "The node"},
	{"authorization header of a call (`--secure`)", "eventstore/node/access", "maxCredentialBytes", "bytes", "UNAUTHENTICATED", "The node"},
	{"wrong passwords for one user from one address, within ten minutes", "eventstore/node/access", "guessesOfOneByAddress", "passwords", "UNAUTHENTICATED; a password that is in use is not asked again", "The node"},
	{"wrong passwords from one address, within ten minutes", "eventstore/node/access", "guessesByAddress", "passwords", "likewise", "The node"},
	{"wrong passwords for one user, within ten minutes", "eventstore/node/access", "guessesOfUser", "passwords", "likewise", "The node"},
	{"time to send a plain GET request, and to take its answer", "eventstore/node", "plainTimeout", "time", "disconnected", "The node"},
	{"head of one by HTTP/2, with what comes before", "eventstore/node", "maxFirstCall", "bytes", "taken for a call of gRPC", "The node"},
	{"calls that hash a user's password, at a time", "eventstore/node", "maxUserCalls", "calls", "waits", "The node"},
	{"names that users were ever created with", "eventstore/node/access", "maxNames", "names", "RESOURCE_EXHAUSTED", "The node"},
	{"groups of a user", "eventstore/node/access", "maxGroups", "groups", "INVALID_ARGUMENT", "The node"},
	{"name of a group", "eventstore/node/access", "maxGroupBytes", "bytes", "INVALID_ARGUMENT", "The node"},
	{"full name of a user", "eventstore/node/access", "maxFullName", "bytes", "INVALID_ARGUMENT", "The node"},
	{"calls of Stats of all clients", "eventstore/node", "maxStatsCalls", "calls", "RESOURCE_EXHAUSTED", "The node"},
	{"calls of Stats of one connection", "eventstore/node", "maxStatsCallsPerConnection", "calls", "RESOURCE_EXHAUSTED", "The node"},
	{"time between two answers of Stats (at least 100 ms)", "eventstore/node", "maxStatsEvery", "time", "taken as the limit", "The node"},
	{"prefixes of a filter, of a read, a subscription or a persistent subscription", "eventstore/node", "maxFilterPrefixes", "prefixes", "INVALID_ARGUMENT", "The node"},
	{"regular expression of a filter", "eventstore/node", "maxRegexBytes", "bytes", "INVALID_ARGUMENT", "The node"},
	{"time that it takes for one event", "eventstore/node", "regexMatchTimeout", "time", "INVALID_ARGUMENT", "The node"},
	{"time that it takes in one call, beside 1 ms for each event", "eventstore/node", "regexTime", "time", "INVALID_ARGUMENT", "The node"},
	{"persistent subscriptions", "eventstore/node", "maxGroups", "groups", "RESOURCE_EXHAUSTED", "The node"},
	{"consumers of one persistent subscription", "eventstore/node", "maxGroupConsumers", "consumers", "FAILED_PRECONDITION", "The node"},
	{"consumers of all persistent subscriptions", "eventstore/node", "maxConsumers", "consumers", "RESOURCE_EXHAUSTED", "The node"},
	{"events given to one consumer and not settled", "eventstore/node/group", "MaxConsumerBuffer", "events", "a larger buffer counts as this", "The node"},
	{"events waiting for the consumers of one persistent subscription", "eventstore/node/group", "MaxBuffer", "events", "a larger buffer counts as this", "The node"},
	{"events held by all persistent subscriptions, beyond which each holds 32 at most", "eventstore/node", "maxUnsettled", "events", "waits", "The node"},
	{"ids in one acknowledgement", "eventstore/node", "maxGroupMessageIDs", "ids", "INVALID_ARGUMENT", "The node"},
	{"all prefixes of the filter of a persistent subscription", "eventstore/node", "maxGroupFilterBytes", "bytes", "INVALID_ARGUMENT", "The node"},
}

// constantOf evaluates a constant of a package from its source. The expression may use numbers and time's units only.
func constantOf(t *testing.T, folder, name string) constant.Value {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	units := strings.NewReplacer("time.Millisecond", fmt.Sprint(int64(time.Millisecond)), "time.Second", fmt.Sprint(int64(time.Second)), "time.Minute", fmt.Sprint(int64(time.Minute)), "time.Hour", fmt.Sprint(int64(time.Hour)))
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				for i, id := range value.Names {
					if id.Name != name || i >= len(value.Values) {
						continue
					}
					text := source[set.Position(value.Values[i].Pos()).Offset:set.Position(value.Values[i].End()).Offset]
					found, err := types.Eval(set, nil, token.NoPos, units.Replace(string(text)))
					if err != nil {
						t.Fatalf("%s: %s = %s: %v", file, name, text, err)
					}
					return found.Value
				}
			}
		}
	}
	t.Fatalf("%s has no constant %s: mend the table in test/limits_test.go", folder, name)
	return nil
}

// shown is a limit's value as a reader wants it.
func shown(value constant.Value, unit string) string {
	n, _ := constant.Int64Val(constant.ToInt(value))
	switch {
	case unit == "time":
		return time.Duration(n).String()
	case unit == "bytes" && n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case unit == "bytes" && n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// TestLimitsPage keeps docs/limits.md equal to the constants that enforce the limits.
func TestLimitsPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Limits\n\nBounds on all input, and the answers beyond them. Written by `make generate` from the constants that enforce them; do not edit.\n" +
		"`GET /billing/plans` has the bounds of plans, [proxy.md](proxy.md#slow-clients) the deadlines of slow clients,\n" +
		"[kernel.md](kernel.md#files-bounds-workers) the bounds of proof checks.\n")
	subject := ""
	for _, l := range limits {
		if l.subject != subject {
			subject = l.subject
			fmt.Fprintf(&b, "\n## %s\n\n| what | at most | beyond it | where |\n|---|---|---|---|\n", subject)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s`, `%s` |\n", l.what, shown(constantOf(t, l.pkg, l.name), l.unit), l.answer, l.pkg, l.name)
	}
	page, err := os.ReadFile(limitsPage)
	if err == nil && string(page) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the constants say: make generate", limitsPage)
	}
	if err := os.WriteFile(limitsPage, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
