package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"reckon/internal/supervision"
)

// Role is one kind of work that a process does (--roles).
type Role string

// The roles. A process may have several.
const (
	RoleAPI     Role = "api"     // answers HTTP
	RoleProject Role = "project" // writes the read models
	RoleRun     Role = "run"     // runs jobs
	RoleReact   Role = "react"   // runs reactions and recovers abandoned attempts
)

// EmbeddedLog is the --eventstore of a process that runs the log itself.
const EmbeddedLog = "embedded"

// Sandbox says whether the engine's workers must be isolated (--engine-sandbox).
type Sandbox string

// The sandbox modes.
const (
	SandboxRequired Sandbox = "required" // the engine does not start unless files, network and other processes are out of reach
	SandboxOff      Sandbox = "off"      // expressions can reach this machine's files and network
)

// LogLevel is the least level that is logged (--log-level): debug, info, warn or error.
type LogLevel string

// LogFormat is the form of a log line (--log-format).
type LogFormat string

// The forms of a log line.
const (
	LogText LogFormat = "text" // key=value pairs
	LogJSON LogFormat = "json" // one JSON object a line
)

// Serve configures `reckon serve`. The tags hold the defaults. Validate names every
// setting that cannot be used.
type Serve struct {
	Installation

	Listen      string `help:"Address of the API." default:"127.0.0.1:8080"`
	AdminListen string `help:"Address at which /metrics and profiles are served too, to who has the --admin-token, and /livez and /readyz to anybody; empty for the socket in the data folder only." placeholder:"HOST:PORT"`
	AdminToken  string `help:"What clients of --admin-listen must send as Authorization: Bearer (better given as RECKON_ADMIN_TOKEN)." placeholder:"TOKEN"`

	Roles []Role `help:"What this process does." default:"api,project,run,react" enum:"api,project,run,react"`

	Engine        string        `help:"Folder of the engine's Python environment, which the processes of a machine may share; default: engine in the data folder." placeholder:"DIR"`
	Engines       []string      `help:"Engines that are asked where the first one has no answer or a wrong one, in order; none for the first alone." default:"giac,mpmath" enum:"giac,mpmath,none"`
	EngineSandbox Sandbox       `help:"required, or off to run the engine without its walls." default:"required" enum:"required,off"`
	Workers       int           `help:"Evaluations at a time, shared fairly between accounts, and as many checks; 0 for two per core." default:"0"`
	SessionMemory int           `help:"Memory that all sessions may hold together in MiB; beyond it the largest end of accounts that hold more than their share. 0 for a quarter of the machine's." default:"0" placeholder:"MIB"`
	QueueWait     time.Duration `help:"Longest wait for a worker before an evaluation is answered 503." default:"10s"`

	Lean              string        `help:"A Lean toolchain (its folder, or its lean) that elaborates sources; empty for no elaboration." placeholder:"PATH"`
	LeanExporter      string        `help:"lean4export built with that toolchain; empty for the one beside its lean." placeholder:"PATH"`
	StateAge          time.Duration `help:"How long the file of a state vector that a job asked for is kept." default:"24h"`
	StateSpace        int           `help:"Space for such files in MiB; beyond it the oldest of the account with most are forgotten." default:"8192" placeholder:"MIB"`
	StateSpaceAccount int           `help:"Space for those of one account in MiB, which also bounds one file; beyond it its oldest are forgotten." default:"2048" placeholder:"MIB"`

	SecondKernel string `help:"A further kernel, asked about every proof that would be verified: nanoda, or a program that takes an export's path as its argument and answers by its exit status (0 accepts, 2 has no opinion, any other refuses); empty for none." placeholder:"PATH"`

	ProofMemory int `help:"Memory of one proof check in MiB; beyond it the check is inconclusive." default:"2048" placeholder:"MIB"`

	PeerListen   string         `help:"Address where other processes of the installation forward evaluations to, for sessions that live here." default:"127.0.0.1:0"`
	PeerAddress  string         `help:"Where they reach it, when that is not the address it listens on." placeholder:"HOST:PORT"`
	PeerSecret   string         `help:"Secret between the processes of an installation that share no --keys folder (better given as RECKON_PEER_SECRET)." placeholder:"SECRET"`
	JobSlots     int            `help:"Jobs run at a time, of which long ones never have the last; 0 for one per core and one more." default:"0"`
	Grace        time.Duration  `help:"What running jobs get to finish when the process is told to stop; then they are handed back." default:"10s"`
	UnreadyGrace *time.Duration `help:"How long a process that was told to stop goes on answering while /readyz says 503, so that load balancers stop sending; by default 5s, with an embedded log 0s." placeholder:"5s"`
	Beat         time.Duration  `help:"Interval of the heartbeats of a process that runs jobs or holds sessions; the same for all of an installation. None are written while no other process can read the log." default:"5s"`

	RegistrationsPerHour int      `help:"Registrations per client address and hour." default:"5"`
	AnonymousPerHour     int      `help:"Evaluations without an account per client address and hour; 0 switches them off." default:"30"`
	SignInsPerMinute     int      `help:"Sign-ins a minute per client address, per network and account, and per device that has signed in before; unknown devices have ten times as many wrong ones an hour for an account." default:"10"`
	PaymentSecretFile    string   `help:"File, 0600, with the secret that signs calls of the payment webhook, or several, one a line; empty: there is no webhook." placeholder:"FILE"`
	TrustedProxies       []string `help:"Networks whose X-Forwarded-For and X-Forwarded-Proto are believed." placeholder:"CIDR"`

	TransparencyOrigin string        `help:"Name of the transparency log, which its first checkpoint fixes for ever; by default the host of --public-url with /transparency, or one made of the log's id." placeholder:"NAME"`
	CheckpointInterval time.Duration `help:"Least time between two checkpoints of the transparency log; they are signed while there is something new." default:"10s"`
	Witnesses          []string      `help:"A witness that is asked to cosign checkpoints: its verifier key, a space, and its address. May be given more than once." name:"witness" sep:"none" placeholder:"VKEY URL"`
	WitnessQuorum      int           `help:"How many witnesses must have cosigned a checkpoint before it is served; 0 to wait for none." default:"0"`

	Log Logging `embed:"" prefix:"log-"`
}

