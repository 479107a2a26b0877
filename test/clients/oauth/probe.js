// What an app does with the official steps of OAuth, by a library that checks every answer: it finds the server by a 401, registers,
// has a person allow it, exchanges, refreshes, and tries what must not work. Arguments: the service's address, a session cookie.
import * as oauth from 'oauth4webapi'

const [base, cookie] = process.argv.slice(2)
const plain = { [oauth.allowInsecureRequests]: true } // the server of the test is on the loopback interface
const redirectURI = 'http://127.0.0.1:8912/callback'
const none = oauth.None()

const must = (condition, what) => {
  if (!condition) throw new Error(what)
}

/** fails wants a promise to be refused, and returns the error. */
const fails = async (promise, what) => {
  let error
  try {
    await promise
  } catch (e) {
    error = e
  }
  must(error, `${what}: it was accepted`)
  return error
}

// Discovery: 401 → metadata of the resource (RFC 9728) → metadata of the server (RFC 8414).
const resource = new URL(base)
const refused = await fetch(new URL('/api/history', base))
must(refused.status === 401, `without a credential: ${refused.status}`)
const metadataURL = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate'))?.[1]
must(metadataURL === new URL('/.well-known/oauth-protected-resource', base).href, `resource_metadata ${metadataURL}`)
const protectedResource = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, plain))
const issuer = new URL(protectedResource.authorization_servers[0])
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain }))
must(server.authorization_response_iss_parameter_supported === true, 'iss is not announced')

// Registration (RFC 7591).
const register = async (name) =>
  oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(server, {
    client_name: name, redirect_uris: [redirectURI], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  }, plain))
const client = await register('Probe')
const other = await register('Another')

const fields = (page) => Object.fromEntries([...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  .map(([, name, value]) => [name, value.replaceAll('&#43;', '+').replaceAll('&#34;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')]))

/** authorize has the person allow the client, and returns where the browser is sent. */
const authorize = async (verifier, scope, changes = {}) => {
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    client_id: client.client_id, redirect_uri: redirectURI, response_type: 'code', scope, state: 'the-state', resource: protectedResource.resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const page = await fetch(url, { headers: { cookie }, redirect: 'manual' })
  must(page.status === 200, `the page: ${page.status}`)
  const answer = await fetch(server.authorization_endpoint, {
    method: 'POST', headers: { cookie, origin: base }, redirect: 'manual', body: new URLSearchParams({ ...fields(await page.text()), answer: 'allow' }),
  })
  must(answer.status === 303, `the answer: ${answer.status}`)
  return new URL(answer.headers.get('location'))
}

const exchange = async (parameters, verifier, by = client) =>
  oauth.processAuthorizationCodeResponse(server, by, await oauth.authorizationCodeGrantRequest(server, by, none, parameters, redirectURI, verifier, plain))
const refresh = async (token) =>
  oauth.processRefreshTokenResponse(server, client, await oauth.refreshTokenGrantRequest(server, client, none, token, plain))
const call = async (token, path = '/api/history') => (await fetch(new URL(path, base), { headers: { authorization: `Bearer ${token}` } })).status

// Code and PKCE.
const verifier = oauth.generateRandomCodeVerifier()
const callback = await authorize(verifier, 'history:read evaluate')
const parameters = oauth.validateAuthResponse(server, client, callback, 'the-state')
const tokens = await exchange(parameters, verifier)
must(tokens.scope === 'evaluate history:read' && tokens.expires_in === 3600 && tokens.refresh_token, JSON.stringify(tokens))
must((await call(tokens.access_token)) === 200, 'the token does not work')
for (const [path, status] of Object.entries({ '/api/jobs': 403, '/api/tokens': 403, '/api/connections': 403 })) {
  must((await call(tokens.access_token, path)) === status, `${path} is not ${status}`)
}

// Refresh with rotation, and reuse: the whole family ends.
const second = await refresh(tokens.refresh_token)
must(second.refresh_token !== tokens.refresh_token && (await call(second.access_token)) === 200, 'the refreshed token does not work')
const reused = await fails(refresh(tokens.refresh_token), 'a refresh token again')
must(reused.error === 'invalid_grant', `a refresh token again: ${reused}`)
must((await call(second.access_token)) === 401 && (await call(tokens.access_token)) === 401, 'a token of the family works after the reuse')
must((await fails(refresh(second.refresh_token), 'the newest refresh token')).error === 'invalid_grant', 'the newest refresh token is not invalid_grant')

// Mix-up: an answer whose iss is another server's, or has none, is not for us (RFC 9207).
for (const iss of ['https://attacker.example', null]) {
  const mixed = new URL(callback)
  mixed.searchParams.delete('iss')
  if (iss) mixed.searchParams.set('iss', iss)
  try {
    oauth.validateAuthResponse(server, client, mixed, 'the-state')
  } catch {
    continue
  }
  throw new Error(`an answer with iss ${iss} was accepted`)
}

// A code of one client is nothing to another, and nothing without its verifier; a code that came twice ends what came of it.
const again = oauth.generateRandomCodeVerifier()
const stolen = oauth.validateAuthResponse(server, client, await authorize(again, 'history:read'), 'the-state')
must((await fails(exchange(stolen, oauth.generateRandomCodeVerifier()), 'another verifier')).error === 'invalid_grant', 'another verifier')
must((await fails(exchange(stolen, again, other), 'another client')).error === 'invalid_grant', 'another client')
const third = await exchange(stolen, again)
must((await fails(exchange(stolen, again), 'a code again')).error === 'invalid_grant', 'a code again')
must((await call(third.access_token)) === 401, 'the token of a code that came twice works')

// Revocation (RFC 7009).
const last = oauth.generateRandomCodeVerifier()
const fourth = await exchange(oauth.validateAuthResponse(server, client, await authorize(last, 'history:read'), 'the-state'), last)
await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, none, fourth.refresh_token, plain))
must((await call(fourth.access_token)) === 401, 'a revoked token works')

// A token for MCP is worth nothing at the API (RFC 8707).
const mcpVerifier = oauth.generateRandomCodeVerifier()
const mcp = await exchange(oauth.validateAuthResponse(server, client, await authorize(mcpVerifier, 'mcp', { resource: new URL('/mcp', base).href }), 'the-state'), mcpVerifier)
must(mcp.scope === 'mcp' && (await call(mcp.access_token)) === 401, 'a token for MCP works at the API')

console.log('every step was as it must be')
