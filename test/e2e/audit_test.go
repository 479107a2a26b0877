package e2e

import (
	"encoding/json"
	"os/exec"
	"strings"
)

// auditAnswer is what `reckon audit --json` prints.
type auditAnswer struct {
	Counts   map[string]int64 `json:"counts"`
	Findings []struct {
		Kind, Severity, Stream, Table, Key, Column, Expected, Found string
		Position                                                    uint64
	} `json:"findings"`
}

// audit runs the auditor on the server's data folder.
func (s *Server) audit(arguments ...string) (auditAnswer, int) {
	s.t.Helper()
	command := exec.Command(Binary(s.t), append([]string{"audit", "--json", "--data", s.Data}, arguments...)...)
	var errs strings.Builder
	command.Stderr = &errs
	output, err := command.Output()
	status := command.ProcessState.ExitCode()
	if err != nil && status != 1 {
		s.t.Fatalf("reckon audit %v: %v\n%s", arguments, err, errs.String())
	}
	var answer auditAnswer
	if err := json.Unmarshal(output, &answer); err != nil {
		s.t.Fatalf("reckon audit %v: %v\n%s", arguments, err, output)
	}
	return answer, status
}

// mustBeClean audits what a test has made the real service write: whatever it was, nothing in it is wrong.
func (s *Server) mustBeClean(arguments ...string) auditAnswer {
	s.t.Helper()
	answer, status := s.audit(arguments...)
	if status != 0 {
		for _, f := range answer.Findings {
			s.t.Errorf("%s %s %s %d %s %s %s: expected %s; found %s", f.Severity, f.Kind, f.Stream, f.Position, f.Table, f.Key, f.Column, f.Expected, f.Found)
		}
		s.t.Fatalf("the audit ends with %d", status)
	}
	return answer
}