// Logging configures the log lines of a process, which are written to standard error.
type Logging struct {
	Level  LogLevel  `help:"Least level that is logged." default:"info" enum:"debug,info,warn,error"`
	Format LogFormat `help:"Form of a log line." default:"text" enum:"text,json"`
}

const (
	// MinSecretBytes is the least length of a secret.
	MinSecretBytes = 16
	// maxWitnesses is the most witnesses that are asked.
	maxWitnesses = 16
	// minProofMiB is the least memory of one proof check: less holds no export.
	minProofMiB = 64
)

// Validate is called by kong after flags, variables and the file were read. It returns
// a *SettingError for every setting that cannot be used, joined, and puts PublicURL into
// its normal form.
func (s *Serve) Validate() error {
	c := checks{of: s}
	c.join(s.Check())
	if s.Eventstore == "" {
		s.Eventstore = EmbeddedLog
	}
	c.require("AdminToken", s.AdminListen == "" || len(s.AdminToken) >= MinSecretBytes, "must have at least %d bytes when --admin-listen is set: metrics and profiles tell what the service does. "+
		"Without either they are served on admin.sock in the data folder", MinSecretBytes)
	c.require("PeerSecret", s.PeerSecret == "" || len(s.PeerSecret) >= MinSecretBytes, "must have at least %d bytes: every user of the machine can reach --peer-listen, and only the secret keeps them out", MinSecretBytes)
	c.require("Workers", s.Workers >= 0, "must not be negative; 0 is two per core")
	c.require("SessionMemory", s.SessionMemory >= 0, "must not be negative; 0 is a quarter of the machine's memory")
	c.require("StateAge", s.StateAge > 0, "must be longer than 0s")
	c.require("StateSpaceAccount", s.StateSpaceAccount > 0, "must be at least 1 (MiB)")
	c.require("StateSpace", s.StateSpace >= s.StateSpaceAccount, "must be at least --state-space-account")
	c.require("JobSlots", s.JobSlots >= 0, "must not be negative; 0 is one per core and one more")
	c.require("QueueWait", s.QueueWait > 0, "must be longer than 0s")
	c.require("Grace", s.Grace >= 0, "must not be negative")
	c.require("UnreadyGrace", s.UnreadyFor() >= 0, "must not be negative")
	c.require("Beat", s.Beat > 0, "must be longer than 0s")
	c.require("RegistrationsPerHour", s.RegistrationsPerHour > 0, "must be at least 1")
	c.require("AnonymousPerHour", s.AnonymousPerHour >= 0, "must not be negative; 0 switches evaluation without an account off")
	c.require("SignInsPerMinute", s.SignInsPerMinute > 0, "must be at least 1")
	c.require("ProofMemory", s.ProofMemory >= minProofMiB, "must be at least %d (MiB)", minProofMiB)
	c.require("CheckpointInterval", s.CheckpointInterval >= time.Second, "must be at least 1s: each checkpoint is an event of the log")
	c.require("Witnesses", len(s.Witnesses) <= maxWitnesses, "must be at most %d: a checkpoint carries no more cosignatures", maxWitnesses)
	c.require("WitnessQuorum", s.WitnessQuorum >= 0 && s.WitnessQuorum <= len(s.Witnesses), "must be between 0 and the number of --witness: a checkpoint would never be served")
	c.require("Roles", len(s.Roles) > 0, "must name at least one of api, project, run and react: the process would do nothing")
	_, err := s.Proxies()
	c.join(err)
	return c.err()
}

