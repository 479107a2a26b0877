package deploy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"reckon/internal/blobs/s3test"
	"reckon/projections/pgtest"
	"reckon/runners/engine/enginetest"
	"reckon/test/binary"
	"reckon/test/need"
	"reckon/test/wait"
)

// composed is what this test runs of a compose file.
type composed struct {
	Services map[string]service `yaml:"services"`
}

type service struct {
	Command     []string                `yaml:"command"`
	Entrypoint  []string                `yaml:"entrypoint"`
	Environment map[string]string       `yaml:"environment"`
	EnvFile     []string                `yaml:"env_file"`
	ReadOnly    bool                    `yaml:"read_only"`
	CapDrop     []string                `yaml:"cap_drop"`
	Health      struct{ Test []string } `yaml:"healthcheck"`
	Networks    map[string]struct {
		Address string `yaml:"ipv4_address"`
	} `yaml:"networks"`
}

// host is a machine that stands for the compose file's network: each service has the address of its container below 127/8
// instead of 172/8, which this machine answers without being told to.
type host struct {
	t        *testing.T
	folder   string // a copy of docs/deploy, with its secrets
	services map[string]service
	names    *strings.Replacer // of services to addresses, of a container's paths to folders
	keys     string
	database string
	started  map[string]*exec.Cmd
}

func (h *host) address(name string) string { return h.services[name].Networks["reckon"].Address }

// local is a text of docs/deploy with this machine's addresses.
func local(text string) string { return strings.ReplaceAll(text, "172.28.0.", "127.28.0.") }

