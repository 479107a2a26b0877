package telemetry

// Kind is what the figure of a metric is.
type Kind string

// Kinds of metrics.
const (
	Gauge     Kind = "gauge"
	Counter   Kind = "counter"
	Histogram Kind = "histogram"
)

// Where a metric is served.
const (
	everywhere = "every server"
	whereAPI   = "role api"
	whereEval  = "roles api and run"
	whereNode  = "reckon node, and a server whose log is embedded"
)

// Declaration is a metric. No label names an account, a job or anything else that there may be any number of.
type Declaration struct {
	Name   string
	Kind   Kind
	Help   string
	Labels []string
	Where  string // who serves it
}

// Declared are all metrics of the service, in the order of docs/metrics.md. Only these can be registered. Those of the Go runtime and of the process
// (go_…, process_…) come with them.
var Declared = []Declaration{
	{"reckon_build_info", Gauge, "Always 1; the build is the label.", []string{"build"}, everywhere + ", reckon node"},
	{"reckon_ready", Gauge, "1 while /readyz is 200, else 0.", nil, everywhere + ", reckon node"},
	{"reckon_dependency_up", Gauge, "1 while the dependency answers as it should, else 0: eventstore, database, identity, blobs, and in a process with an engine signing_key, engine, checker, proof_kernel, temporary_files. projections and parked events are 0 where how the read models and reactions are is not known, and absent while it is.", []string{"dependency"}, everywhere},
	{"reckon_part_up", Gauge, "1 while the part of the process that works in the background runs, else 0.", []string{"part"}, everywhere},
	{"reckon_part_restarts_total", Counter, "How often the part was begun again since the process started.", []string{"part"}, everywhere},
	{"reckon_collect_failed_total", Counter, "Scrapes in which these figures could not be read, and were left out.", []string{"figures"}, everywhere},

	{"reckon_http_request_seconds", Histogram, "Time to answer an HTTP request, by route template.", []string{"method", "route", "status"}, whereAPI},
	{"reckon_http_problems_total", Counter, "Error answers by their code (docs/errors.md); rate_limited, too_many_evaluations, daily_allowance_spent and saturated are refusals by a limit.", []string{"code"}, whereAPI},

	{"reckon_projection_lag_positions", Gauge, "Distance of the read model to the end of the log in the log's own units: events of an embedded log and of reckon node, bytes of another server.", []string{"projection", "version"}, everywhere},
	{"reckon_projection_lag_seconds", Gauge, "Age of the oldest event that the read model has not applied; 0 at the end of the log.", []string{"projection", "version"}, everywhere},
	{"reckon_projection_phase", Gauge, "1 for the phase that the read model is in (docs/read-models.md#phases), 0 for the others.", []string{"projection", "version", "phase"}, everywhere},
	{"reckon_projection_ready", Gauge, "1 once the read model has reached what the log held when this process started, or when it was built anew.", []string{"projection", "version"}, everywhere},
	{"reckon_projection_events_per_second", Gauge, "Events that this process applies to the read model, over the last 5 to 10 s.", []string{"projection", "version"}, everywhere},
	{"reckon_projection_parked", Gauge, "Events that the read model has set aside.", []string{"projection", "version"}, everywhere},
	{"reckon_reaction_parked", Gauge, "Events that the reactions have set aside.", []string{"reaction"}, everywhere},

	{"reckon_transparency_leaves", Gauge, "Leaves of the transparency log: receipts and certificates.", nil, everywhere},
	{"reckon_transparency_leaves_served", Gauge, "Leaves that the served checkpoint covers. It follows the other within some times of --checkpoint-interval, or something is wrong: no key, no quorum of witnesses, a log that was rolled back.", nil, everywhere},
	{"reckon_transparency_conflict", Gauge, "1 while a witness that is named with --witness has cosigned another history of this log, or a later state of it, than the last checkpoint: no checkpoint is signed then; else 0.", nil, "a server that holds the signing keys"},
	{"reckon_transparency_failing", Gauge, "1 while the last checkpoint could not be signed or a witness did not cosign it: no key, a log that was rolled back, no file signed-tree, a witness that is away or refuses; else 0. Also without new receipts.", nil, "a server that holds the signing keys"},
	{"reckon_transparency_behind", Gauge, "1 while witnesses were not asked for the last checkpoint, because the read model transparency lags behind the log (reckon_projection_lag_seconds) or its database is away; else 0. They are asked when it has followed, and until then reckon_transparency_failing says what was wrong with them before.", nil, "a server that holds the signing keys"},

	{"reckon_jobs_waiting", Gauge, "Jobs in the queue that no runner has, by kind. It counts the whole installation, as the next two do: any process may be asked.", []string{"kind"}, everywhere},
	{"reckon_jobs_running", Gauge, "Jobs that a runner has claimed.", []string{"kind"}, everywhere},
	{"reckon_jobs_oldest_waiting_seconds", Gauge, "Time since the oldest job in the queue was submitted; 0 without one.", nil, everywhere},
	{"reckon_job_seconds", Histogram, "Time from the claim of a job to the end of the attempt in this process: succeeded, failed, timeout, released (handed back by a process that stops), untried (it could not be tried here, and goes back with its attempt), interrupted (the process was cut off), abandoned (its work ended the attempt), superseded (cancelled, or another attempt's) or unreported (the log did not take it).", []string{"kind", "outcome"}, whereEval},
	{"reckon_engine_ended_total", Counter, "Processes of an engine, each of which forks the workers, that ended by themselves: killed, or by a fault. The next evaluation starts another.", []string{"engine"}, whereEval},
	{"reckon_kernel_answers_total", Counter, "What the kernels say of the exports of proof jobs that ended here (docs/proofs.md#kernels): reckon is the first, plain the second, asked for what the first accepts and nothing else speaks against, program the operator's. plain or program with refused is a disagreement of kernels.", []string{"kernel", "answer"}, whereEval},
	{"reckon_runner_slots", Gauge, "Jobs that this process may run at a time.", nil, whereEval},
	{"reckon_runner_running", Gauge, "Jobs that this process runs.", nil, whereEval},
	{"reckon_heartbeat_age_seconds", Gauge, "Time since the last heartbeat was written; 0 while none is needed, because nothing is held or nobody could read it.", nil, whereEval},

	{"reckon_workers_busy", Gauge, "Workers that evaluate or check for requests; jobs have workers of their own (reckon_runner_running).", []string{"pool"}, whereEval},
	{"reckon_workers_awaited", Gauge, "Evaluations or checks that wait for a worker.", []string{"pool"}, whereEval},
	{"reckon_sessions_live", Gauge, "Sessions that this process owns.", nil, whereEval},
	{"reckon_session_memory_bytes", Gauge, "Memory that the workers of all sessions hold.", nil, whereEval},
	{"reckon_session_memory_limit_bytes", Gauge, "Memory that they may hold; 0: not limited.", nil, whereEval},

	{"reckon_events_appended_total", Counter, "Events that this process has appended, by type (docs/events): job.lost, run.timed_out, receipt.sealed. One that a reaction appends again, which the log keeps once, is counted again.", []string{"event"}, everywhere},
	{"reckon_receipts_unsigned_total", Counter, "Receipts that this process has appended without a signature.", nil, everywhere},
	{"reckon_attempts_spent_total", Counter, "Attempts at jobs that this process has appended to be spent: of a runner that fell silent, its own or another, or ended by the work. The last one of a job that is lost is not among them.", nil, everywhere},
	{"reckon_append_seconds", Histogram, "Time from an append to the log's answer, with its repetitions while the log is away.", []string{"result"}, everywhere},

	{"reckon_trace_spans_total", Counter, "Spans of this process by what became of them: sent (the collector took them), dropped (too many waited for it) or refused (it did not take them).", []string{"outcome"}, "every server that exports traces"},

	{"reckon_log_position", Gauge, "Position of the newest record of the log.", nil, whereNode},
	{"reckon_log_segments", Gauge, "Files that hold the records of the log.", nil, whereNode},
	{"reckon_log_bytes", Gauge, "Bytes of the records of the log.", nil, whereNode},
	{"reckon_log_verified_position", Gauge, "Position that the verification of the whole log has reached, or that the last one ended with.", nil, whereNode},
	{"reckon_log_verifications", Gauge, "Verifications of the whole log that have ended since the process began, and found nothing.", nil, whereNode},
	{"reckon_log_refuses_appends", Gauge, "1 when the log takes no more appends: the disk refused a write, or a record is damaged; 0 while it does.", nil, whereNode},
	{"reckon_log_last_verification_seconds", Gauge, "Unix time at which the last verification ended; 0 before the first.", nil, whereNode},
}