// UnreadyFor returns UnreadyGrace or its default: a process with an embedded log is the only
// one of its installation, so that no other could be sent the requests.
func (s *Serve) UnreadyFor() time.Duration {
	switch {
	case s.UnreadyGrace != nil:
		return *s.UnreadyGrace
	case s.Eventstore == EmbeddedLog:
		return 0
	}
	return supervision.AnswersUnready
}

// EngineFolder returns the folder of the engine's environment: Engine, or engine in Data.
func (s *Serve) EngineFolder() string { return EngineFolder(s.Engine, s.Data) }

// EngineFolder is the folder that is named, or without one the data folder's own.
func EngineFolder(named, data string) string {
	if named != "" {
		return named
	}
	return filepath.Join(data, "engine")
}

// Proxies parses TrustedProxies. The error is a *SettingError.
func (s *Serve) Proxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, written := range s.TrustedProxies {
		network, err := netip.ParsePrefix(written)
		if err != nil {
			return nil, settingError(*s, "TrustedProxies", fmt.Errorf("%q is not a network such as 10.0.0.0/8", written))
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Has reports whether the process has a role.
func (s *Serve) Has(role Role) bool { return slices.Contains(s.Roles, role) }

// commandLineOnly removes the environment variables of the flags before the command:
// --help and --version replace the command, which a variable must not do.
func commandLineOnly(k *kong.Kong) error {
	for _, flag := range k.Model.Flags {
		flag.Envs, flag.Tag.Envs = nil, nil
	}
	return nil
}

// Options returns the options with which a kong parser reads RECKON_* variables and the
// TOML file that --config or RECKON_CONFIG names. A flag wins over a variable, a variable
// over the file.
func Options(getenv func(string) string) []kong.Option {
	options := []kong.Option{kong.DefaultEnvars("RECKON"), kong.PostBuild(commandLineOnly), kong.Configuration(TOML)}
	if path := getenv("RECKON_CONFIG"); path != "" {
		options = append(options, kong.PostBuild(func(k *kong.Kong) error {
			resolver, err := k.LoadConfig(path)
			if err != nil {
				return fmt.Errorf("RECKON_CONFIG: %w", err)
			}
			return kong.Resolvers(resolver).Apply(k)
		}))
	}
	return options
}
