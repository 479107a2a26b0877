package identity

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/ratelimit"
)

// OAuthClient is a client that registered itself (RFC 7591), or that a document describes. It is public: it has no secret.
type OAuthClient struct {
	ID           string // UUID; of a document: made of its address
	Name         string // its own name for itself; anybody may claim any
	RedirectURIs []string
	Scopes       scope.Set // the most that it may be granted
}

// SecretKind is what a secret of a grant is.
type SecretKind string

// The kinds.
const (
	AuthorizationCode SecretKind = "code"
	AccessToken       SecretKind = "access"
	RefreshToken      SecretKind = "refresh"
)

// OAuthSecret is a code, an access token or a refresh token, known by its hash.
type OAuthSecret struct {
	Hash        string // lower-case hex SHA-256
	Kind        SecretKind
	GrantID     string // UUID
	Account     string
	ClientID    string
	Scopes      scope.Set
	Resource    access.Resource
	RedirectURI string // of a code: as the client asked for it
	Challenge   string // of a code: PKCE, S256
	Used        bool   // of a code or refresh token: it was exchanged
	ExpiresAt   time.Time
}

// OAuthGrant is a grant that was approved, as far as the identity tables know: whether it is in force says its stream.
type OAuthGrant struct {
	ID         string
	Account    string
	LastUsedOn string // UTC day, YYYY-MM-DD; empty: never
	CreatedAt  time.Time
}

type clientRow struct {
	bun.BaseModel `bun:"table:identity_oauth_clients"`
	ID            string `bun:"id,pk"`
	Name          string `bun:"name"`
	RedirectURIs  string `bun:"redirect_uris"` // JSON
	Approved      bool   `bun:"approved"`      // somebody has approved it once
	CreatedAt     int64  `bun:"created_at"`
	Scopes        string `bun:"scopes"` // with spaces between; empty: registered before they were kept, or all
}

type grantRow struct {
	bun.BaseModel `bun:"table:identity_oauth_grants"`
	ID            string `bun:"id,pk"`
	Account       string `bun:"account"`
	LastUsedOn    string `bun:"last_used_on"`
	CreatedAt     int64  `bun:"created_at"`
}

type secretRow struct {
	bun.BaseModel `bun:"table:identity_oauth_secrets"`
	Hash          string `bun:"hash,pk"`
	Kind          string `bun:"kind"`
	GrantID       string `bun:"grant_id"`
	Account       string `bun:"account"`
	ClientID      string `bun:"client_id"`
	Scopes        string `bun:"scopes"`
	Resource      string `bun:"resource"`
	RedirectURI   string `bun:"redirect_uri"`
	Challenge     string `bun:"challenge"`
	Used          bool   `bun:"used"`
	ExpiresAt     int64  `bun:"expires_at"`
}

// oauthTables is the migration that makes them.
const oauthTables = `CREATE TABLE identity_oauth_clients (
		id TEXT PRIMARY KEY, name TEXT NOT NULL, redirect_uris TEXT NOT NULL, approved BOOLEAN NOT NULL, created_at BIGINT NOT NULL);
	CREATE INDEX identity_oauth_clients_age ON identity_oauth_clients (approved, created_at);
	CREATE TABLE identity_oauth_grants (
		id TEXT PRIMARY KEY, account TEXT NOT NULL, last_used_on TEXT NOT NULL, created_at BIGINT NOT NULL);
	CREATE INDEX identity_oauth_grants_account ON identity_oauth_grants (account, created_at);
	CREATE TABLE identity_oauth_secrets (
		hash TEXT PRIMARY KEY, kind TEXT NOT NULL, grant_id TEXT NOT NULL, account TEXT NOT NULL, client_id TEXT NOT NULL, scopes TEXT NOT NULL,
		resource TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL, used BOOLEAN NOT NULL, expires_at BIGINT NOT NULL);
	CREATE INDEX identity_oauth_secrets_grant ON identity_oauth_secrets (grant_id);
	CREATE INDEX identity_oauth_secrets_expiry ON identity_oauth_secrets (expires_at);`

