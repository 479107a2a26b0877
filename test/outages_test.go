package test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	outagesPage  = "../docs/outages.md"
	failuresOpen = "<!-- failures: written by go test ./test -run TestOutagesPage -update -->\n"
	failuresEnd  = "<!-- end of failures -->"
	rowlessOpen  = "<!-- rowless: written by go test ./test -run TestOutagesPage -update -->\n"
	rowlessEnd   = "<!-- end of rowless -->"
	toldOpen     = "<!-- told: written by go test ./test -run TestOutagesPage -update -->\n"
	toldEnd      = "<!-- end of told -->"
	toldFile     = "processes/testdata/failures.json" // written by TestWhatCallersAreTold
)

// failure is a row of docs/outages.md: what is wrong with a part, and what becomes of it. Every cell is shown by the tests, each "package.Test".
type failure struct {
	part    string // its name in /readyz, or what else can fail
	state   string // absent or refusing, silent, slow, wrong; while the server starts, runs or stops
	notices string // who, and when
	work    string // what becomes of work in hand
	told    string // what callers are told
	seen    string // what an operator sees
	tests   string
	cells   string // which of the table of causes it shows, "cause moment: state state; …"
}

// The table of causes: each in each state, at each moment. Absent is silent too.
var (
	causes  = []string{"eventstore", "database", "identity", "blobs", "engine", "checker", "disk", "memory", "clock", "signing_key", "witness", "process"}
	states  = []string{"absent", "slow", "refusing", "wrong"}
	moments = []string{"start", "running", "stopping"}
)

// rowless are the cells of the table of causes that no failure shows, and why.
var rowless = []struct{ cells, reason string }{
	{"eventstore stopping: slow refusing; database stopping: slow refusing; identity stopping: slow refusing; blobs stopping: slow refusing", "each call ends sooner than that to a part that is silent, at which the process stops too"},
	{"eventstore stopping: wrong; database stopping: wrong; identity stopping: wrong; blobs stopping: wrong; signing_key stopping: wrong; witness stopping: wrong", "nothing new is read while a process stops; what is wrong is seen at the next start"},
	{"identity running: wrong", "the identities are the only copy of what they hold: nothing else says what is right"},
	{"engine start: absent slow refusing", "its workers start when the first is needed: as while running"},
	{"checker start: absent slow refusing wrong", "it starts with the first check: as while running"},
	{"checker running: wrong", "a wrong verdict is a defect and no outage: an audit that checks receipts again finds it"},
	{"engine stopping: absent slow refusing wrong; checker stopping: absent slow refusing wrong", "both are killed with the process, and what they compute goes back or is answered as cancelled"},
	{"disk start: slow; disk stopping: absent slow refusing wrong", "as the log on that disk while it runs; a flush that does not end is a process that is killed: the power fails"},
	{"memory start: absent slow refusing wrong; memory running: slow; memory stopping: absent slow refusing wrong", "a process that gets none is killed by the system: as a process that is killed"},
	{"memory running: wrong", "what is read back is checked by the digest of the record or of the blob; bits that flip elsewhere are not defended against"},
	{"clock start: absent slow refusing; clock running: absent slow refusing; clock stopping: absent slow refusing wrong", "reading the clock cannot fail, and no time that is shown is decided on while a process stops"},
	{"signing_key start: slow refusing; signing_key running: slow", "a key is a file: a folder that does not answer is a start that waits for the disk, and evaluations use the key in memory meanwhile"},
	{"signing_key stopping: absent slow refusing", "what was computed and cannot be sealed goes back to the queue, as with a log that is silent"},
	{"witness stopping: absent slow refusing", "a checkpoint that is not cosigned yet is sent to it again by the next process"},
	{"process start: absent slow refusing wrong", "a process that is not there yet has nothing that others wait for"},
	{"process running: wrong", "a process of another version follows the rules of an upgrade; one that lies has the keys, and is found by the audit"},
	{"process stopping: absent refusing wrong", "a process that is killed while it stops is one that is killed"},
}

