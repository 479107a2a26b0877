package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/identity"
)

// Bounds of what a client registers.
const (
	maxRedirectURIs    = 10
	maxClientNameRunes = 100
	// MaxRegistrationBytes is the longest body of a registration.
	MaxRegistrationBytes = 16 << 10
)

// ClientMetadata is what a client says of itself, and is answered (RFC 7591 §2). Members that are not here are ignored.
type ClientMetadata struct {
	ClientID                string   `json:"client_id,omitempty"`
	ClientIDIssuedAt        int64    `json:"client_id_issued_at,omitempty"` // Unix seconds
	ClientName              string   `json:"client_name,omitempty"`
	RedirectURIs            []string `json:"redirect_uris"`
	GrantTypes              []string `json:"grant_types"`
	ResponseTypes           []string `json:"response_types"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method"`
	Scope                   string   `json:"scope"`
}

func invalidMetadata(code, description string) error {
	return &Failure{Status: http.StatusBadRequest, Code: code, Description: description}
}

// Register keeps a client. Its id names it and opens nothing: anybody may register, under any name. Its error is a *Failure, or one of our own parts.
func (p *Provider) Register(ctx context.Context, body []byte) (ClientMetadata, error) {
	var asked ClientMetadata
	if err := json.Unmarshal(body, &asked); err != nil {
		return ClientMetadata{}, invalidMetadata("invalid_client_metadata", "the body is not a JSON object of client metadata")
	}
	client, err := asked.client()
	if err != nil {
		return ClientMetadata{}, err
	}
	client.ID = uuid.NewString()
	if err := p.store.AddOAuthClient(ctx, client); err != nil {
		return ClientMetadata{}, err
	}
	return ClientMetadata{
		ClientID: client.ID, ClientIDIssuedAt: p.now().Unix(), ClientName: client.Name, RedirectURIs: client.RedirectURIs,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		Scope: client.Scopes.String(),
	}, nil
}

// client is the client that the metadata describe, without an id. Its error is a *Failure.
func (asked *ClientMetadata) client() (identity.OAuthClient, error) {
	none := identity.OAuthClient{}
	if len(asked.RedirectURIs) == 0 || len(asked.RedirectURIs) > maxRedirectURIs {
		return none, invalidMetadata("invalid_redirect_uri", "1 to 10 redirect_uris")
	}
	for _, address := range asked.RedirectURIs {
		if err := checkRedirectURI(address); err != nil {
			return none, invalidMetadata("invalid_redirect_uri", err.Error())
		}
	}
	for _, grantType := range asked.GrantTypes {
		if grantType != "authorization_code" && grantType != "refresh_token" {
			return none, invalidMetadata("invalid_client_metadata", "grant_types are authorization_code and refresh_token")
		}
	}
	for _, responseType := range asked.ResponseTypes {
		if responseType != "code" {
			return none, invalidMetadata("invalid_client_metadata", "the response type is code")
		}
	}
	name, err := cleanName(asked.ClientName)
	if err != nil {
		return none, err
	}
	scopes := scope.Of(scope.All()...)
	if asked.Scope != "" { // what is no scope here is left out; the answer says what was registered
		if scopes = scope.Known(strings.Fields(asked.Scope)); scopes.IsEmpty() {
			return none, invalidMetadata("invalid_client_metadata", "scopes are: "+scope.Of(scope.All()...).String())
		}
	}
	return identity.OAuthClient{Name: name, RedirectURIs: asked.RedirectURIs, Scopes: scopes}, nil
}

// cleanName is a client's name as people are shown it: printable, on one line, not empty.
func cleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if utf8.RuneCountInString(name) > maxClientNameRunes || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return "", invalidMetadata("invalid_client_metadata", "client_name has at most 100 printable characters")
	}
	if name == "" {
		return "An app without a name", nil
	}
	return name, nil
}

// Paths of the endpoints.
const (
	AuthorizePath      = "/oauth/authorize"
	TokenPath          = "/oauth/token"
	RevokePath         = "/oauth/revoke"
	RegisterPath       = "/oauth/register"
	ServerMetadataPath = "/.well-known/oauth-authorization-server"
	// ResourceMetadataPath is followed by the path of a resource's identifier (RFC 9728 §3.1).
	ResourceMetadataPath = "/.well-known/oauth-protected-resource"
)

// ServerMetadata is the document of RFC 8414.
type ServerMetadata struct {
	Issuer                            string   `json:"issuer"`
	AuthorizationEndpoint             string   `json:"authorization_endpoint"`
	TokenEndpoint                     string   `json:"token_endpoint"`
	RevocationEndpoint                string   `json:"revocation_endpoint"`
	RegistrationEndpoint              string   `json:"registration_endpoint"`
	ScopesSupported                   []string `json:"scopes_supported"`
	ResponseTypesSupported            []string `json:"response_types_supported"`
	ResponseModesSupported            []string `json:"response_modes_supported"`
	GrantTypesSupported               []string `json:"grant_types_supported"`
	TokenEndpointAuthMethods          []string `json:"token_endpoint_auth_methods_supported"`
	RevocationEndpointAuthMethods     []string `json:"revocation_endpoint_auth_methods_supported"`
	CodeChallengeMethodsSupported     []string `json:"code_challenge_methods_supported"`
	AuthorizationResponseIssSupported bool     `json:"authorization_response_iss_parameter_supported"`
	ClientIDMetadataDocumentSupported bool     `json:"client_id_metadata_document_supported"`
	ServiceDocumentation              string   `json:"service_documentation"`
}

// ServerMetadataOf is the server's metadata at an issuer's address.
func ServerMetadataOf(issuer string) ServerMetadata {
	return ServerMetadata{
		Issuer: issuer, AuthorizationEndpoint: issuer + AuthorizePath, TokenEndpoint: issuer + TokenPath, RevocationEndpoint: issuer + RevokePath,
		RegistrationEndpoint: issuer + RegisterPath, ScopesSupported: scope.Of(scope.All()...).Names(),
		ResponseTypesSupported: []string{"code"}, ResponseModesSupported: []string{"query"}, GrantTypesSupported: []string{"authorization_code", "refresh_token"},
		TokenEndpointAuthMethods: []string{"none"}, RevocationEndpointAuthMethods: []string{"none"}, CodeChallengeMethodsSupported: []string{"S256"},
		AuthorizationResponseIssSupported: true, ClientIDMetadataDocumentSupported: true, ServiceDocumentation: issuer + "/docs",
	}
}

// ResourceMetadata is the document of RFC 9728.
type ResourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	ResourceName         string   `json:"resource_name"`
	Documentation        string   `json:"resource_documentation"`
}

// ResourceMetadataOf is the metadata of a resource at an issuer's address.
func ResourceMetadataOf(issuer string, resource access.Resource) ResourceMetadata {
	name := "Reckon"
	if resource == access.MCP {
		name = "Reckon over MCP"
	}
	return ResourceMetadata{
		Resource: issuer + resource.Path(), AuthorizationServers: []string{issuer}, ScopesSupported: resource.Scopes().Names(),
		BearerMethods: []string{"header"}, ResourceName: name, Documentation: issuer + "/docs",
	}
}