const (
	// maxUnapprovedClients is how many registered clients that nobody has approved are kept: the newest, and up to
	// clientSweepEvery more for each process.
	maxUnapprovedClients = 10_000
	// clientSweepEvery is after how many registrations a process drops the older ones.
	clientSweepEvery = 100
	// MaxGrants is how many connected apps an account has at most.
	MaxGrants = 100
)

// clientRegistrations bounds registrations of clients, per client address and per network (IPv4 /24, IPv6 /48).
var (
	clientRegistrations          = ratelimit.Rule{Requests: 20, Window: time.Hour}
	clientRegistrationsOfNetwork = ratelimit.Rule{Requests: 200, Window: time.Hour}
)

var (
	// ErrNoOAuthClient means that no client has this id.
	ErrNoOAuthClient = errors.New("no such client")
	// ErrNoOAuthSecret means that there is no such code or token, or that it has expired.
	ErrNoOAuthSecret = errors.New("no such code or token")
	// ErrOAuthSecretUsed means that a code or refresh token was exchanged before.
	ErrOAuthSecretUsed = errors.New("this code or token was used before")
	// ErrTooManyGrants means that an account has MaxGrants connected apps.
	ErrTooManyGrants = fmt.Errorf("an account has at most %d connected apps; disconnect one first", MaxGrants)
)

// CountClientRegistration counts an attempt to register a client from a client address, which whoever has a network may choose: by the
// network too.
func (s *Store) CountClientRegistration(ctx context.Context, address string) (ratelimit.Allowance, error) {
	ofAddress, err := s.count(ctx, "oauth-client", address, clientRegistrations)
	if err != nil || !ofAddress.Allowed {
		return ofAddress, err
	}
	ofNetwork, err := s.count(ctx, "oauth-client-network", Client{Address: address}.network(), clientRegistrationsOfNetwork)
	if err != nil || !ofNetwork.Allowed || ofNetwork.Remaining < ofAddress.Remaining {
		return ofNetwork, err
	}
	return ofAddress, nil
}

// AddOAuthClient keeps a client. Every clientSweepEvery-th time it drops the oldest of those above maxUnapprovedClients that nobody has
// approved: done each time, that made a registration cost as much as there are clients, and kept everybody else from writing.
func (s *Store) AddOAuthClient(ctx context.Context, c OAuthClient) error {
	row, err := s.rowOf(c)
	if err != nil {
		return err
	}
	if _, err := s.db.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("identity: client: %w", err)
	}
	if s.clients.Add(1)%clientSweepEvery != 0 {
		return nil
	}
	// From the index of both columns: the time of the newest that is too old.
	first := s.db.NewSelect().Model((*clientRow)(nil)).Column("created_at").Where("approved = ?", false).OrderExpr("created_at DESC").Offset(maxUnapprovedClients).Limit(1)
	if _, err := s.db.NewDelete().Model((*clientRow)(nil)).Where("approved = ?", false).Where("created_at <= (?)", first).Exec(ctx); err != nil {
		return fmt.Errorf("identity: clients: %w", err)
	}
	return nil
}

// PutOAuthClient keeps a client that is described elsewhere, as it is now.
func (s *Store) PutOAuthClient(ctx context.Context, c OAuthClient) error {
	row, err := s.rowOf(c)
	if err != nil {
		return err
	}
	_, err = s.db.NewInsert().Model(&row).On("CONFLICT (id) DO UPDATE").Set("name = EXCLUDED.name, redirect_uris = EXCLUDED.redirect_uris, scopes = EXCLUDED.scopes").Exec(ctx)
	if err != nil {
		return fmt.Errorf("identity: client: %w", err)
	}
	return nil
}

func (s *Store) rowOf(c OAuthClient) (clientRow, error) {
	uris, err := json.Marshal(c.RedirectURIs)
	if err != nil {
		return clientRow{}, fmt.Errorf("identity: client: %w", err)
	}
	return clientRow{ID: c.ID, Name: c.Name, RedirectURIs: string(uris), CreatedAt: s.now().UnixMilli(), Scopes: c.Scopes.String()}, nil
}

