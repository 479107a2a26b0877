package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reckon/eventstore/node"
	"reckon/internal/config"
	"reckon/internal/httpserver"
	"reckon/internal/private"
	"reckon/internal/supervision"
	"reckon/internal/telemetry"
)

// nodeCmd runs the event store alone.
type nodeCmd struct {
	nodeFolder
	newFlag
	InsecureListen    string   `help:"Listen on this loopback address instead of the socket; port 0 takes any free one. Every user of this machine is then an administrator of the log: nobody is asked who they are, and nothing is encrypted." env:"RECKON_NODE_INSECURE_LISTEN" placeholder:"HOST:PORT" xor:"port"`
	Secure            bool     `help:"Let users in at --listen too, over TLS and with a password. The first start makes the users admin and ops, whose passwords are in RECKON_NODE_ADMIN_PASSWORD and RECKON_NODE_OPS_PASSWORD or in the files named below, and are otherwise made and written to first-passwords in the folder." env:"RECKON_NODE_SECURE" xor:"port"`
	Listen            string   `help:"Address for --secure (127.0.0.1:2113); port 0 takes any free one." env:"RECKON_NODE_LISTEN" placeholder:"HOST:PORT"`
	TLSCertificate    string   `name:"tls-certificate" help:"Certificate in PEM for --secure, read again when it is replaced; without one the node makes a CA and a certificate of its own in the folder tls." env:"RECKON_NODE_TLS_CERTIFICATE" placeholder:"FILE" and:"tls"`
	TLSKey            string   `name:"tls-key" help:"Key of --tls-certificate in PEM." env:"RECKON_NODE_TLS_KEY" placeholder:"FILE" and:"tls"`
	TLSNames          []string `name:"tls-name" help:"Name or address by which clients reach the node, for the certificate that it makes; beside localhost, this machine's name and --listen." env:"RECKON_NODE_TLS_NAMES" placeholder:"NAME"`
	AdminPasswordFile string   `help:"File whose first line is the password of admin when the first start makes it." env:"RECKON_NODE_ADMIN_PASSWORD_FILE" placeholder:"FILE"`
	AdminListen       string   `help:"Address at which /metrics and profiles are served, to who has the token of RECKON_ADMIN_TOKEN (at least 16 characters), and /livez and /readyz to anybody." env:"RECKON_NODE_ADMIN_LISTEN" placeholder:"HOST:PORT"`
	OpsPasswordFile   string   `help:"The same for ops." env:"RECKON_NODE_OPS_PASSWORD_FILE" placeholder:"FILE"`

	ScavengeEvery time.Duration `help:"Take the payloads of truncated, expired and deleted events out of the files this often, such as 24h; 0 for never, which is also done by reckon node scavenge." env:"RECKON_NODE_SCAVENGE_EVERY" placeholder:"DURATION"`
}

// secureListen is where --secure listens unless --listen says so.
const secureListen = "127.0.0.1:2113"

// Validate refuses what only --secure would heed: whoever gives it takes the node for secured.
func (c *nodeCmd) Validate() error {
	if c.Secure {
		return nil
	}
	for _, of := range []struct {
		flag  string
		given bool
	}{
		{"--listen", c.Listen != ""}, {"--tls-certificate", c.TLSCertificate != ""}, {"--tls-name", len(c.TLSNames) > 0},
		{"--admin-password-file", c.AdminPasswordFile != ""}, {"--ops-password-file", c.OpsPasswordFile != ""},
	} {
		if of.given {
			return fmt.Errorf("%s is for a port with TLS and users: give --secure too", of.flag)
		}
	}
	return nil
}

// Run serves until SIGINT or SIGTERM, or until an operator's client asks the node to stop.
func (c *nodeCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	config := node.Config{Dir: c.Data, Listen: c.InsecureListen, ScavengeEvery: c.ScavengeEvery, Stoppable: true, Logger: slog.Default()}
	err := c.allowLog(c.Data)
	if err == nil && c.Secure {
		config.Secure, err = c.secure()
	}
	watched, starting := "", newStarting()
	if err == nil && c.AdminListen != "" {
		watched, err = c.observe(ctx, starting)
	}
	var n *node.Node
	if err == nil {
		n, err = openWithRoom(ctx, config, starting)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		slog.Info("stopping: the start had not ended", "error", err)
		return nil
	case err != nil:
		fmt.Fprintln(os.Stderr, "reckon node:", err)
		return exitStatus(2)
	}
	starting.routes.Store(nodeRoutes(n))
	if h := n.Health(); h.Err == nil || h.ReadOnly {
		c.announce(n)
		if watched != "" {
			fmt.Println("  figures http://" + watched + "/metrics")
		}
	}
	failed := nodeServes(ctx, n, c.Data, config.Logger)
	if errors.Is(failed, node.ErrStopRequested) {
		failed = nil
	}
	stop() // a second signal ends the process at once
	closeCtx, cancel := context.WithTimeout(context.Background(), supervision.NodeEnds)
	defer cancel()
	closed := n.Close(closeCtx)
	if failed != nil {
		return errors.Join(fmt.Errorf("the node stopped serving: %w", failed), closed)
	}
	if h := n.Health(); h.Err != nil && !h.ReadOnly { // found at the end
		return h.Err
	}
	return closed
}

