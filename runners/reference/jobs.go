package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/reference"
	"reckon/internal/view"
	"reckon/runners"
	"reckon/runners/proof"
	"reckon/runners/qsim"
)

// jobs are the kinds of job that examples submit. A job is prepared and run as its kind has it, without a log and a queue.
type jobs struct {
	kinds   []runners.Kind
	judge   *proof.Judge
	answers view.Answers
}

// newJobs takes the command that starts a child which judges proofs (proof.Serve).
func newJobs(judgeCommand []string) (*jobs, error) {
	published, err := event.NewCatalogue(certificate.Events())
	if err != nil {
		return nil, err
	}
	judge, kept := proof.NewJudge(proof.JudgeConfig{Command: judgeCommand}), &keptBlobs{contents: map[string][]byte{}}
	proofs := commands.NewProofs(commands.Proofs{Blobs: kept, Judge: judge, Clock: clock{}}, 1)
	return &jobs{judge: judge, answers: view.Answers{Catalogue: published, Blobs: kept}, kinds: []runners.Kind{
		qsim.New(nil, nil), // no example asks for a file
		proof.Jobs{Proofs: proofs, Judge: judge, Blobs: kept, Catalogue: published, Clock: clock{}, Rev: "reference"},
	}}, nil
}

func (j *jobs) close() { j.judge.Close() }

// run submits a job by its request's body and runs it.
func (j *jobs) run(ctx context.Context, body string, plan account.Plan, budget time.Duration) (reference.Ran, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return reference.Ran{Refused: err.Error()}, nil
	}
	submittable := runners.Submittable(j.kinds)
	request := commands.JobRequest{}
	if err := json.Unmarshal(members["kind"], &request.Kind); err != nil {
		return reference.Ran{Refused: "the request names no kind"}, nil
	}
	var err error
	if request.Fields, err = submittable.ReadFields(members); err != nil {
		return reference.Ran{Refused: err.Error()}, nil
	}
	submission := job.Submission{JobID: exampleID, Account: reader, CertificateID: exampleID, Kind: request.Kind}
	intent := commands.Intent{Account: reader, At: clock{}.Now()}
	if err := submittable.Command(request, plan).Prepare(ctx, intent, &submission); err != nil {
		return reference.Ran{Refused: err.Error()}, ctx.Err()
	}
	for _, kind := range j.kinds {
		if kind.Declare().Name == request.Kind {
			end, err := kind.Run(ctx, intent, runners.Work{Submission: submission, Content: submission.Payload.Inline, Budget: budget})
			if err != nil {
				return reference.Ran{}, err
			}
			return j.result(ctx, end)
		}
	}
	return reference.Ran{Refused: fmt.Sprintf("no example submits jobs of kind %s", request.Kind)}, nil
}

// exampleID is the id of every job and certificate here; nothing keeps them.
const exampleID = "00000000-0000-4000-8000-000000000000"

func (j *jobs) result(ctx context.Context, end runners.End) (reference.Ran, error) {
	if end.Status != job.Succeeded {
		return reference.Ran{Refused: fmt.Sprintf("the job ended %s: %s", end.Status, end.Outcome.Error), OutOfTime: end.Status == job.TimedOut}, nil
	}
	output, result, err := j.answers.Of(ctx, end.Outcome)
	return reference.Ran{Answer: reference.Answer{Result: output, Job: result}}, err
}

type clock struct{}

// Now is commands.Clock.
func (clock) Now() time.Time { return time.Now() }

// keptBlobs is commands.Blobs in memory: examples are few and small.
type keptBlobs struct {
	mu       sync.Mutex
	contents map[string][]byte // by hash
}

// Put is commands.Blobs.
func (b *keptBlobs) Put(_ context.Context, content []byte) (event.Blob, error) {
	hash := sha256.Sum256(content)
	blob := event.Blob{SHA256: hex.EncodeToString(hash[:]), Bytes: int64(len(content))}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.contents[blob.SHA256] = content
	return blob, nil
}

// Get is commands.Blobs.
func (b *keptBlobs) Get(_ context.Context, blob event.Blob) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.contents[blob.SHA256]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", blob.SHA256, os.ErrNotExist)
	}
	return content, nil
}
