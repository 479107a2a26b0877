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
		Keys []jwk `json:"keys"`
	}
}

type jwk struct {
	KTY string `json:"kty" example:"OKP"`
	CRV string `json:"crv" example:"Ed25519"`
	X   string `json:"x" doc:"The public key, base64url"`
	KID string `json:"kid" doc:"RFC 7638 thumbprint"`
	Use string `json:"use" example:"sig"`
	Alg string `json:"alg" example:"EdDSA"`
	Exp int64  `json:"exp,omitempty" doc:"When the key stopped sealing, Unix seconds; what it sealed before still verifies"`
}

func (s Services) registerKeys(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: view.KeysPath, ID: "service-keys", Tag: "Service", Summary: "The keys that seal receipts",
		PublicFor: 300 * time.Second, Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.keys)
}

func (s Services) keys(ctx context.Context, _ *struct{}) (*keysOutput, error) {
	history, err := s.Streams(ctx, keys.Stream)
	if err != nil {
		return nil, err
	}
	out := &keysOutput{}
	out.Body.Keys = []jwk{}
	for _, key := range keys.Decider.Fold(event.Events(history)).Keys {
		entry := jwk{KTY: "OKP", CRV: "Ed25519", X: key.X, KID: key.KID, Use: "sig", Alg: "EdDSA"}
		if !key.RetiredAt.IsZero() {
			entry.Exp = key.RetiredAt.Unix()
		}
		out.Body.Keys = append(out.Body.Keys, entry)
	}
	return out, nil
}
