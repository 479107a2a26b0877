package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"reckon/domain/account"
	"reckon/internal/config"
	"reckon/internal/supervision"
)

// serverKilled is when a supervisor may kill a server with the default settings and plans.
func serverKilled() time.Duration {
	var evaluation time.Duration
	for _, p := range account.DefaultPlans() {
		evaluation = max(evaluation, supervision.Evaluation(supervision.WorkerWait, p.EvaluationBudget()))
	}
	return supervision.Killed(supervision.ServerStops(supervision.Drain(supervision.AnswersUnready, supervision.JobsEnd, evaluation)))
}

// TestTimesAgree: what the table of times promises to a balancer holds whatever the numbers are.
func TestTimesAgree(t *testing.T) {
	t.Parallel()
	ready := supervision.Readiness
	if noticed := ready.Every * time.Duration(ready.Failures); noticed >= supervision.AnswersUnready {
		t.Errorf("a balancer notices within %v that a server stops, which answers for %v", noticed, supervision.AnswersUnready)
	}
	if ready.Timeout <= supervision.ReadinessLooks {
		t.Errorf("a balancer waits %v for an answer that takes up to %v when a part is silent", ready.Timeout, supervision.ReadinessLooks)
	}
	external := config.Serve{Installation: config.Installation{Eventstore: "esdb://log.example:2113"}}
	if got := external.UnreadyFor(); got != supervision.AnswersUnready {
		t.Errorf("--unready-grace: %v", got)
	}
}

// TestTimesOfCompose: a container has the time that its process needs to stop, and its health is asked with the command that the image has.
func TestTimesOfCompose(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(folder, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			EnvFile []string      `yaml:"env_file"`
			Grace   time.Duration `yaml:"stop_grace_period"`
			Health  struct {
				Test     []string
				Interval time.Duration
				Timeout  time.Duration
				Retries  int
			} `yaml:"healthcheck"`
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	found, lives := 0, supervision.Liveness
	for name, s := range file.Services {
		if len(s.EnvFile) == 0 || s.EnvFile[0] != "secrets/reckon.env" {
			continue
		}
		found++
		h := s.Health
		if s.Grace != serverKilled() || h.Interval != lives.Every || h.Timeout != lives.Timeout || h.Retries != lives.Failures || !strings.Contains(strings.Join(h.Test, " "), supervision.Readiness.Path) {
			t.Errorf("%s: %+v, not the times of internal/supervision", name, s)
		}
	}
	if found != 5 {
		t.Errorf("%d services", found)
	}
	proxy, err := os.ReadFile(filepath.Join(folder, "Caddyfile"))
	ready := supervision.Readiness
	for _, line := range []string{"health_uri " + ready.Path, "health_interval " + ready.Every.String(), "health_timeout " + ready.Timeout.String()} {
		if err != nil || !regexp.MustCompile(`(?m)^\s*`+line+`$`).Match(proxy) {
			t.Errorf("Caddyfile: no %s, %v", line, err)
		}
	}
}

// probe is one of Kubernetes, in seconds.
type probe struct {
	HTTPGet struct {
		Path string
		Port int
	} `yaml:"httpGet"`
	Period   int `yaml:"periodSeconds"`
	Timeout  int `yaml:"timeoutSeconds"`
	Failures int `yaml:"failureThreshold"`
}

func (p probe) times() supervision.Probe {
	return supervision.Probe{Path: p.HTTPGet.Path, Every: time.Duration(p.Period) * time.Second, Timeout: time.Duration(p.Timeout) * time.Second, Failures: p.Failures}
}

// TestTimesOfKubernetes: every pod has both probes, and the time that its process needs to stop.
func TestTimesOfKubernetes(t *testing.T) {
	t.Parallel()
	type object struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct {
			Template struct {
				Spec struct {
					Grace      int `yaml:"terminationGracePeriodSeconds"`
					Containers []struct {
						Ready probe `yaml:"readinessProbe"`
						Lives probe `yaml:"livenessProbe"`
					}
				}
			}
		}
	}
	found := 0
	for _, o := range ofKubernetes[object](t) {
		if o.Kind != "Deployment" {
			continue
		}
		found++
		pod := o.Spec.Template.Spec
		// Where a start waits only the admin listener answers.
		if got := time.Duration(pod.Grace) * time.Second; got != serverKilled() || pod.Containers[0].Ready.times() != supervision.Readiness ||
			pod.Containers[0].Lives.times() != supervision.Liveness || pod.Containers[0].Lives.HTTPGet.Port != 9090 {
			t.Errorf("%s: %+v, not the times of internal/supervision", o.Metadata.Name, pod)
		}
	}
	if found != 3 {
		t.Errorf("%d deployments", found)
	}
}
