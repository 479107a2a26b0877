package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"reckon/internal/blobs"
)

// Installation says where the parts of an installation are. The servers and every operator's command have
// these settings, so that they are read from the same flags, variables and file. An empty field is not set.
type Installation struct {
	Config File `help:"TOML file with the same names as these flags." name:"config" placeholder:"FILE" json:"config,omitempty"`

	Data       string `help:"Folder everything embedded lies in, and the socket through which commands reach the server; default: reckon-data." default:"reckon-data" placeholder:"DIR" json:"data"`
	Eventstore string `help:"The event log: unix:PATH of a node's socket, or esdb://user:password@host:port; default: embedded." placeholder:"ADDRESS" json:"eventstore"`

	InsecureEventstore bool `help:"Accept an esdb:// address without TLS or without credentials, though whoever can write to that log is an administrator of this service." json:"insecure_eventstore"`

	Database       string `help:"Read models: sqlite:PATH or postgres://…; default: readmodels.db in the data folder." placeholder:"ADDRESS" json:"database"`
	Identity       string `help:"Accounts' addresses and passwords: sqlite:PATH or postgres://…; default: the PostgreSQL of --database, else identity.db in the data folder." placeholder:"ADDRESS" json:"identity"`
	IdentitySchema string `help:"PostgreSQL schema of --identity, which nothing else uses; default: identity." placeholder:"NAME" json:"identity_schema"`
	Blobs          string `help:"Large bytes: file:///DIR, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=NAME with the credentials of the AWS_… variables or file; default: blobs in the data folder." placeholder:"URL" json:"blobs"`
	Keys           string `help:"Folder of the signing keys and of the secret between processes, which all processes of an installation share; default: keys in the data folder." placeholder:"DIR" json:"keys"`
	PublicURL      string `help:"Address clients reach the API at, such as https://reckon.example, when it is not the one it listens on. https makes cookies Secure and sends HSTS." name:"public-url" placeholder:"URL" json:"public_url"`
}

// defaultIdentitySchema is the PostgreSQL schema of the identity tables.
const defaultIdentitySchema = "identity"

var (
	// eventstorePattern matches the beginning of every address that --eventstore accepts.
	eventstorePattern = regexp.MustCompile(`^(embedded$|unix:.|esdb://.|esdb\+discover://.)`)
	// schemaPattern matches names that need no quotes in PostgreSQL.
	schemaPattern = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
)

// Check returns a *SettingError for every field that cannot be used, joined, and puts PublicURL into its normal form.
func (i *Installation) Check() error {
	c := checks{of: &Serve{Installation: *i}}
	c.require("Eventstore", i.Eventstore == "" || eventstorePattern.MatchString(i.Eventstore), "must be embedded, unix:PATH or esdb://…") // without its value, which may hold a password
	schema := i.IdentitySchema
	c.require("IdentitySchema", schema == "" || schemaPattern.MatchString(schema), "must be 1 to 63 of a-z, 0-9 and _, and begin with no digit")
	c.require("IdentitySchema", schema != "public" && !strings.HasPrefix(schema, "pg_"), "must be a schema of its own: read models lie in public, and whoever drops them would drop the accounts")
	whole, err := i.Complete()
	c.join(err)
	c.require("Identity", !strings.HasPrefix(whole.Identity, "sqlite:") || whole.Identity != whole.Database,
		"must be another file than --database: read models may be deleted at any time, accounts' addresses and passwords never")
	publicURL, err := PublicURL(i.PublicURL)
	c.refuse("PublicURL", err)
	i.PublicURL = publicURL
	return c.err()
}

// Complete is the installation with every field set that has a default, and every path absolute, so that it
// means the same in another process. PublicURL stays empty where the API's own address is meant. The error is
// a *SettingError, or that there is no working folder.
func (i Installation) Complete() (Installation, error) {
	i, err := i.Absolute()
	if err != nil {
		return i, err
	}
	kept, err := i.BlobAddress()
	if err != nil {
		return i, err
	}
	if i.Eventstore == "" {
		i.Eventstore = EmbeddedLog
	}
	if i.IdentitySchema == "" {
		i.IdentitySchema = defaultIdentitySchema
	}
	i.Identity = i.IdentityAddress() // before Database, which it depends on
	i.Database, i.Blobs, i.Keys = i.DatabaseAddress(), kept.String(), i.KeyFolder()
	return i, nil
}

