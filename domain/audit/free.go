package audit

// Reasons why nothing else in a log follows from a field.
const (
	chosen   = "its owner or the operator chose it, and nothing repeats it"
	measured = "measured once"
	detail   = "a detail of one check that no signature covers; --reverify asks for the verdict again"
	unsigned = "of a run without an answer, which has no receipt"
	ofOthers = "what became of asking engines whose answer is not the run's"
	process  = "says which process did it, or how it is reached"
	unused   = "nothing in the log follows from it where the slot was given back before its job was queued; otherwise the job repeats it"
)

// FreeFields are the fields of events that can be changed without contradicting anything else in the log, each with the reason. A field is
// here if that is so of one event of its type; of others it may be compared. All other fields are compared (TestEveryFieldIsComparedOrFree).
func FreeFields() map[string]string {
	return map[string]string{
		"account.plan_changed.plan":              "the operator chose it, where no subscription did, and nothing was done on it",
		"account.registered.plan":                "the plan of an account that has done nothing on it",
		"grant.approved.client_id":               chosen,
		"grant.approved.client_name":             chosen,
		"grant.approved.resource":                chosen,
		"invoice.issued.currency":                chosen,
		"invoice.issued.lines[].description":     "the operator's words, on invoices that are of no subscription",
		"invoice.issued.reference":               chosen,
		"invoice.paid.payment_id":                "the payment provider's",
		"invoice.voided.note":                    chosen,
		"job.claimed.runner":                     process,
		"job.failed.error":                       "says in words why there is no answer",
		"job.lost.lacked":                        "says in words why it could not be tried",
		"job.released.lacked":                    "says in words why it could not be tried",
		"job.released.not_before":                "when it was to be tried again, which no claim is bound to",
		"job.timed_out.error":                    "says in words why there is no answer",
		"run.evaluated.asked[].name":             ofOthers,
		"run.evaluated.asked[].outcome":          ofOthers,
		"run.evaluated.asked[].revision":         ofOthers,
		"run.evaluated.check.check":              detail,
		"run.evaluated.check.elapsed_ms":         measured,
		"run.evaluated.check.residual":           detail,
		"run.evaluated.checkable":                "said by the engine; the receipt does not have it",
		"run.evaluated.execution_time_ms":        measured,
		"run.evaluated.input_form.inline":        "the answer in another form; the receipt has the answer",
		"run.failed.asked[].name":                ofOthers,
		"run.failed.asked[].outcome":             ofOthers,
		"run.failed.asked[].revision":            ofOthers,
		"run.failed.detail":                      unsigned,
		"run.failed.execution_time_ms":           measured,
		"run.failed.expression.inline":           unsigned,
		"run.failed.session_id":                  unsigned,
		"run.timed_out.asked[].name":             ofOthers,
		"run.timed_out.asked[].outcome":          ofOthers,
		"run.timed_out.asked[].revision":         ofOthers,
		"run.timed_out.budget_ms":                "of the plan, which the operator's catalogue has",
		"run.timed_out.expression.inline":        unsigned,
		"run.timed_out.session_id":               unsigned,
		"run.verified.automatic":                 detail,
		"run.verified.basis":                     detail,
		"run.verified.check":                     detail,
		"run.verified.elapsed_ms":                measured,
		"run.verified.method":                    detail,
		"run.verified.residual":                  detail,
		"run.verified.reason":                    detail,
		"run.verified.verdict":                   "asked for after the receipt, and no signature covers it; --reverify asks for it again",
		"run.timed_out.source":                   unsigned,
		"run.failed.reason":                      unsigned,
		"run.failed.source":                      unsigned,
		"session.expired.reason":                 "says why it ended",
		"grant.revoked.reason":                   "says why it ended",
		"job.released.reason":                    "says why an attempt ended, of which others followed",
		"slots.spent.submission.source":          unused,
		"runids.reserved.process":                process,
		"runner.beat.address":                    process,
		"runner.beat.nonces[]":                   "what a runner said it was at; only its newest heartbeat is kept",
		"runner.beat.seq":                        "only the newest heartbeat is kept",
		"session.opened.address":                 process,
		"session.opened.owner":                   process,
		"slots.spent.submission.certificate_id":  unused,
		"slots.spent.submission.concurrent":      unused,
		"slots.spent.submission.idempotency_key": unused,
		"slots.spent.submission.kind":            unused,
		"slots.spent.submission.payload.inline":  unused,
		"slots.spent.submission.timeout_ms":      unused,
		"slots.spent.submission.upload_id":       unused,
		"token.minted.expires_at":                chosen,
		"token.minted.last4":                     "of the secret, which is not in the log",
		"token.minted.name":                      chosen,
		"token.minted.scopes[]":                  chosen,
		"upload.refused.job_id":                  "the slot has the job, and the refund is for the slot",
	}
}
