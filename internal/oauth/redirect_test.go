package oauth_test

import (
	"errors"
	"net/url"
	"testing"

	"reckon/internal/oauth"
)

// TestRedirectAddresses: which can be registered. On the two loopback addresses of RFC 8252 section 7.3, and only there, the port may differ.
func TestRedirectAddresses(t *testing.T) {
	p, client := provider(t)
	register := func(address string) error {
		_, err := p.Register(t.Context(), []byte(`{"redirect_uris":["`+address+`"]}`))
		return err
	}
	for _, good := range []string{
		"https://app.example/cb", "https://app.example:8443/cb?a=b", "http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "http://[::1]:4711/", "http://localhost:3000/cb",
		"com.example.app:/cb", "com.example.app:/", "cursor://anysphere.cursor-retrieval/oauth/user-agent/callback", "vscode://vscode.github-authentication/did-authenticate?a=b", "app:/cb",
	} {
		if err := register(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"http://127.0.0.2/cb", "http://127.1/cb", "http://127.0.0.1.example/cb", "http://[::ffff:127.0.0.1]/cb", "http://[0:0:0:0:0:0:0:1]/cb", "http://0.0.0.0/cb", "http://app.example/cb",
		"https://app.example:99999/", "https://app.example:0/", "https://app.example:/", "http://127.0.0.1:65536/cb", "http://127.0.0.1:0/cb",
		"https://app.example/cb?code=1", "https://app.example/cb?a=b&state=x", "https://app.example/cb?iss=x", "https://app.example/cb?error=x", "https://app.example/cb?%63ode=1",
		"https://app.example/cb#f", "https://u@app.example/cb", "javascript:alert(1)", "javascript:/alert(1)", "javascript://app.example/%0aalert(1)", "JavaScript:/x", "data:/text/html,x", "file:///etc/passwd", "vbscript:/x", "intent://x/y", "blob:https://app.example/x",
		"ws://app.example/", "COM.example.app:/cb", "c:/cb", "com.example.app:cb", "com.example.app:", "com.example.app:///cb", "com.example.app://u@h/cb", "com.example.app:/cb?code=1", "com.example.app:/cb#f", "/cb", "",
	} {
		failed, ok := errors.AsType[*oauth.Failure](register(bad))
		if !ok || failed.Code != "invalid_redirect_uri" {
			t.Errorf("%s: %v", bad, failed)
		}
	}
	answered, err := p.Register(t.Context(), []byte(`{"redirect_uris":["com.example.app:/cb"]}`))
	if err != nil {
		t.Fatal(err)
	}
	const rest = "&response_type=code&code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for address, right := range map[string]bool{
		"http://127.0.0.1:9/cb?x=y": true, "http://127.0.0.1/cb?x=y": true, "http://127.0.0.2:9/cb?x=y": false, "http://[::1]:9/cb?x=y": false, "http://localhost:9/cb": false,
	} {
		_, err := p.Authorize(t.Context(), "https://reckon.example", "192.0.2.1", "client_id="+client+rest+"&redirect_uri="+url.QueryEscape(address))
		if (err == nil) != right {
			t.Errorf("%s: %v", address, err)
		}
	}
	// An app's own scheme is compared letter by letter, and PKCE is required.
	for query, right := range map[string]bool{
		rest + "&redirect_uri=com.example.app:/cb": true, rest + "&redirect_uri=com.example.app://cb": false, rest + "&redirect_uri=com.example.app:/cb/": false,
		rest + "&redirect_uri=com.example.app:/cb%3Fx": false, rest + "&redirect_uri=com.example.apps:/cb": false, "&response_type=code&redirect_uri=com.example.app:/cb": false,
	} {
		a, err := p.Authorize(t.Context(), "https://reckon.example", "192.0.2.1", "client_id="+answered.ClientID+query)
		if (err == nil) != right {
			t.Errorf("%s: %v", query, err)
		}
		if err == nil && a.Deny().String()[:len("com.example.app:/cb?")] != "com.example.app:/cb?" {
			t.Errorf("the app is answered at %s", a.Deny())
		}
	}
}
