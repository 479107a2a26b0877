package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"reckon/domain/circuit"
	"reckon/domain/job"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/statefiles"
)

type statevectorInput struct {
	ID httpkit.UUID `path:"id" doc:"job_id of a circuit that asked for npy" example:"7c9e6679-7425-50de-944b-e07fc1f90ae7"`
}

func (s Services) registerStatevectors(api *httpkit.API) {
	httpkit.HandleFile(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/jobs/{id}/statevector.npy", ID: "get-statevector", Tag: "Jobs", Summary: "The whole state vector of a circuit, for NumPy",
		Description: "The file that a circuit asked for with npy: one array of complex128, which numpy.load reads. Its SHA-256 is in the job's result and in the ETag. " +
			"Parts of it are answered to Range. It is kept for some time only; then the same job, submitted again, makes the same file.",
		Kinds: []httpkit.Kind{httpkit.NoSuchJob, httpkit.NoStatevector, httpkit.StateForgotten, httpkit.Unavailable},
	}, s.statevector)
}

func (s Services) statevector(ctx context.Context, in *statevectorInput) (*httpkit.File, error) {
	id := string(in.ID)
	state, err := s.readJob(ctx, id)
	if err != nil {
		return nil, err
	}
	named, err := s.stateFileOf(ctx, state)
	if err != nil {
		return nil, err
	}
	if named.NPY == nil {
		return nil, httpkit.NoStatevector.Problem("this job has no file of a state vector: %s",
			cmp.Or(named.Omitted["npy"], "only a circuit that asked for npy and has succeeded has one"))
	}
	file, written, err := s.States.Read(auth.PrincipalOf(ctx).Account, id, named.NPY.SHA256)
	if errors.Is(err, statefiles.ErrForgotten) {
		return nil, httpkit.StateForgotten.Problem("the file is not kept any more: submit the circuit of this job again, and the new job has the same file, of SHA-256 %s", named.NPY.SHA256)
	}
	if err != nil {
		return nil, err
	}
	return &httpkit.File{Content: file, Name: id + ".npy", ETag: named.NPY.SHA256, Modified: written}, nil
}

// stateFile is what a job's result says of its file.
type stateFile struct {
	NPY     *circuit.StateFile `json:"npy"` // nil without a file
	Omitted map[string]string  `json:"omitted"`
}

func (s Services) stateFileOf(ctx context.Context, state job.State) (named stateFile, err error) {
	if state.Status != job.Succeeded {
		return named, nil
	}
	text, err := state.Outcome.Result.Load(ctx, s.Blobs)
	if err != nil || text == "" {
		return named, err
	}
	return named, json.Unmarshal([]byte(text), &named)
}