var failures = []failure{
	{"eventstore", "absent, refusing or silent, at a start", "the start, each 5 s in the log", "–", "the API is not served yet; `/livez` 200, `/readyz` 503 at `--admin-listen`", "the log's line; `ReckonNotReady`",
		"test/processes.TestAStartWaitsForEachPart eventstore.TestConnectWaitsForTheServer", "eventstore start: absent slow refusing"},
	{"eventstore", "refusing or silent", "each call, within 30 s; the heartbeat", "an evaluation's answer is lost and its run id never used; jobs go on for 2 silent beats, then end here and go on elsewhere with their attempt; reactions wait, nothing is parked",
		"503 `unavailable`", "a line a second at most; `ReckonDependencyDown`, `ReckonHeartbeatLate`",
		"test/processes.TestWhatCallersAreTold test/processes.TestOutagesAreQuiet test/processes.TestARunnerThatWasCutOffIsNotADeadOne commands/reactions.TestUnavailableIsNotParked eventstore.TestServerRestart", "eventstore running: absent refusing"},
	{"eventstore", "slow", "–", "goes on", "the same answers, later", "`ReckonAppendsSlow`", "test/processes.TestWhatCallersAreTold", "eventstore running: slow; disk running: slow"},
	{"eventstore", "a connection is lost, and neither side is told", "each call that has no answer for half of its time, 2 s at most: another connection is answered and this one is not", "goes on over another connection: what was read is read again, an append that had arrived is known by its ids, subscriptions go on where they stood; no session and no job ends",
		"the same answers, later", "a warning in the log", "eventstore.TestLostConnectionsOnNode eventstore.TestWhatIsSlowOrAwayIsNotLost test/processes.TestALostConnectionCostsNoSession", ""},
	{"eventstore", "wrong: a damaged record", "whoever reads it; the node's verification in the background, a minute after the start and then each hour", "until then appends go on; then none is taken any more", "503 `unavailable` for every write and for what is damaged; other streams are read", "an error in the log that names the place, as every command of the node does; `ReckonLogRefusesAppends`, `ReckonLogNotVerified`",
		"eventstore.TestDamagedLog cmd/reckon.TestDamagedLog eventstore/node/eventlog.TestDamageWhileRunning", "eventstore start: wrong; eventstore running: wrong; disk start: wrong; disk running: wrong"},
	{"eventstore", "wrong: an earlier state, or another log", "the start; the read models; the signer of checkpoints", "read models halt; no checkpoint is signed", "lists `stale`", "`ReckonReadModelHalted`, `ReckonCheckpointsNotSigned`",
		"projections/engine.TestCheckpointBeyondTheLog commands.TestALogThatWasRolledBackIsNotSigned", "eventstore start: wrong; eventstore running: wrong"},
	{"eventstore", "its disk is full", "the append", "no append is taken; once 1 MiB is free the process ends with status 2, and started again it goes on; nothing acknowledged is lost", "503 `unavailable` for every write; reads go on while the disk is full; at a start they wait for room, too", "`ReckonLogRefusesAppends`",
		"test/processes.TestWhatCallersAreToldByFullDisks cmd/reckon.TestANodeWhoseDiskIsFull eventstore/node.TestRefusedStorageIsUnavailable eventstore/node/eventlog.TestFullDiskDuringAFlush eventstore/node/eventlog.TestFullDiskAtTheStart", "disk start: refusing; disk running: refusing"},
	{"eventstore", "a file of it is gone", "the node, which looks for its files; the start", "no append is taken any more", "503 `unavailable` for every write; what is left is read", "`ReckonLogRefusesAppends`",
		"eventstore.TestDamagedLog eventstore/node/eventlog.TestWatchNoticesAFileThatIsGone eventstore/node/eventlog.TestStartChecksSealedSegments", "disk start: absent; disk running: absent"},
	{"eventstore", "the power fails", "the next start", "what was acknowledged is there, in folders made at the first start too", "no answer; an `idempotency_key` finds a job that was accepted", "–",
		"test/e2e.TestNothingAcknowledgedIsLost test/e2e.TestNoFolderIsLostWithThePower eventstore/node/eventlog.TestPowerFailureBeforeEveryCall", ""},
	{"database", "absent, refusing or silent, at a start", "the start", "–", "as with the log", "as with the log", "test/processes.TestAStartWaitsForEachPart cmd/reckon.TestAStartWaitsForWhatMayComeBack", "database start: absent slow refusing"},
	{"database", "a process is cut off from it, or frozen, in a transaction", "PostgreSQL, which ends the transaction after 5 s with a lock that all wait for, 10 s without; within a statement the processes that write read models, after as long", "goes on; no job is claimed until then", "the same answers, later", "`transactions were ended` in the log",
		"internal/database.TestASilentClientKeepsNoLock internal/database.TestASilentReaderKeepsNoLock internal/database.TestALockIsWaitedForWithinBounds projections/engine.TestASilentWriterIsSucceeded test/processes.TestAServerStopsWhileItsPartsAreSilent", ""},
	{"database", "refusing, silent or locked", "each call, within 5 s", "goes on; no job is claimed", "503 `unavailable` for lists; a job, a run and a certificate are read from the log", "`ReckonDependencyDown`, `ReckonReadModelBehind`",
		"test/processes.TestWhatCallersAreTold readapi.TestDatabaseAway readapi.TestDatabaseFrozen readapi.TestSQLiteLocked test/processes.TestAQueueThatWasBehindIsAskedAgain", "database running: absent refusing"},
	{"database", "slow", "–", "goes on", "the same answers, later", "`ReckonReadModelBehind`", "test/processes.TestWhatCallersAreTold", "database running: slow"},
	{"database", "a connection is lost, and neither side is told", "each call, within 5 s of a request and 30 s in the background; the system, within 30 s", "goes on; this process claims no job until then", "503 `unavailable`, once", "–",
		"internal/database.TestALostConnectionIsGivenUp internal/database.TestAServerThatIsGoneIsNoticed test/processes.TestChaos", ""},
	{"database", "wrong credentials, name or version of tables", "the start, which ends", "–", "–", "exit status 2 with the reason", "test/processes.TestAStartEndsOnWhatWaitingCannotMend cmd/reckon.TestAStartWaitsForWhatMayComeBack projections.TestOpenRefuses", "database start: wrong"},
	{"database", "wrong: an event cannot be applied", "the read model, which halts or parks it", "later events wait", "lists `stale`", "`ReckonReadModelHalted`, `ReckonEventsParked`; never shown as done", "projections/engine.TestHalt", "database running: wrong"},
	{"identity", "absent, refusing or silent, at a start", "the start", "–", "as with the log", "as with the log", "test/processes.TestAStartWaitsForEachPart", "identity start: absent slow refusing"},
	{"identity", "refusing or silent", "each call, within 5 s", "goes on; evaluations and sessions are counted by each process alone", "503 `unavailable` for sign-in, cookies and tokens; requests with a token go on", "`ReckonDependencyDown`; `counted by this process alone` in the log",
		"test/processes.TestWhatCallersAreTold internal/identity.TestPlacesThatAreAway internal/identity.TestUsesWhileTheDatabaseIsAway internal/ratelimit.TestCountsThatAreAway", "identity running: absent refusing"},
	{"identity", "slow", "–", "goes on", "the same answers, later", "–", "test/processes.TestWhatCallersAreTold", "identity running: slow"},
	{"identity", "wrong credentials, name or version of tables", "the start, which ends", "–", "–", "exit status 2 with the reason", "test/processes.TestAStartEndsOnWhatWaitingCannotMend", "identity start: wrong"},
	{"blobs", "absent, refusing or silent, at a start", "the start", "–", "as with the log", "as with the log", "test/processes.TestAStartWaitsForEachPart", "blobs start: absent slow refusing"},
	{"blobs", "refusing or silent", "each call, within 30 s", "what was computed waits for it; a job that cannot be read goes back with its attempt, after a pause that grows; this process claims none meanwhile",
		"503 `unavailable` where more than 16 KiB are read or written, and for a job with an `export` of any length", "`ReckonDependencyDown`, `ReckonJobsAbandoned`",
		"test/processes.TestWhatCallersAreTold test/processes.TestARunnerThatCannotReachTheBucket test/processes.TestASickRunnerClaimsNoMoreThanAFew internal/blobs.TestBucketAway", "blobs running: absent refusing"},
	{"blobs", "it refuses what is written: the disk of a folder or of the bucket's service is full, or a quota used up", "each write; `/readyz`, from the first write that it refuses until it takes a probe of 1 MiB", "what was computed waits for it; what is stored is read; this process claims no job meanwhile",
		"503 `unavailable`, which says that it refuses, where more than 16 KiB are written", "`ReckonDependencyDown`", "test/processes.TestWhatCallersAreToldByFullDisks test/e2e.TestABucketThatIsFull internal/blobs.TestBucketFull", ""},
	{"blobs", "slow", "–", "goes on", "the same answers, later", "–", "test/processes.TestWhatCallersAreTold", "blobs running: slow"},
	{"blobs", "wrong: other bytes, another log's", "the digest at each read; the start", "is not served", "500 `internal`; bytes of another length are repaired by storing the content again", "an error in the log; exit status 2 at a start", "readapi.TestADamagedBlobIsNotServed internal/blobs.TestBucketCorrupt test/processes.TestAStartEndsOnWhatWaitingCannotMend", "blobs start: wrong; blobs running: wrong"},
	{"blobs", "its bucket is gone, or refuses the credentials", "each call; the start", "as while it refuses connections", "503 `unavailable`, which says that an operator has to mend it", "`ReckonDependencyDown`; exit status 2 at a start", "internal/blobs.TestOpenBucketRefuses internal/httpkit.TestAPartThatDeniesAccess", ""},
	{"signing_key", "absent", "each process, within 2 s: also where it has the key in memory still", "no evaluation begins; what was computed waits; this process claims no job", "503 `unavailable` for evaluations and `/billing/plans`", "an error in the log; `ReckonDependencyDown`",
		"cmd/reckon.TestAKeyThatIsTakenAwayIsNoticed commands.TestAKeyThatIsAwayEvaluatesNothing test/processes.TestAProcessThatCannotSignClaimsNothing readapi.TestQuoteWithoutAKey cmd/reckon.TestSigningFollowsTheKeys", "signing_key running: absent refusing"},
	{"signing_key", "wrong: none at all, or another", "who verifies the receipt", "goes on; without a key unsigned, and the receipt says so", "a receipt that does not verify", "`ReckonUnsignedReceipts`", "commands.TestAnotherKeyDoesNotVerify commands.TestWithoutAKeyTheReceiptSaysSo cmd/reckon.TestUnsignedReceiptsAreSeen", "signing_key start: wrong; signing_key running: wrong; signing_key start: absent"},
	{"engine", "absent: no worker can be started", "the request; the runner", "a job goes back with its attempt; this process claims none", "503 `unavailable`, nothing was logged", "`ReckonDependencyDown`",
		"runners/engine.TestAKilledZygoteFailsNobodyWhoAsks runners/engine.TestADeadZygoteIsReplacedAndTakesItsWorkersAlong test/processes.TestWhatCannotBeTriedCostsNoAttempt", "engine running: absent refusing"},
	{"engine", "absent: its process, which forks the workers, is killed", "the process that it belongs to, at once", "an evaluation's run id is never used; a job goes back with its attempt after a pause, one in a session is `lost` and its slot refunded; a check and a further engine are asked again; all sessions end", "503 `unavailable`, nothing was logged; the next answer of a session has a warning", "an error in the log; `ReckonEngineEnded`", "test/e2e.TestTheEndOfAnEnginesProcess test/processes.TestTheEnginesEndCostsNoAttempt runners/engine.TestADeadZygoteIsReplacedAndTakesItsWorkersAlong", ""},
	{"engine", "slow: every worker is busy", "the request, within `--queue-wait`", "–", "503 `saturated`, nothing was logged", "`ReckonSaturated`, `ReckonQueueOld`", "writeapi.TestEvaluationsThatEndWithoutAnAnswer runners/engine.TestSaturation runners/fair.TestSaturatedSaysWhenAPlaceComesFree", "engine running: slow"},
	{"engine", "silent: it computes for ever, or ends in the middle", "the worker's clock; its process", "its worker is killed; a session's variables are gone", "408 `budget_exhausted`, or the answer says that the session ended", "the run's event in the log", "writeapi.TestEvaluationsThatEndWithoutAnAnswer runners/engine.TestDeadlineKills commands.TestALostWorkerIsSaid", "engine running: absent"},
	{"engine", "wrong: its files differ from what was installed", "each start", "it is installed anew", "–", "`reckon engine status` names the file", "runners/engine.TestDamageIsFound", "engine start: wrong"},
	{"engine", "wrong: its answer", "the checker", "the further engines are asked", "the answer that is verified, where there is one", "–", "runners/portfolio.TestWhoAnswers", "engine running: wrong"},
	{"checker", "slow", "the check's clock", "–", "the answer; its check has no verdict", "–", "commands.TestChecksAreShort", "checker running: slow"},
	{"checker", "ends in the middle", "the check", "the next check begins anew", "the answer; its check has no verdict, for the reason `engine_error`", "`ReckonDependencyDown` where it does not begin again", "runners/checker.TestCrash", "checker running: absent refusing"},
	{"proof_kernel", "absent: it cannot be begun", "the check", "nothing is said about the export; the job goes back with its attempt", "the job is queued", "`ReckonDependencyDown`", "runners/proof.TestAChildThatDoesNotBeginSaysNothingAboutAnExport test/processes.TestWhatCannotBeTriedCostsNoAttempt", ""},
	{"proof_kernel", "ends over its memory, or between two checks", "the check", "one that needs more memory is inconclusive; the next check gets another process", "the certificate is inconclusive", "–", "runners/proof.TestOutOfMemory runners/proof.TestChildrenWait", ""},
	{"proof_kernel", "wrong: two kernels disagree", "each check", "–", "no verdict", "an error in the log; `ReckonKernelsDisagree`", "domain/lean/check.TestKernelsThatDisagreeAreNoVerdict", ""},
	{"temporary_files", "full", "`/readyz`", "this process claims no job", "–", "`ReckonDependencyDown`; which part is away, in the log", "internal/disk.TestRoom runners.TestAProcessClaimsNothingWhileANeedIsNotMet", "disk running: refusing"},
	{"memory", "not enough", "the estimate before it is spent; the walls of a worker", "the largest session ends of the account that is furthest over its share; a job waits for room in the queue", "400 `malformed_circuit` for what no runner could hold; the next evaluation of the session has a warning", "`reckon_sessions_ended_total`",
		"runners/engine.TestSessionMemoryIsBounded runners/qsim.TestCircuitOverMemory test/processes.TestWhatHasNoRoomStaysQueued", "memory running: refusing absent"},
	{"clock", "wrong: set, corrected, or ahead for a moment", "the log, at each append", "times of events do not decrease; a jump for a moment is not believed, and removes nothing by its age", "–", "–", "eventstore/node/eventlog.TestClockThatWasSet eventstore/node/eventlog.TestClockThatIsCorrected eventstore/node/eventlog.TestClockThatJumpsForAMoment", "clock running: wrong; clock start: wrong"},
	{"witness", "absent, refusing or silent", "the signer, each interval", "checkpoints wait for the quorum", "503 `not_yet_in_transparency_log` for what no checkpoint covers yet", "`ReckonTransparencyLogBehind`, `ReckonCheckpointsNotSigned`", "internal/witness.TestWitnessesThatFail test/processes.TestChaos", "witness start: absent slow refusing; witness running: absent slow refusing"},
	{"witness", "it has cosigned another history", "the signer, at once", "no checkpoint is signed any more", "the forked checkpoint is not served", "`ReckonWitnessConflict`; an audit finding", "test/e2e.TestAForkIsNoOutage commands.TestAConflictEndsTheSigning", "witness start: wrong; witness running: wrong"},
	{"process", "killed", "the others, after 4 silent beats", "its jobs are taken over; one that has spent 3 attempts is `lost`, and its slot refunded unless its work was seen to end the last; its sessions are gone", "the next answer of a session has a warning", "`ReckonProcessGone` until it is there again; `ReckonProcessRestarts` where that happens again and again; `ReckonJobsAbandoned`, `ReckonJobsLost`",
		"test/processes.TestJobsSurviveKilledRunners test/processes.TestOwnerDiesWhileItEvaluates test/processes.TestLostAfterThreeAttempts commands.TestWhatTheServiceLosesIsRefunded", "process running: absent"},
	{"process", "silent, or cut off from the log", "the others, after 4 silent beats; itself, after 2", "it stops its work before others begin it; nothing counts against a job", "who waits for its session is answered from a fresh one, with a warning", "`ReckonHeartbeatLate`",
		"test/processes.TestFrozenOwner test/processes.TestASessionIsNeverLostInSilence test/processes.TestALostAcknowledgementLeavesACleanLog test/processes.TestCutOffRunnerStopsBeforeItsWorkIsTaken runners/cluster.TestAnswerThatIsLost", "process running: slow refusing"},
	{"process", "no connection to it comes about, though it lives", "who forwards an evaluation, when the request's time is over", "the evaluation is not sent; the session stays", "503 `unavailable`: the evaluation did not run", "–", "runners/cluster.TestAnOwnerThatIsNotReachedHasEvaluatedNothing", ""},
	{"process", "a connection to it is lost, and neither side is told", "who forwards an evaluation, after 2 s", "the owner of the session is asked again over another connection; it evaluates what comes first", "the same answers, later; 503 `unavailable` where the answer itself is lost: whether the run was logged is unknown", "–",
		"runners/cluster.TestAConnectionThatIsLostCostsNoEvaluation", ""},
	{"process", "stops", "`/readyz`, at once", "requests in flight are answered, those it has forwarded too; jobs end within `--grace` or go back", "the same answers", "`\"stopping\": true`", "test/processes.TestRollingRestart test/processes.TestStoppingWaitsForForwarded test/processes.TestOperatorStopsARunner", "process stopping: slow"},
	{"process", "stops while no part answers", "itself", "its job is taken over, with its attempt", "–", "exit status 0", "test/processes.TestAServerStopsWhileItsPartsAreSilent", "eventstore stopping: absent; database stopping: absent; identity stopping: absent; blobs stopping: absent"},
	{"client", "leaves, or is slow", "the connection", "its worker stops at once, and the run is logged as `cancelled`; a job goes on", "nothing", "–", "commands.TestACallerWhoGoesAwayIsLogged writeapi.TestAClientWhoGoesAwayStopsItsEvaluation internal/httpserver.TestSlowClientsAreLetGo", ""},
	{"collector", "absent, refusing or slow", "the sender of spans", "spans are dropped and counted; nothing waits", "the same answers", "`ReckonSpansLost`", "internal/tracing/otlp.TestADeadCollectorDelaysNobody test/e2e.TestAServerOutlivesItsCollector", ""},
	{"all of them", "one after the other, under load", "–", "no job is lost or runs twice", "503 `unavailable` or `saturated` at worst", "a clean audit", "test/processes.TestChaos", ""},
}