// compose reads the compose file, makes its secrets by its own script, and maps what it names to this machine.
func compose(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, folder: t.TempDir(), keys: filepath.Join(t.TempDir(), "keys"), started: map[string]*exec.Cmd{}}
	for _, name := range []string{"compose.yaml", "secrets.sh", "Caddyfile", "prometheus.yml"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(h.folder, name), []byte(local(string(content))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shell(t, os.Environ(), "sh", filepath.Join(h.folder, "secrets.sh"))
	var file composed
	if err := yaml.Unmarshal(h.read("compose.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	h.services = file.Services
	pairs := []string{"/run/authority", filepath.Join(h.folder, "secrets", "ca"), "/var/lib/reckon-keys", h.keys}
	for name := range h.services {
		pairs = append(pairs, name+":", h.address(name)+":")
	}
	h.names = strings.NewReplacer(pairs...)
	return h
}

func (h *host) read(name string) []byte {
	h.t.Helper()
	content, err := os.ReadFile(filepath.Join(h.folder, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return content
}

// environment is a service's, with the container's places mapped to this machine's.
func (h *host) environment(name string) []string {
	h.t.Helper()
	var lines []string
	for _, file := range h.services[name].EnvFile {
		for line := range strings.Lines(string(h.read(file))) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for variable, value := range h.services[name].Environment {
		lines = append(lines, variable+"="+value)
	}
	for i, line := range lines {
		line = strings.ReplaceAll(line, "0.0.0.0:", h.address(name)+":")
		if lines[i] = h.names.Replace(line); strings.HasPrefix(line, "RECKON_DATABASE=") {
			lines[i] = "RECKON_DATABASE=" + h.database
		}
	}
	return append(lines, "PATH="+os.Getenv("PATH"), "HOME="+h.folder)
}

// start runs a command until the test ends.
func (h *host) start(name string, environment []string, program string, arguments ...string) {
	h.t.Helper()
	command := exec.Command(program, arguments...)
	output := &bytes.Buffer{}
	command.Env, command.Stdout, command.Stderr = environment, output, output
	if err := command.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.started[name] = command
	h.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if h.t.Failed() {
			h.t.Logf("%s:\n%s", name, output)
		}
	})
}

// reckon starts a service with its own command, and waits until it is ready.
func (h *host) reckon(name string) {
	h.t.Helper()
	var arguments []string
	for _, argument := range h.services[name].Command {
		arguments = append(arguments, h.names.Replace(strings.ReplaceAll(argument, "0.0.0.0:", h.address(name)+":")))
	}
	h.start(name, h.own(name), binary.Reckon(h.t), arguments...)
	wait.Until(h.t, "the service is ready", func() bool {
		status, _, _ := h.get("http://"+h.address(name)+":9090/readyz", h.token())
		return status == http.StatusOK
	})
	var asks []string // without CMD
	for _, argument := range h.services[name].Health.Test[1:] {
		asks = append(asks, strings.ReplaceAll(argument, "127.0.0.1", h.address(name)))
	}
	if output, err := exec.Command(asks[0], asks[1:]...).CombinedOutput(); err != nil {
		h.t.Errorf("the health check of %s: %v\n%s", name, err, output)
	}
}

// own is the environment of a service's process, and of operators' commands beside it.
func (h *host) own(name string) []string {
	data := filepath.Join(h.folder, "data-"+name)
	if err := os.MkdirAll(data, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return append(h.environment(name), "RECKON_DATA="+data, "RECKON_ENGINE="+enginetest.Environment(h.t))
}

func (h *host) token() string { return strings.TrimSpace(string(h.read("secrets/admin.token"))) }

func (h *host) get(url, token string) (status int, body []byte, err error) {
	return ask(http.DefaultClient, http.MethodGet, url, token, nil)
}

func ask(client *http.Client, method, url, token string, body any) (status int, answer []byte, err error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return 0, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, &sent)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// log runs a node in the place of the cluster's first: with the certificate, the key and the password that the cluster would have.
func (h *host) log() {
	h.t.Helper()
	settings := h.environment("log-1")
	password := ""
	for _, line := range settings {
		if value, found := strings.CutPrefix(line, "KURRENTDB_DEFAULT_ADMIN_PASSWORD="); found {
			password = value
		}
	}
	certificates := filepath.Join(h.folder, "secrets", "log-1")
	h.start("log-1", append(settings, "RECKON_NODE_ADMIN_PASSWORD="+password), binary.Reckon(h.t), "node", "--init", "--secure", "--listen", h.address("log-1")+":2113",
		"--tls-certificate", filepath.Join(certificates, "node.crt"), "--tls-key", filepath.Join(certificates, "node.key"), "--data", filepath.Join(h.folder, "log"))
}

// blobs runs the S3 server by the service's own command line.
func (h *host) blobs() {
	h.t.Helper()
	s3test.Program(h.t)
	line := strings.NewReplacer("/objects", filepath.Join(h.folder, "objects"), "/certificates", filepath.Join(h.folder, "secrets", "blobs"), " :7070", " "+h.address("blobs")+":7070").
		Replace(h.services["blobs"].Entrypoint[2])
	h.start("blobs", h.environment("blobs"), "sh", "-c", line)
	wait.Until(h.t, "the store of blobs answers", func() bool {
		c, err := tls.Dial("tcp", h.address("blobs")+":7070", &tls.Config{RootCAs: h.authority()})
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}

func (h *host) authority() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.read("secrets/ca/ca.crt"))
	return pool
}

// TestSecrets: secrets.sh makes certificates that hold for both ends of TLS under the names and addresses of the services.
func TestSecrets(t *testing.T) {
	t.Parallel()
	h := compose(t)
	for _, name := range []string{"log-1", "log-2", "log-3", "blobs"} {
		block, _ := pem.Decode(h.read("secrets/" + name + "/node.crt"))
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, as := range []string{name, h.address(name)} {
			if _, err := certificate.Verify(x509.VerifyOptions{DNSName: as, Roots: h.authority(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
				t.Errorf("%s as %s: %v", name, as, err)
			}
		}
		if !slices.Contains(certificate.ExtKeyUsage, x509.ExtKeyUsageClientAuth) || certificate.Subject.CommonName != "eventstoredb-node" {
			t.Errorf("%s: %v for %v", name, certificate.Subject, certificate.ExtKeyUsage)
		}
	}
	if output, err := exec.Command("sh", filepath.Join(h.folder, "secrets.sh")).CombinedOutput(); err == nil {
		t.Errorf("secrets are made anew: %s", output)
	}
	for name, s := range h.services {
		if slices.Contains(s.EnvFile, "secrets/reckon.env") && (!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL")) {
			t.Errorf("%s runs with more than it needs", name)
		}
		for variable, value := range s.Environment {
			if strings.Contains(variable, "PASSWORD") && !strings.HasPrefix(value, "/run/secrets/") {
				t.Errorf("%s has a secret in the compose file", name)
			}
		}
	}
}

// TestCompose: the commands and environments of the compose file's services make one installation: with a node in the place of the
// cluster, PostgreSQL of this machine, and the containers' addresses. What only a container's engine does is not tried: images, volumes, restarts.
func TestCompose(t *testing.T) {
	t.Parallel()
	h := compose(t)
	h.database = pgtest.Database(t)
	h.blobs()
	h.log()
	names := []string{"projector", "api-1", "api-2", "run-1", "run-2"}
	for _, name := range names {
		h.reckon(name)
	}
	operate := func(stdin string, arguments ...string) string {
		command := exec.Command(binary.Reckon(t), arguments...)
		command.Env, command.Stdin = h.own("api-1"), strings.NewReader(stdin)
		return strings.TrimSpace(string(shellOutput(t, command)))
	}
	operate("correct horse battery\n", "account", "create", "anna@example.com", "--password-stdin")
	token := operate("", "account", "token", "anna@example.com", "--name", "t")

	evaluate := func(client *http.Client, at string) error {
		status, answer, err := ask(client, "POST", at+"/api/evaluate", token, map[string]any{"expression": "Integrate[x^2 Sin[x], x]"})
		if err != nil || status != http.StatusOK || !bytes.Contains(answer, []byte(`"verdict":"verified"`)) {
			return fmt.Errorf("%s: %d %s %w", at, status, answer, err)
		}
		return nil
	}
	first, second := "http://"+h.address("api-1")+":8080", "http://"+h.address("api-2")+":8080"
	if err := errors.Join(evaluate(http.DefaultClient, first), evaluate(http.DefaultClient, second)); err != nil {
		t.Error(err)
	}
	session := func(at, expression, want string) { // it lives in one process, and the other forwards to it
		t.Helper()
		status, answer, err := ask(http.DefaultClient, "POST", at+"/api/evaluate", token, map[string]any{"expression": expression, "session_id": "s"})
		if err != nil || status != http.StatusOK || !bytes.Contains(answer, []byte(`"result":"`+want+`"`)) {
			t.Errorf("%s at %s: %d %s %v", expression, at, status, answer, err)
		}
	}
	session(first, "x = 41", "41")
	session(second, "x + 1", "42")

	var job struct {
		JobID  string `json:"job_id"`
		Status string `json:"status"`
	}
	status, answer, err := ask(http.DefaultClient, "POST", first+"/api/jobs", token, map[string]any{"expression": "Factor[x^6 - 1]"})
	if err := errors.Join(err, json.Unmarshal(answer, &job)); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	wait.Until(t, "the job has succeeded", func() bool {
		_, answer, err := ask(http.DefaultClient, "GET", second+"/api/jobs/"+job.JobID+"?wait_ms=5000", token, nil)
		return errors.Join(err, json.Unmarshal(answer, &job)) == nil && job.Status == "succeeded"
	})
	if status, _, err := h.get(first+"/api/jobs/none", token); err != nil || status != http.StatusNotFound {
		t.Errorf("%d %v", status, err)
	}
	h.scrape(names)
	t.Run("proxy", func(t *testing.T) { h.proxy(t, evaluate) })
}

// TestSettingsExist: every flag and variable that docs/deploy gives the service is one of `reckon serve`, and every process of the Kubernetes
// example has a counterpart in the compose file.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	help := shell(t, os.Environ(), binary.Reckon(t), "serve", "--help")
	known := regexp.MustCompile(`--[a-z-]+|RECKON_[A-Z_]+`).FindAllString(help, -1)
	commands := map[string]bool{}
	for _, name := range []string{"compose.yaml", "kubernetes.yaml", "secrets.sh", "Dockerfile"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, setting := range regexp.MustCompile(`(?m)\bRECKON_[A-Z_]+`).FindAllString(string(content), -1) {
			if found++; !slices.Contains(known, setting) {
				t.Errorf("%s: %s is no setting of reckon serve", name, setting)
			}
		}
		for _, m := range regexp.MustCompile(`\[serve, (.*)\]`).FindAllStringSubmatch(string(content), -1) {
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[1], -1) {
				if found++; !slices.Contains(known, flag) {
					t.Errorf("%s: %s is no flag of reckon serve", name, flag)
				}
			}
			line := regexp.MustCompile(`"[^"]*:9091"`).ReplaceAllString(m[1], "PEER")
			if name == "kubernetes.yaml" && !commands[line] {
				t.Errorf("kubernetes.yaml: no service of the compose file runs %s", line)
			}
			commands[line] = true
		}
		if found == 0 {
			t.Errorf("%s gives the service no setting", name)
		}
	}
	if len(commands) != 3 {
		t.Errorf("processes: %v", commands)
	}
}

// ofKubernetes reads the objects of kubernetes.yaml.
func ofKubernetes[T any](t *testing.T) (list []T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var o T
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
}

// TestKubernetes: the example is a list of whole objects, and no container has a right that it does not need.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	type security struct {
		NonRoot      bool  `yaml:"runAsNonRoot"`
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct{ Drop, Add []string }
	}
	type object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Template struct {
				Spec struct {
					Containers []struct {
						SecurityContext security `yaml:"securityContext"`
					}
				}
			}
		}
	}
	deployments := 0
	for _, o := range ofKubernetes[object](t) {
		if o.APIVersion == "" || o.Kind == "" || o.Metadata.Name == "" {
			t.Errorf("no whole object: %+v", o)
		}
		for _, c := range o.Spec.Template.Spec.Containers {
			deployments++
			s := c.SecurityContext
			if !s.NonRoot || s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || s.Capabilities.Add != nil {
				t.Errorf("%s runs with %+v", o.Metadata.Name, s)
			}
		}
	}
	if deployments != 3 {
		t.Errorf("%d deployments", deployments)
	}
}

// scrape asks every target of prometheus.yml for metrics as Prometheus does, and looks for what the dashboard shows.
func (h *host) scrape(names []string) {
	h.t.Helper()
	var config struct {
		Jobs []struct {
			Authorization struct {
				File string `yaml:"credentials_file"`
			} `yaml:"authorization"`
			Static []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal(h.read("prometheus.yml"), &config); err != nil {
		h.t.Fatal(err)
	}
	var targets []string
	for _, static := range config.Jobs[0].Static {
		targets = append(targets, static.Targets...)
	}
	if len(targets) != len(names) {
		h.t.Errorf("Prometheus asks %v, of %v", targets, names)
	}
	measured := map[string]bool{}
	for _, target := range targets {
		token := strings.TrimSpace(string(h.read("secrets/" + config.Jobs[0].Authorization.File)))
		status, body, err := h.get("http://"+target+"/metrics", token)
		if err != nil || status != http.StatusOK {
			h.t.Errorf("%s: %d %v", target, status, err)
		}
		for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllSubmatch(body, -1) {
			measured[string(m[1])] = true
		}
	}
	dashboard, err := os.ReadFile(filepath.Join(folder, "grafana", "dashboard.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	shown := regexp.MustCompile(`reckon_[a-z_]+`).FindAllString(string(dashboard), -1)
	for _, name := range shown {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !measured[name] && !measured[base] {
			h.t.Errorf("the dashboard shows %s, which no process measures", name)
		}
	}
	if len(shown) < 15 {
		h.t.Errorf("the dashboard shows %v only", shown)
	}
}

// proxy runs the Caddyfile: clients have TLS, and are answered by the other process when one is killed.
func (h *host) proxy(t *testing.T, evaluate func(*http.Client, string) error) {
	need.Program(t, "caddy", "caddy")
	const port = "18443"
	file := filepath.Join(h.folder, "Caddyfile.local")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(h.names.Replace(string(h.read("Caddyfile"))), "8443", port)), 0o600); err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(h.folder, "caddy")
	h.start("proxy", append(os.Environ(), "XDG_DATA_HOME="+stored, "XDG_CONFIG_HOME="+stored), "caddy", "run", "--config", file, "--adapter", "caddyfile")
	root := filepath.Join(stored, "caddy", "pki", "authorities", "local", "root.crt")
	wait.Until(t, "Caddy has its root certificate", func() bool { _, err := os.Stat(root); return err == nil })
	content, err := os.ReadFile(root)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(content)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	wait.Until(t, "Caddy leads to a service", func() bool { return evaluate(client, "https://localhost:"+port) == nil })
	if err := h.started["api-1"].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	answered := 0 // in a row; until Caddy has noticed, within its health_interval, a request may be lost
	wait.Until(t, "ten requests in a row are answered", func() bool {
		if answered++; evaluate(client, "https://localhost:"+port) != nil {
			answered = 0
		}
		return answered == 10
	})
}
