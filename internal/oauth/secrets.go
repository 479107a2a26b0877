package oauth

import (
	"context"

	"github.com/ory/fosite"

	"reckon/internal/auth"
)

// secrets are fosite's strategies for codes and tokens: random, in a form of our own, and known by their SHA-256, which
// fosite calls the signature. Whether one is valid says its row.
type secrets struct{}

func (secrets) AccessTokenSignature(_ context.Context, token string) string {
	return hashOf(auth.AccessTokenForm, token)
}
func (secrets) RefreshTokenSignature(_ context.Context, token string) string {
	return hashOf(auth.RefreshTokenForm, token)
}
func (secrets) AuthorizeCodeSignature(_ context.Context, code string) string {
	return hashOf(auth.AuthorizationCode, code)
}

func (secrets) GenerateAccessToken(context.Context, fosite.Requester) (token, hash string, err error) {
	return mint(auth.AccessTokenForm)
}

func (secrets) GenerateRefreshToken(context.Context, fosite.Requester) (token, hash string, err error) {
	return mint(auth.RefreshTokenForm)
}

func (secrets) GenerateAuthorizeCode(context.Context, fosite.Requester) (code, hash string, err error) {
	return mint(auth.AuthorizationCode)
}

func (secrets) ValidateAccessToken(context.Context, fosite.Requester, string) error   { return nil }
func (secrets) ValidateRefreshToken(context.Context, fosite.Requester, string) error  { return nil }
func (secrets) ValidateAuthorizeCode(context.Context, fosite.Requester, string) error { return nil }

func mint(form auth.Form) (secret, hash string, err error) {
	secret = form.Mint()
	return secret, auth.TokenID(secret), nil
}

// hashOf is the hash of a secret; empty, which no row has, for a text that has not its form.
func hashOf(form auth.Form, secret string) string {
	if !form.WellFormed(secret) {
		return ""
	}
	return auth.TokenID(secret)
}
