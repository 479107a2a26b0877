package audit

// Kinds of findings. A kind has its severity and its remedy in Kinds.
const (
	// KindUnreadable: the source could not be read on from a position.
	KindUnreadable Kind = "log.damaged"
	KindExport     Kind = "export.damaged" // the same of an export
	KindAnchor     Kind = "log.anchor_differs"
	KindNoAnchor   Kind = "log.no_anchor"

	KindEventID        Kind = "event.id"
	KindPayloadRemoved Kind = "event.payload_removed"
	KindUnknownEvent   Kind = "event.unknown"
	KindSchema         Kind = "event.schema"

	KindTextTooLong Kind = "text.too_long"
	KindTextTwice   Kind = "text.twice"
	KindBlobMissing Kind = "blob.missing"
	KindBlobDiffers Kind = "blob.differs"
	KindNotChecked  Kind = "blobs.not_checked"
	KindNotCompared Kind = "table.not_compared"

	KindIdentity Kind = "log.identity"

	KindPosition    Kind = "order.position"
	KindRevision    Kind = "order.revision"
	KindDuplicateID Kind = "order.id_twice"
	KindCause       Kind = "order.cause"
	KindStream      Kind = "event.stream"
	KindAccount     Kind = "event.account"

	KindTime      Kind = "time.differs"
	KindTimeOrder Kind = "time.order"

	KindIllegal    Kind = "stream.illegal"
	KindIncomplete Kind = "stream.incomplete"
	KindActor      Kind = "account.actor"
	KindNoAccount  Kind = "account.unknown"
	KindClosed     Kind = "account.closed"
	KindLeftOver   Kind = "account.left_over"
	KindRunID      Kind = "run.id_not_reserved"

	KindKey         Kind = "key.wrong"
	KindKeyOutside  Kind = "key.not_outside"
	KindKeySince    Kind = "key.published_since"
	KindKeyAbsent   Kind = "key.absent"
	KindNoReceipt   Kind = "receipt.missing"
	KindReceipt     Kind = "receipt.differs"
	KindReceiptID   Kind = "receipt.id"
	KindSignature   Kind = "receipt.signature"
	KindReceiptKey  Kind = "receipt.key"
	KindUnsigned    Kind = "receipt.unsigned"
	KindNoRunSealed Kind = "receipt.of_no_run"

	KindSlot        Kind = "slot.wrong"
	KindSlotBalance Kind = "slot.balance"
	KindRefund      Kind = "slot.refund"
	KindNoRefund    Kind = "slot.refund_missing"
	KindUnsettled   Kind = "slot.unsettled"
	KindNoSlot      Kind = "job.no_slot"

	KindOutcome     Kind = "outcome.differs"
	KindNoOutcome   Kind = "outcome.not_published"
	KindProof       Kind = "proof.differs"
	KindCertificate Kind = "certificate.differs"
	// KindContradicted and KindNotReproduced: what the kernel says of a certificate's export now.
	KindContradicted  Kind = "certificate.contradicted"
	KindNotReproduced Kind = "certificate.not_reproduced"

	// KindVerdict, KindVerdictNotReproduced and KindNotReverified: what the checker says of an answer now.
	KindVerdict              Kind = "verdict.contradicted"
	KindVerdictNotReproduced Kind = "verdict.not_reproduced"
	KindNotReverified        Kind = "verdict.not_asked"

	KindCheckpoint          Kind = "checkpoint.differs"
	KindCheckpointSignature Kind = "checkpoint.signature"
	KindCheckpointChain     Kind = "checkpoint.chain"
	KindNoCheckpoint        Kind = "checkpoint.missing"
	KindCheckpointKept      Kind = "checkpoint.kept_differs"
	KindCheckpointOther     Kind = "checkpoint.other_log"
	KindCosignature         Kind = "checkpoint.cosignature"
	KindNotCosigned         Kind = "checkpoint.not_cosigned"
	KindConflict            Kind = "checkpoint.conflict"

	KindMigration Kind = "migration.differs"
	KindContent   Kind = "content.differs"

	KindInvoice      Kind = "invoice.wrong"
	KindSubscription Kind = "subscription.wrong"
	KindQuote        Kind = "subscription.quote"
	KindPlan         Kind = "plan.wrong"

	KindRow         Kind = "rows.differ"
	KindRowMissing  Kind = "rows.missing"
	KindRowExtra    Kind = "rows.extra"
	KindTableState  Kind = "tables.state"
	KindTableBehind Kind = "tables.behind"
	KindTableOfCopy Kind = "tables.of_the_copy"

	KindUnderWay Kind = "log.under_way"
)