// OAuthClient returns the client with an id, or ErrNoOAuthClient.
func (s *Store) OAuthClient(ctx context.Context, id string) (OAuthClient, error) {
	var row clientRow
	err := s.db.NewSelect().Model(&row).Where("id = ?", id).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return OAuthClient{}, ErrNoOAuthClient
	case err != nil:
		return OAuthClient{}, fmt.Errorf("identity: client: %w", err)
	}
	c := OAuthClient{ID: row.ID, Name: row.Name, Scopes: scope.Known(strings.Fields(row.Scopes))}
	if row.Scopes == "" {
		c.Scopes = scope.Of(scope.All()...)
	}
	if err := json.Unmarshal([]byte(row.RedirectURIs), &c.RedirectURIs); err != nil {
		return OAuthClient{}, fmt.Errorf("identity: client: %w", err)
	}
	return c, nil
}

// AddOAuthGrant notes a grant of an account before it is approved in the log, and that its client is in use. It returns
// ErrTooManyGrants.
func (s *Store) AddOAuthGrant(ctx context.Context, grantID, account, clientID string) error {
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		n, err := tx.NewSelect().Model((*grantRow)(nil)).Where("account = ?", account).Count(ctx)
		if err != nil {
			return fmt.Errorf("identity: grant: %w", err)
		}
		if n >= MaxGrants {
			return ErrTooManyGrants
		}
		row := grantRow{ID: grantID, Account: account, CreatedAt: s.now().UnixMilli()}
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return fmt.Errorf("identity: grant: %w", err)
		}
		if _, err := tx.NewUpdate().Model((*clientRow)(nil)).Set("approved = ?", true).Where("id = ?", clientID).Exec(ctx); err != nil {
			return fmt.Errorf("identity: grant: %w", err)
		}
		return nil
	})
}

// OAuthGrants lists the grants of an account, newest first; at most MaxGrants, more or less.
func (s *Store) OAuthGrants(ctx context.Context, account string) ([]OAuthGrant, error) {
	var rows []grantRow
	if err := s.db.NewSelect().Model(&rows).Where("account = ?", account).OrderExpr("created_at DESC, id").Limit(2 * MaxGrants).Scan(ctx); err != nil {
		return nil, fmt.Errorf("identity: grants: %w", err)
	}
	grants := make([]OAuthGrant, len(rows))
	for i, row := range rows {
		grants[i] = OAuthGrant{ID: row.ID, Account: row.Account, LastUsedOn: row.LastUsedOn, CreatedAt: time.UnixMilli(row.CreatedAt).UTC()}
	}
	return grants, nil
}

// ForgetOAuthGrant removes a grant that was revoked in the log, with its codes and tokens.
func (s *Store) ForgetOAuthGrant(ctx context.Context, grantID string) error {
	if _, err := s.db.NewDelete().Model((*secretRow)(nil)).Where("grant_id = ?", grantID).Exec(ctx); err != nil {
		return fmt.Errorf("identity: grant: %w", err)
	}
	if _, err := s.db.NewDelete().Model((*grantRow)(nil)).Where("id = ?", grantID).Exec(ctx); err != nil {
		return fmt.Errorf("identity: grant: %w", err)
	}
	return nil
}

// AddOAuthSecret keeps a code.
func (s *Store) AddOAuthSecret(ctx context.Context, o OAuthSecret) error {
	return s.addSecrets(ctx, s.db, o)
}