// failuresTable is failures as a page shows them.
func failuresTable() string {
	var b strings.Builder
	b.WriteString("| part | failure | who notices | work in hand | callers are told | operators see | shown by |\n|---|---|---|---|---|---|---|\n")
	for _, f := range failures {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | `%s` |\n", f.part, f.state, f.notices, f.work, f.told, f.seen, strings.Join(strings.Fields(f.tests), "`, `"))
	}
	return b.String()
}

// rowlessTable is rowless as a page shows it.
func rowlessTable() string {
	var b strings.Builder
	b.WriteString("| cells | why |\n|---|---|\n")
	for _, r := range rowless {
		fmt.Fprintf(&b, "| %s | %s |\n", r.cells, r.reason)
	}
	return b.String()
}

// cellsOf are the cells of a text, "cause moment: state state; …", each "cause moment: state".
func cellsOf(text string) (cells []string) {
	for part := range strings.SplitSeq(text, "; ") {
		where, in, _ := strings.Cut(part, ": ")
		for _, state := range strings.Fields(in) {
			cells = append(cells, where+": "+state)
		}
	}
	return cells
}

// TestEveryCauseIsConsidered: each cause, in each state, at each moment, has a failure that says what becomes of it, or a reason why there is none.
func TestEveryCauseIsConsidered(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	for _, cause := range causes {
		for _, moment := range moments {
			for _, state := range states {
				missing[cause+" "+moment+": "+state] = true
			}
		}
	}
	known, shown := maps.Clone(missing), map[string]bool{}
	for _, f := range failures {
		for _, cell := range cellsOf(f.cells) {
			if !known[cell] {
				t.Errorf("%s, %s: there is no %s", f.part, f.state, cell)
			}
			shown[cell] = true
			delete(missing, cell)
		}
	}
	for _, r := range rowless {
		for _, cell := range cellsOf(r.cells) {
			if !known[cell] || shown[cell] {
				t.Errorf("%s is no cell without a row", cell)
			}
			delete(missing, cell)
		}
	}
	for _, cell := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("nothing says what becomes of %s", cell)
	}
}