// observe serves those who watch the node until ctx ends, and returns where.
func (c *nodeCmd) observe(ctx context.Context, s *starting) (address string, err error) {
	token := os.Getenv("RECKON_ADMIN_TOKEN")
	var listener net.Listener
	err = fmt.Errorf("RECKON_ADMIN_TOKEN must have at least %d bytes: metrics and profiles tell what the node does", config.MinSecretBytes)
	if len(token) >= config.MinSecretBytes {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.AdminListen)
	}
	if err != nil {
		return "", fmt.Errorf("--admin-listen: %w", err)
	}
	server := httpserver.New(guardAdmin(s, c.AdminListen, token), httpserver.ProcessLimits(), slog.Default())
	go func() {
		if err := serveUntil(ctx, server, listener); err != nil {
			slog.Error("the admin listener ended", "error", err)
		}
	}()
	return listener.Addr().String(), nil
}

// nodeRoutes answer those who watch a node.
func nodeRoutes(n *node.Node) *http.ServeMux {
	metrics := telemetry.NewMetrics(buildRevision())
	measureNode(n, metrics)
	metrics.Gauge("reckon_ready", nil, func() float64 { return oneIf(n.Health().Err == nil) })
	return observation(metrics, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		ready := n.Health().Err == nil
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(map[string]bool{"ready": ready}) // whoever asked has gone
	})
}

func (c *nodeCmd) announce(n *node.Node) {
	if !c.Secure {
		fmt.Println("ready", n.ConnectionString())
		return
	}
	fmt.Println("ready", n.SecureConnectionString())
	fmt.Println("  socket", n.ConnectionString())
	if file := filepath.Join(c.Data, node.FirstPasswordsFile); exists(file) {
		fmt.Println("  the first passwords are in", file)
	}
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// secure returns the settings of --secure.
func (c *nodeCmd) secure() (*node.Secure, error) {
	s := &node.Secure{Listen: cmp.Or(c.Listen, secureListen), CertificateFile: c.TLSCertificate, KeyFile: c.TLSKey, Names: c.TLSNames}
	for _, of := range []struct {
		password       *string
		variable, file string
	}{{&s.AdminPassword, "RECKON_NODE_ADMIN_PASSWORD", c.AdminPasswordFile}, {&s.OpsPassword, "RECKON_NODE_OPS_PASSWORD", c.OpsPasswordFile}} {
		*of.password = os.Getenv(of.variable)
		if of.file == "" {
			continue
		}
		if *of.password != "" {
			return nil, fmt.Errorf("%s and a file with the same password are given: give one", of.variable)
		}
		content, err := os.ReadFile(of.file)
		if err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(string(content), "\n")
		if *of.password = strings.TrimSuffix(line, "\r"); *of.password == "" {
			return nil, fmt.Errorf("%s has no password in its first line", of.file)
		}
	}
	return s, nil
}

// openNode opens a node in a folder that is its owner's only. When ctx ends first it
// returns at once; what the start has not finished is closed again when it has.
func openNode(ctx context.Context, config node.Config) (*node.Node, error) {
	if err := private.MakeFolder(config.Dir, config.Logger); err != nil {
		return nil, err
	}
	type opened struct {
		node *node.Node
		err  error
	}
	started := make(chan opened, 1)
	go func() {
		n, err := node.Open(config)
		started <- opened{n, err}
	}()
	select {
	case o := <-started:
		return o.node, o.err
	case <-ctx.Done():
		go func() {
			if o := <-started; o.err == nil {
				_ = o.node.Close(context.Background()) // nobody waits for it
			}
		}()
		return nil, fmt.Errorf("the start of the node was interrupted: %w", ctx.Err())
	}
}