// ExchangeOAuthSecret marks a code or refresh token as used and keeps what replaces it, in one transaction; whoever comes second, even at the same
// moment in another process, is answered ErrOAuthSecretUsed.
func (s *Store) ExchangeOAuthSecret(ctx context.Context, used OAuthSecret, by ...OAuthSecret) error {
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		marked, err := tx.NewUpdate().Model((*secretRow)(nil)).Set("used = ?", true).Where("hash = ? AND kind = ? AND used = ?", used.Hash, string(used.Kind), false).Exec(ctx)
		if err != nil {
			return fmt.Errorf("identity: secret: %w", err)
		}
		if n, err := marked.RowsAffected(); err != nil || n == 0 {
			return errors.Join(ErrOAuthSecretUsed, err)
		}
		return s.addSecrets(ctx, tx, by...)
	})
}

// addSecrets keeps codes and tokens, and drops those that have expired.
func (s *Store) addSecrets(ctx context.Context, db bun.IDB, all ...OAuthSecret) error {
	rows := make([]secretRow, len(all))
	for i, o := range all {
		rows[i] = secretRow{
			Hash: o.Hash, Kind: string(o.Kind), GrantID: o.GrantID, Account: o.Account, ClientID: o.ClientID, Scopes: o.Scopes.String(),
			Resource: string(o.Resource), RedirectURI: o.RedirectURI, Challenge: o.Challenge, ExpiresAt: o.ExpiresAt.UnixMilli(),
		}
	}
	if _, err := db.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return fmt.Errorf("identity: secret: %w", err)
	}
	if _, err := db.NewDelete().Model((*secretRow)(nil)).Where("expires_at <= ?", s.now().UnixMilli()).Exec(ctx); err != nil {
		return fmt.Errorf("identity: secret: %w", err)
	}
	return nil
}

// OAuthSecretOf returns a code or token of a kind that has not expired, used or not; or ErrNoOAuthSecret.
func (s *Store) OAuthSecretOf(ctx context.Context, kind SecretKind, hash string) (OAuthSecret, error) {
	var row secretRow
	err := s.db.NewSelect().Model(&row).Where("hash = ? AND kind = ? AND expires_at > ?", hash, string(kind), s.now().UnixMilli()).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return OAuthSecret{}, ErrNoOAuthSecret
	case err != nil:
		return OAuthSecret{}, fmt.Errorf("identity: secret: %w", err)
	}
	return OAuthSecret{
		Hash: row.Hash, Kind: kind, GrantID: row.GrantID, Account: row.Account, ClientID: row.ClientID, Scopes: scope.Known(strings.Fields(row.Scopes)),
		Resource: access.Resource(row.Resource), RedirectURI: row.RedirectURI, Challenge: row.Challenge, Used: row.Used, ExpiresAt: time.UnixMilli(row.ExpiresAt),
	}, nil
}

// AccessToken is auth.AccessTokens.
func (s *Store) AccessToken(ctx context.Context, hash string) (auth.AccessToken, error) {
	token, err := s.OAuthSecretOf(ctx, AccessToken, hash)
	if errors.Is(err, ErrNoOAuthSecret) {
		return auth.AccessToken{}, auth.ErrAccessTokenNotFound
	}
	if err != nil {
		return auth.AccessToken{}, err
	}
	return auth.AccessToken{GrantID: token.GrantID, Account: token.Account, ClientID: token.ClientID, Scopes: token.Scopes, Resource: token.Resource}, nil
}

// GrantUsed stores the UTC day of a grant's last use, as TokenUsed does for tokens.
func (s *Store) GrantUsed(ctx context.Context, grantID string) error {
	now := s.now()
	day := now.UTC().Format(time.DateOnly)
	if !s.used.firstUse(grantID, day, now) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, useLimit)
	defer cancel()
	if _, err := s.db.NewUpdate().Model((*grantRow)(nil)).Set("last_used_on = ?", day).Where("id = ?", grantID).Exec(ctx); err != nil {
		s.used.failed(grantID, now)
		return fmt.Errorf("identity: use of a grant: %w", err)
	}
	return nil
}

// EmailOf returns the address of an account; empty for one that has none.
func (s *Store) EmailOf(ctx context.Context, account string) (string, error) {
	var row accountRow
	err := s.db.NewSelect().Model(&row).Where("id = ?", account).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("identity: %w", err)
	}
	return row.Email, nil
}
