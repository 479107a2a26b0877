package access

import "reckon/domain/scope"

// Routes are the routes of the API.
func Routes() Table {
	public, firstParty, browserOnly := Rule{Who: Public}, Rule{Who: FirstParty}, Rule{Who: BrowserOnly}
	scoped := func(s scope.Scope) Rule { return Rule{Who: Scoped, Scope: s} }
	undescribed := func(why string) Rule { return Rule{Who: Public, Undescribed: why} }
	page, text := undescribed("a page for people, or a part of one"), undescribed("a text for people and models, or the description itself")
	oauth, metadata := undescribed("OAuth describes it: RFC 6749, 7009, 7591; the metadata of the authorization server name it"), undescribed("its form is of an RFC: 8414 or 9728")
	tiles := undescribed("a file of the transparency log: C2SP tlog-tiles describes it, and docs/transparency.md")
	return Table{
		"GET /":                        page,
		"POST /":                       page,
		"GET /runs/{id}":               page,
		"POST /runs/{id}":              page,
		"GET /sign-in":                 page,
		"POST /sign-in":                page,
		"GET /sign-up":                 page,
		"POST /sign-up":                page,
		"POST /sign-out":               page,
		"GET /history":                 page,
		"GET /jobs":                    page,
		"POST /jobs":                   page,
		"POST /jobs/drawing":           page,
		"GET /jobs/{id}":               page,
		"POST /jobs/{id}":              page,
		"GET /proofs":                  page,
		"POST /proofs":                 page,
		"GET /certificates/{id}":       page,
		"GET /bursts":                  page,
		"GET /bursts/{id}":             page,
		"GET /reference":               page,
		"GET /reference/{name}":        page,
		"GET /plans":                   page,
		"GET /account":                 page,
		"POST /account":                page,
		"GET /assets/{version}/{name}": page,

		"GET /healthz":            public,
		"GET /readyz":             public,
		"GET /docs":               page,
		"GET /docs/errors":        page,
		"GET /docs/reference.js":  page,
		"GET /docs/reference.css": page,
		"GET /openapi.json":       text,
		"GET /llms.txt":           text,
		"GET /agents.md":          text,
		"GET /billing/plans":      public,

		"GET /api/docs/search":            public,
		"GET /api/docs/symbol/{name}":     public,
		"GET /api/docs/support":           public,
		"GET /api/docs/availability.json": public,

		"GET /billing/subscription": firstParty,
		"GET /billing/invoices":     firstParty,
		"POST /billing/payments":    undescribed("for the payment provider alone, which signs each call: docs/billing.md"),

		"GET /.well-known/service-keys.json":     public,
		"GET /.well-known/transparency-log.json": public,

		"GET /transparency/checkpoint":               tiles,
		"GET /transparency/tile/{a}/{b}":             tiles,
		"GET /transparency/tile/{a}/{b}/{c}":         tiles,
		"GET /transparency/tile/{a}/{b}/{c}/{d}":     tiles,
		"GET /transparency/tile/{a}/{b}/{c}/{d}/{e}": tiles,

		"POST /auth/register": public,
		"POST /auth/login":    public,
		"POST /auth/logout":   browserOnly,
		"POST /auth/password": browserOnly,
		"POST /auth/close":    browserOnly,

		"GET /api/account": firstParty,

		"GET /api/sign-ins":         browserOnly,
		"DELETE /api/sign-ins/{id}": browserOnly,

		"GET /api/tokens":         firstParty,
		"POST /api/tokens":        browserOnly,
		"DELETE /api/tokens/{id}": firstParty,

		"GET /api/connections":         browserOnly,
		"DELETE /api/connections/{id}": browserOnly,

		"GET /oauth/authorize":  page,
		"POST /oauth/authorize": page,
		"POST /oauth/token":     oauth,
		"POST /oauth/revoke":    oauth,
		"POST /oauth/register":  oauth,

		"GET /.well-known/oauth-authorization-server":   metadata,
		"GET /.well-known/oauth-protected-resource":     metadata,
		"GET /.well-known/oauth-protected-resource/mcp": metadata,

		"POST /mcp": {Who: TokenOnly, Scope: scope.MCP, Undescribed: "a protocol that describes itself: docs/mcp.md"},

		"POST /api/evaluate":        scoped(scope.Evaluate),
		"POST /api/public/evaluate": public,

		"POST /api/verify":                     scoped(scope.Verify),
		"GET /api/history":                     scoped(scope.HistoryRead),
		"GET /api/plots/{id}":                  scoped(scope.HistoryRead),
		"GET /api/receipts/{id}":               scoped(scope.ReceiptsRead),
		"GET /api/receipts/{id}/inclusion":     scoped(scope.ReceiptsRead),
		"GET /api/certificates/{id}/inclusion": public,

		"GET /api/bursts":        scoped(scope.HistoryRead),
		"GET /api/bursts/locate": scoped(scope.HistoryRead),
		"GET /api/bursts/{id}":   scoped(scope.HistoryRead),

		"GET /api/sessions":         scoped(scope.SessionsWrite),
		"DELETE /api/sessions/{id}": scoped(scope.SessionsWrite),

		"GET /api/jobs":                      scoped(scope.JobsRead),
		"GET /api/jobs/{id}":                 scoped(scope.JobsRead),
		"GET /api/jobs/{id}/statevector.npy": scoped(scope.JobsRead),
		"POST /api/jobs":                     scoped(scope.JobsWrite),
		"DELETE /api/jobs/{id}":              scoped(scope.JobsWrite),

		"POST /api/proofs":                  scoped(scope.ProofsWrite),
		"POST /api/proofs/validate":         scoped(scope.ProofsWrite),
		"POST /api/proofs/elaborate":        scoped(scope.ProofsWrite),
		"GET /api/certificates":             scoped(scope.JobsRead),
		"GET /api/certificates/{id}":        scoped(scope.JobsRead),
		"GET /api/certificates/{id}/public": public,
	}
}