// told is toldFile: what each request is answered, by "part, state".
func told(t *testing.T) (answers map[string]map[string]string) {
	t.Helper()
	content, err := os.ReadFile(toldFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// toldTable is what TestWhatCallersAreTold has measured; states of a part in which the answers are the same share a row.
func toldTable(t *testing.T) string {
	t.Helper()
	told := told(t)
	rows, states := map[string]string{}, map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		part, state, _ := strings.Cut(name, ", ")
		answers := told[name]
		var same, refused, words []string
		for _, request := range slices.Sorted(maps.Keys(answers)) {
			switch answer := answers[request]; {
			case request == "`GET /readyz`":
			case answer == "200":
				same = append(same, request)
			default:
				refused = append(refused, request)
				if !slices.Contains(words, answer) {
					words = append(words, answer)
				}
			}
		}
		row := fmt.Sprintf("%s | %s | %s | %s |", answers["`GET /readyz`"], orNone(words, "; "), orNone(refused, ", "), orNone(same, ", "))
		states[part+row] = append(states[part+row], state)
		rows[part+row] = fmt.Sprintf("| %s | %s | %s\n", part, strings.Join(states[part+row], " or "), row)
	}
	var b strings.Builder
	b.WriteString("| part | state | `/readyz` | answer | to | answered as before |\n|---|---|---|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[key])
	}
	return b.String()
}

func orNone(list []string, between string) string {
	if len(list) == 0 {
		return "–"
	}
	return strings.Join(list, between)
}

// TestOutagesPage keeps the tables of docs/outages.md equal to the declared and to the measured failures; each row names tests that exist, and each
// part that /readyz or an alert can name has a row.
func TestOutagesPage(t *testing.T) {
	t.Parallel()
	all := sources(t)
	tests, dependencies := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		for _, decl := range s.tree.Decls {
			if f, is := decl.(*ast.FuncDecl); is && s.test && strings.HasPrefix(f.Name.Name, "Test") {
				tests[s.pkg+"."+f.Name.Name] = true
			}
		}
		if s.pkg == "cmd/reckon" && !s.test {
			for _, name := range dependencyNames(s.tree) {
				dependencies[name] = true
			}
		}
	}
	if len(dependencies) < 9 {
		t.Errorf("dependencies of /readyz: %v", slices.Sorted(maps.Keys(dependencies)))
	}
	alerts := map[string]bool{}
	rules, err := os.ReadFile("../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ *- alert: (\w+)$`).FindAllSubmatch(rules, -1) {
		alerts[string(m[1])] = true
	}
	for _, f := range failures {
		delete(dependencies, f.part)
		named := strings.Fields(f.tests)
		if len(named) == 0 {
			t.Errorf("%s, %s: no test shows it", f.part, f.state)
		}
		for _, name := range named {
			if !tests[name] {
				t.Errorf("%s, %s: there is no test %s", f.part, f.state, name)
			}
		}
	}
	cited := failuresTable()
	for _, name := range regexp.MustCompile("Reckon[A-Za-z]+").FindAllString(cited, -1) {
		if !alerts[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
	for name := range alerts {
		if !strings.Contains(cited, "`"+name+"`") {
			t.Errorf("no failure is seen by the alert %s", name)
		}
	}
	for name := range dependencies {
		t.Errorf("/readyz names %s, and no row says what its failures do", name)
	}
	keepEqual(t, outagesPage, failuresOpen, cited, failuresEnd)
	keepEqual(t, outagesPage, rowlessOpen, rowlessTable(), rowlessEnd)
	keepEqual(t, outagesPage, toldOpen, toldTable(t), toldEnd)
}

// dependencyNames are the names of the readapi.Dependency values in a file.
func dependencyNames(tree *ast.File) (names []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		literal, is := n.(*ast.CompositeLit)
		if !is {
			return true
		}
		name, part := "", false
		for _, element := range literal.Elts {
			pair, is := element.(*ast.KeyValueExpr)
			if !is {
				continue
			}
			key, is := pair.Key.(*ast.Ident)
			if !is {
				continue
			}
			if value, is := pair.Value.(*ast.BasicLit); is && key.Name == "Name" {
				name = strings.Trim(value.Value, `"`)
			}
			part = part || key.Name == "Part"
		}
		if part && name != "" {
			names = append(names, name)
		}
		return true
	})
	return names
}
