// Calls every tool, a resource and a prompt of a Reckon service with the official MCP client for TypeScript.
//
//     node tools.js URL CREDENTIAL EXPORT
//
// CREDENTIAL is an API token, or the cookie of a browser session whose owner then signs the client in through OAuth; EXPORT is a file
// with a proof export of a declaration one.
// It ends with status 1 at the first answer that is not as expected.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, credential, file] = process.argv.slice(2);
const bell = { qubits: 2, shots: 100, seed: 7, gates: [{ gate: "h", target: 0 }, { gate: "cx", control: 0, target: 1 }] };

/** What the client keeps of its authorization, and the person who allows it on the consent page. */
class Person {
  redirectUrl = "http://127.0.0.1:8912/callback";
  clientMetadata = { client_name: "typescript-lab", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  state = () => "the-state";
  clientInformation = () => this.client;
  saveClientInformation = (client) => { this.client = client; };
  tokens = () => this.kept;
  saveTokens = (tokens) => { this.kept = tokens; };
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => { this.verifier = verifier; };

  async redirectToAuthorization(address) {
    const headers = { Cookie: credential, Origin: new URL(url).origin };
    const page = await (await fetch(address, { headers })).text();
    const unescaped = (text) => text.replaceAll("&#43;", "+").replaceAll("&#34;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    const fields = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [name, unescaped(value)]);
    assert(fields.length, page);
    const answer = await fetch(new URL("/oauth/authorize", url), { method: "POST", headers, redirect: "manual", body: new URLSearchParams([...fields, ["answer", "allow"]]) });
    this.code = new URL(answer.headers.get("Location")).searchParams.get("code");
  }
}

const client = new Client({ name: "typescript-lab", version: "1.0" });
let transport;
if (credential.startsWith("rk_pat_")) {
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${credential}` } } });
  await client.connect(transport);
} else {
  const authProvider = new Person();
  const refused = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await assert.rejects(new Client({ name: "typescript-lab", version: "1.0" }).connect(refused), UnauthorizedError);
  await refused.finishAuth(authProvider.code);
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await client.connect(transport);
}

const { tools } = await client.listTools(); // from here on the client checks what comes with the output schemas
assert.deepEqual(tools.map((tool) => tool.name).sort(), ["check_proof", "evaluate", "get_job", "lookup_symbol", "simulate_circuit", "verify"]);

/** Calls a tool that is to answer. */
async function call(name, given) {
  const result = await client.callTool({ name, arguments: given });
  assert(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result;
}

const evaluated = await call("evaluate", { expression: "Integrate[x^2, x]" });
assert.equal(evaluated.structuredContent.verification.verdict, "verified");
const run = evaluated.structuredContent.run_id;
const receipt = await client.readResource({ uri: `reckon://receipts/${run}` });
assert.equal(JSON.parse(receipt.contents[0].text).record.run_id, run);

assert.equal((await call("verify", { run_id: run })).structuredContent.verdict, "verified");

const drawn = await call("evaluate", { expression: "Plot[Sin[x], {x, 0, 6}]" });
assert(drawn.content.some((block) => block.type === "image" && block.mimeType === "image/svg+xml"));
assert(drawn.content.some((block) => block.type === "resource_link"));

const simulated = await call("simulate_circuit", { circuit: bell });
assert.deepEqual(Object.keys(simulated.structuredContent.result.counts).sort(), ["00", "11"]);
const job = await call("get_job", { job_id: simulated.structuredContent.job_id });
assert.deepEqual(job.structuredContent.result, simulated.structuredContent.result);

assert.equal((await call("lookup_symbol", { name: "Sin" })).structuredContent.symbol.status, "supported");

const proved = await call("check_proof", { declarations: ["one"], export: readFileSync(file, "utf8") });
assert.equal(proved.structuredContent.result.verdict, "verified");

const refused = await client.callTool({ name: "evaluate", arguments: { expression: "Sin[x" } });
assert(refused.isError);
assert.equal(JSON.parse(refused.content[0].text).code, "syntax_error");

assert.equal((await client.listPrompts()).prompts.length, 3);
const prompt = await client.getPrompt({ name: "check_this_answer", arguments: { expression: "1+1", answer: "3" } });
assert.match(prompt.messages[0].content.text, /verify/);
await client.close();
console.log("the story is told in", transport.protocolVersion);
