package transparency

import (
	"encoding/json"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream is the one stream of the deployment's transparency log.
const Stream = "checkpoints"

// Signed is a checkpoint: the tree over all leaves up to one of them, signed.
type Signed struct {
	Origin    string    `json:"origin" doc:"Name of the log: the first line of its checkpoints. The same in every checkpoint"`
	Size      int64     `json:"size" unit:"leaves" doc:"Number of leaves in the tree"`
	Root      string    `json:"root" doc:"Root of the tree (RFC 6962), base64"`
	Roots     []string  `json:"roots" doc:"Roots of its complete subtrees, base64, the largest first: one for each binary digit 1 of the size. The tree is continued from them"`
	Last      LeafPlace `json:"last" doc:"The event of the last leaf"`
	Chain     *Chain    `json:"chain,omitempty" doc:"The event log's hash chain at the event of the last leaf, which the signature covers; absent: the log was on a server, which shows no hash chain, or an older release signed"`
	KID       string    `json:"kid" doc:"Id of the key that signed"`
	PublicKey string    `json:"public_key" doc:"The key's public half, base64url without padding (RFC 8037)"`
	Signature string    `json:"signature" doc:"Ed25519 over origin, size, root and chain, a line each, base64 (C2SP tlog-checkpoint)"`
}

// Chain is the hash chain of a node's log at an event: whoever keeps it knows all events up to there. It follows from the log alone, so
// that every process that signs a tree signs the same.
type Chain struct {
	Log      string `json:"log" format:"uuid" doc:"Id of the log: the id of its first record. A copy made by a migration has another, and other positions and links"`
	Position uint64 `json:"position" unit:"position" doc:"Position of the event"`
	Link     string `json:"link" format:"sha256" doc:"Link of the hash chain there (docs/log-format.md)"`
}

// LeafPlace names the event of a leaf. It is no position, because a copy of a log has others.
type LeafPlace struct {
	Stream   string         `json:"stream" doc:"Its stream"`
	Revision event.Revision `json:"revision" unit:"events" doc:"Its revision there, from 0"`
}

// Cosigned holds the answers of witnesses to a checkpoint.
type Cosigned struct {
	Size         int64    `json:"size" unit:"leaves" doc:"Size of the checkpoint"`
	Root         string   `json:"root" doc:"Root of the checkpoint, base64"`
	Cosignatures []string `json:"cosignatures" doc:"Signature lines (C2SP tlog-cosignature), one for each witness, without their line feeds"`
}

// Conflict is a witness's contradiction of a checkpoint.
type Conflict string

// Conflicts of a witness with a log.
const (
	OtherHistory Conflict = "other_history" // what it has cosigned is not the beginning of the checkpoint's tree
	Ahead        Conflict = "ahead"         // it has cosigned a larger tree of the log than the log has
)

// Conflicted is the answer of a witness that has cosigned another history of this log, or a later state of it. While the witness is
// heeded, no checkpoint is signed.
type Conflicted struct {
	Size     int64    `json:"size" unit:"leaves" doc:"Size of the checkpoint that it was asked to cosign"`
	Root     string   `json:"root" doc:"Root of that checkpoint, base64"`
	Witness  string   `json:"witness" doc:"Name of the witness"`
	Conflict Conflict `json:"conflict" enum:"other_history,ahead" doc:"other_history: what it has cosigned is not the beginning of this tree. ahead: it has cosigned a larger tree of this log"`
	Held     int64    `json:"held" unit:"leaves" doc:"Size of the tree that the witness has cosigned last"`
}

func (Signed) EventName() string     { return "checkpoint.signed" }
func (Cosigned) EventName() string   { return "checkpoint.cosigned" }
func (Conflicted) EventName() string { return "checkpoint.conflicted" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of Stream with its event types.
func Model() decider.Model[Command, State] {
	const root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
	here := event.Address{Stream: Stream}
	return decider.Model[Command, State]{Decider: Decider, Shown: shown, Types: []decider.Type[Command, State]{
		decider.On(Signed{
			Origin: "example.org/transparency", Size: 1, Root: root, Roots: []string{root}, Last: LeafPlace{Stream: "run-1001", Revision: 1},
			Chain: &Chain{Log: "0198a1b2-0000-7000-8000-0000000010c0", Position: 17, Link: "3d0a62f999375c96e670d9d3cbdfb8e4ab470c5b1326d04131ece4d644362cb8"},
			KID:   "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y", PublicKey: "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg", Signature: "LU6z…",
		},
			func(Signed) event.Address { return here },
			func(e Signed, _ State, _ event.Metadata) Command { return signed{e} },
			event.Upcast(withoutChain)),
		decider.On(Cosigned{Size: 1, Root: root, Cosignatures: []string{"— witness.example/w1 jWbPPwAAAABkGFDL…"}},
			func(Cosigned) event.Address { return here },
			func(e Cosigned, _ State, _ event.Metadata) Command { return Cosign(e) }),
		decider.On(Conflicted{Size: 1, Root: root, Witness: "witness.example/w1", Conflict: Ahead, Held: 7},
			func(Conflicted) event.Address { return here },
			func(e Conflicted, _ State, _ event.Metadata) Command { return Contradict{e} }),
	}}
}

// withoutChain reads version 1, whose checkpoints do not commit to the event log.
func withoutChain(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

// shown is what people are shown of a state.
func shown(s State) any {
	return struct {
		Size         int64
		Root         string
		Cosignatures []string
	}{s.Last.Size, s.Last.Root, s.Cosignatures}
}