// Absolute is the installation with the paths of the fields that are set made absolute. The error is a
// *SettingError, or that there is no working folder.
func (i Installation) Absolute() (Installation, error) {
	working, err := os.Getwd()
	if err != nil {
		return i, err
	}
	absolute := func(path string) string {
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		return filepath.Join(working, path)
	}
	if i.Data != "" {
		i.Data = absolute(i.Data)
	}
	return i.withPaths(absolute)
}

// RelativeToData is an installation of absolute paths with those that lie in Data made relative to it.
// InData is its inverse, for the same folder or for one that it was moved or copied to. Both leave Data as it is.
func (i Installation) RelativeToData() (Installation, error) {
	return i.withPaths(func(path string) string {
		if relative, err := filepath.Rel(i.Data, path); err == nil && filepath.IsLocal(relative) {
			return relative
		}
		return path
	})
}

// InData is the installation with every relative path taken below Data. The error is a *SettingError.
func (i Installation) InData() (Installation, error) {
	return i.withPaths(func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(i.Data, path)
	})
}

// withPaths is the installation with each path that is set changed, Data aside. The error is a *SettingError.
func (i Installation) withPaths(change func(path string) string) (Installation, error) {
	if i.Config != "" {
		i.Config = File(change(string(i.Config)))
	}
	if i.Keys != "" {
		i.Keys = change(i.Keys)
	}
	under := func(scheme, address string) string {
		if path, found := strings.CutPrefix(address, scheme); found {
			return scheme + change(path)
		}
		return address
	}
	i.Eventstore, i.Database, i.Identity = under("unix:", i.Eventstore), under("sqlite:", i.Database), under("sqlite:", i.Identity)
	if i.Blobs == "" {
		return i, nil
	}
	kept, err := i.BlobAddress()
	if err != nil {
		return i, err
	}
	if kept.Folder == "" {
		i.Blobs = kept.String()
		return i, nil
	}
	if kept.Folder = filepath.ToSlash(change(kept.Folder)); !path.IsAbs(kept.Folder) {
		kept.Folder = "./" + kept.Folder // no part of it is parsed as a host
	}
	i.Blobs = kept.String()
	return i, nil
}

// Outside returns the settings, by field name, that name something which lies not in Data: on another machine or
// elsewhere on this one, be it through a symbolic link. i is complete. Two folders with these are not two installations.
func (i Installation) Outside() (fields []string) {
	inside := func(path string) bool {
		relative, err := filepath.Rel(realPath(i.Data), realPath(path))
		return err == nil && filepath.IsLocal(relative)
	}
	paths := map[string]string{"Keys": i.Keys}
	for field, scheme := range map[string]string{"Eventstore": "unix:", "Database": "sqlite:", "Identity": "sqlite:", "Blobs": "file://"} {
		if path, found := strings.CutPrefix(i.field(field).String(), scheme); found {
			paths[field] = path
		}
	}
	if i.Eventstore == EmbeddedLog {
		paths["Eventstore"] = i.LogFolder()
	}
	for _, field := range parts {
		if path, local := paths[field]; !local || !inside(path) {
			fields = append(fields, field)
		}
	}
	return fields
}

// KeepsNothing reports whether Data holds nothing that cannot be made again: the log, identity, keys and blobs lie outside of it. i is complete.
func (i Installation) KeepsNothing() bool {
	outside := i.Outside()
	return !slices.ContainsFunc(parts, func(field string) bool { return field != "Database" && !slices.Contains(outside, field) })
}

// realPath is a path without symbolic links, as far as it exists.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	if above := filepath.Dir(path); above != path {
		return filepath.Join(realPath(above), filepath.Base(path))
	}
	return path
}

// OfCopy is a complete installation for a copy of its folder: whatever lies outside is what given says, and has to
// be given. It returns a *SettingError for each field that is not, joined; source says in words what i is.
func (i Installation) OfCopy(given Installation, source string) (Installation, error) {
	var failed error
	for _, name := range i.Outside() {
		field, told := i.field(name), given.field(name).String()
		if told == "" {
			failed = errors.Join(failed, settingError(given, name, fmt.Errorf("%s had %q, which lies outside of the data folder, and this folder is a copy of that server's: "+
				"give the setting; two installations must not share it", source, withoutSecret(field.String()))))
		}
		field.SetString(told)
	}
	return i, failed
}

// LogFolder returns the folder of an embedded log.
func (i Installation) LogFolder() string { return filepath.Join(i.Data, "eventstore") }

// DatabaseAddress returns the address of the read models: Database, or readmodels.db in Data.
func (i Installation) DatabaseAddress() string {
	if i.Database != "" {
		return i.Database
	}
	return "sqlite:" + filepath.Join(i.Data, "readmodels.db")
}

