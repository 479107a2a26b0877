package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// keysOutput is a JWK set (RFC 7517 §5, RFC 8037 §2).
type keysOutput struct {
	Body struct {
		Keys []jwk `json:"keys" doc:"Every key ever published, oldest first; a retired one stays"`
	}
}

type jwk struct {
	KTY string `json:"kty" enum:"OKP" doc:"Key type: OKP (RFC 8037)"`
	CRV string `json:"crv" enum:"Ed25519" doc:"Curve: Ed25519"`
	X   string `json:"x" pattern:"^[A-Za-z0-9_-]+$" doc:"The public key, base64url"`
	KID string `json:"kid" doc:"Id of the key: its RFC 7638 thumbprint"`
	Use string `json:"use" enum:"sig" doc:"What the key is for: sig (signatures)"`
	Alg string `json:"alg" enum:"EdDSA" doc:"Signature algorithm: EdDSA"`
	Exp int64  `json:"exp,omitempty" doc:"When the key was retired, in seconds since 1970-01-01 UTC; what it sealed still verifies, and servers may for a moment finish with it what they are sealing. Left out while it may seal"`
}

func (s Services) registerKeys(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: view.KeysPath, ID: "service-keys", Tag: "Service", Summary: "The keys that seal receipts",
		Description: "A JWK set (RFC 7517) of Ed25519 keys (RFC 8037). A key is listed before it seals anything and for ever after.",
		PublicFor:   300 * time.Second, Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.keys)
}

func (s Services) keys(ctx context.Context, _ *struct{}) (*keysOutput, error) {
	history, err := s.Streams(ctx, keys.Stream)
	if err != nil {
		return nil, err
	}
	out := &keysOutput{}
	out.Body.Keys = []jwk{}
	for _, key := range keys.Decider.Fold(event.Events(history)).Keys() {
		entry := jwk{KTY: "OKP", CRV: "Ed25519", X: key.X, KID: key.KID, Use: "sig", Alg: "EdDSA"}
		if !key.RetiredAt.IsZero() {
			entry.Exp = key.RetiredAt.Unix()
		}
		out.Body.Keys = append(out.Body.Keys, entry)
	}
	return out, nil
}