// KindInfo is what a kind of finding says for itself.
type KindInfo struct {
	Severity Severity
	Remedy   string
}

const (
	remedyRewritten = "the event was not written so by this service: compare the log with a backup or another copy at this position, and ask who could write to it"
	remedyWait      = "look whether the server's reactions run (`reckon parked list`); audit again when they have"
	remedyRebuild   = "the log is right: `reckon projections boot NAME` builds the table again; ask who else writes to the database"
)

// Kinds is the table of all kinds of findings.
func Kinds() map[Kind]KindInfo {
	rewritten := KindInfo{Error, remedyRewritten}
	return map[Kind]KindInfo{
		KindUnreadable: {Error, "keep a copy of the folder, check the disk, and restore the log from a backup (`reckon node restore`); nothing after this position was audited"},
		KindExport:     {Error, "ask for the export again, and for a copy of the folder that it was made of; nothing after this position was audited"},
		KindAnchor:     {Error, "the log was rewritten, cut, or is another one: compare it with a copy from when the anchor was noted"},
		KindNoAnchor:   {Note, "keep the output of `reckon node verify --data DIR`, of the same folder, where the operator cannot write, and give it as --anchor: without one a log that was rewritten as a whole, or cut at its end, cannot be told from the true one"},

		KindEventID: rewritten, KindUnknownEvent: {Error, "if a newer version of Reckon wrote it, audit with that version; if not, it was not written by this service"},
		KindSchema: rewritten, KindPayloadRemoved: rewritten,
		KindTextTooLong: rewritten, KindTextTwice: rewritten,
		KindBlobMissing: {Error, "restore the blob from a backup; was --blobs the right folder?"},
		KindBlobDiffers: {Error, "restore the blob from a backup, and check the disk"},
		KindNotChecked:  {Note, "give --blobs to have them checked"},
		KindNotCompared: {Warning, "restore the blob that is missing, or the log where it is damaged, and audit again: tables are made of all of both"},

		KindIdentity: {Error, "the records that say which log this is are not those that the node and the service write first: compare them with a backup"},
		KindActor:    rewritten,

		KindPosition: rewritten, KindRevision: rewritten, KindDuplicateID: rewritten, KindCause: rewritten, KindStream: rewritten, KindAccount: rewritten,

		KindTime:      rewritten,
		KindTimeOrder: {Note, "was a clock of the installation set, or wrong, at that time? If not, the event's time was changed after it was written: compare the log with another copy at this position"},

		KindIllegal: rewritten, KindIncomplete: rewritten, KindNoAccount: rewritten, KindClosed: rewritten, KindRunID: rewritten,
		KindLeftOver: {Warning, remedyWait},

		KindKey: rewritten, KindNoReceipt: rewritten, KindReceipt: rewritten, KindReceiptID: rewritten, KindReceiptKey: rewritten, KindNoRunSealed: rewritten,
		KindKeyOutside: {Error, "the log has a key that was not handed out: whoever has its private half can sign anything; ask when and where it was published"},
		KindKeySince:   {Warning, "the log has published another key after those of --keys: where the operator has rotated, fetch the keys again, see that those of --keys are among them, and give these; what the other key signed rests on the log alone until then"},
		KindKeyAbsent:  {Error, "a key that was handed out is not in the log: it is another log, or an older one"},
		KindSignature:  {Error, "no holder of the key has signed these bytes: the run or its receipt was changed after it was sealed, or the key in the log was replaced"},
		KindUnsigned:   {Error, "a key sealed at that time, so that the service would have signed or refused: the signature was removed, or a process sealed without a key"},

		KindSlot: rewritten, KindSlotBalance: rewritten, KindRefund: rewritten, KindNoSlot: rewritten,
		KindNoRefund: {Warning, remedyWait}, KindUnsettled: {Warning, remedyWait}, KindNoOutcome: {Warning, remedyWait},
		KindOutcome: rewritten, KindProof: rewritten, KindCertificate: rewritten,

		KindContradicted:  {Error, "two judgements of the same bytes differ: keep both, compare the two revisions of the kernel, and do not rely on the certificate meanwhile"},
		KindNotReproduced: {Warning, "the kernel did not finish: give --recheck-timeout more time, or a machine with more memory; it says nothing against the certificate"},

		KindVerdict:              {Error, "the verdict was changed after it was logged, or the two versions of the checker differ: ask with the version that wrote it (the event's metadata name its build), and do not rely on the verdict meanwhile"},
		KindVerdictNotReproduced: {Warning, "the checker decided nothing this time: give --reverify-timeout more time, or ask with the version that wrote the verdict; it says nothing against the verdict"},
		KindNotReverified:        {Warning, "audit again with --reverify and the position that is named"},

		KindCheckpoint:          {Error, "the log is not the one that the checkpoint was signed over, or the checkpoint was written by another: compare it with the checkpoints and proofs that users and witnesses hold"},
		KindCheckpointSignature: {Error, "no holder of the key has signed the tree that this log makes: receipts or certificates before it were changed, added or removed, or the checkpoint was"},
		KindCheckpointChain:     {Error, "events up to this checkpoint's last leaf were changed, added, removed or exchanged after it was signed: compare the log with a backup and with the checkpoints that users and witnesses hold"},
		KindNoCheckpoint:        {Warning, "look whether a server with the signing keys runs and what it says of the transparency log; if it signed, the checkpoints were removed from the log: ask users and witnesses for theirs, and give them as --checkpoint"},
		KindCheckpointOther:     {Note, "the checkpoint binds the log that was left, not this one: audit the log that was left with it, and give the content that this prints as --content here; anybody who can write to a log can say that it was migrated"},
		KindCheckpointKept:      {Error, "the log was cut, or has other receipts and checkpoints than it has signed; if it is an older copy, audit the newest. Keep the checkpoint: with its signatures it is proof"},
		KindCosignature:         {Error, "no holder of the witness's key has signed this: ask the witness for the checkpoint that it has cosigned, and give it as --checkpoint"},
		KindConflict:            {Error, "two histories of this log were shown: take what the witness has cosigned (GET /<hash of the origin>/checkpoint) and give it as --checkpoint; docs/transparency.md#conflicts says how to find out which history is the log's, and what can be done"},
		KindNotCosigned:         {Warning, "ask the witness for the newest checkpoint that it has cosigned, and give it as --checkpoint; if it has none, it was not asked, or its key is another one"},

		KindMigration: {Error, "the log is not the one that was copied: compare it with the one that it was copied from, which is as it was"},

		KindContent: {Error, "the log was rewritten or cut before there, or is another one: compare it with a copy or an export from when the content was noted"},

		KindInvoice: rewritten, KindSubscription: rewritten, KindPlan: rewritten,
		KindQuote: {Error, "no quote that this service could have issued in the day before has this price and id"},

		KindRow: {Error, remedyRebuild}, KindRowMissing: {Error, remedyRebuild}, KindRowExtra: {Error, remedyRebuild},
		KindTableState:  {Error, "`reckon projections boot NAME` builds the tables again from this log; if they are further than the log, look for a newer copy of the log first"},
		KindTableBehind: {Note, "start a server with the role project, and audit again, to have the rest compared"},
		KindTableOfCopy: {Note, "audit the log to which this one was migrated (--eventstore), to have the tables compared"},

		KindUnderWay: {Note, "audit again later to see it finished"},
	}
}