// KeyFolder returns the folder of the signing keys: Keys, or keys in Data.
func (i Installation) KeyFolder() string {
	if i.Keys != "" {
		return i.Keys
	}
	return filepath.Join(i.Data, "keys")
}

// IdentityAddress returns the address of the identity tables: Identity, the PostgreSQL of
// Database, or identity.db in Data. A SQLite file of read models is not used: it is not
// synced at every commit, and may be deleted.
func (i Installation) IdentityAddress() string {
	switch {
	case i.Identity != "":
		return i.Identity
	case strings.HasPrefix(i.Database, "postgres"):
		return i.Database
	}
	return "sqlite:" + filepath.Join(i.Data, "identity.db")
}

// BlobAddress returns where the blobs are: at Blobs, or in blobs in Data. The error is a *SettingError.
func (i Installation) BlobAddress() (blobs.Address, error) {
	if i.Blobs == "" {
		folder, err := filepath.Abs(filepath.Join(i.Data, "blobs"))
		return blobs.Address{Folder: folder}, err
	}
	address, err := blobs.ParseAddress(i.Blobs)
	if err != nil {
		return address, settingError(i, "Blobs", err)
	}
	return address, nil
}

// StateFolder returns the folder of the files of state vectors: below that of the blobs, and in Data where blobs lie in a bucket,
// because a file that is forgotten after a day needs no bucket. The error is a *SettingError.
func (i Installation) StateFolder() (string, error) {
	kept, err := i.BlobAddress()
	if err != nil || kept.Folder != "" {
		return filepath.Join(kept.Folder, stateFolder), err
	}
	return filepath.Join(i.Data, stateFolder), nil
}

// stateFolder is the name of the folder of state vectors.
const stateFolder = "statevectors"

var (
	// places are the fields in which installations differ, in the order in which messages name them.
	places = []string{"Eventstore", "Database", "Identity", "IdentitySchema", "Blobs", "Keys", "PublicURL"}
	// addresses are those of places that may hold a password.
	addresses = places[:3]
	// parts are those of places at which something lies.
	parts = []string{"Eventstore", "Database", "Identity", "Blobs", "Keys"}
)

// field is a field of i that holds a string; it can be set.
func (i *Installation) field(name string) reflect.Value {
	return reflect.ValueOf(i).Elem().FieldByName(name)
}

// Under is the installation with what is not set taken from known. It returns a *SettingError for every field
// that is set to something else than known says (passwords aside), joined; source says in words what known is.
func (i Installation) Under(known Installation, source string) (Installation, error) {
	var failed error
	for _, name := range places {
		given, is := i.field(name), known.field(name).String()
		shown, want := withoutSecret(given.String()), withoutSecret(is)
		switch {
		case shown == "":
			given.SetString(is)
		case shown != want:
			advice := "leave the setting out"
			if name == "eventstore" {
				advice += ", or, where the log was moved, start a server with it first"
			}
			failed = errors.Join(failed, settingError(i, name, fmt.Errorf("%s has %q and not %q; %s", source, want, shown, advice)))
		}
	}
	if i.Config == "" {
		i.Config = known.Config
	}
	i.InsecureEventstore = i.InsecureEventstore || known.InsecureEventstore
	return i, failed
}

// WithoutSecrets is the installation with every password cut out of its addresses.
func (i Installation) WithoutSecrets() Installation {
	for _, name := range addresses {
		i.field(name).SetString(withoutSecret(i.field(name).String()))
	}
	return i
}

// RequireSecrets returns a *SettingError for every address of which WithoutSecrets has cut something out, joined;
// source says in words where the addresses come from.
func (i Installation) RequireSecrets(source string) error {
	var failed error
	for _, name := range addresses {
		if address := i.field(name).String(); strings.Contains(address, secretCut) {
			failed = errors.Join(failed, settingError(i, name, fmt.Errorf("%s has %q, and passwords are not kept there; give the setting as the server has it", source, address)))
		}
	}
	return failed
}

// secretCut stands where a password was.
const secretCut = "…"

// secretParameter matches the parameters of an address that hold a secret.
var secretParameter = regexp.MustCompile(`(?i)([?&][^=&]*(?:password|secret)[^=&]*=)[^&]*`)

// withoutSecret is an address with its password cut out.
func withoutSecret(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	query := ""
	if at := strings.IndexByte(rest, '?'); at >= 0 {
		rest, query = rest[:at], rest[at:]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if user, _, secret := strings.Cut(rest[:at], ":"); secret {
			rest = user + ":" + secretCut + rest[at:]
		}
	}
	return scheme + "://" + rest + secretParameter.ReplaceAllString(query, "${1}"+secretCut)
}
