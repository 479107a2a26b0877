// The README's story told by a client of the types that openapi-typescript made of openapi.json. It takes the address of a service,
// and ends with status 1 at the first answer that is not as expected.
import assert from "node:assert/strict";
import { createPublicKey, verify as verifySignature } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./reckon.js";

const baseUrl = process.argv[2] ?? "http://localhost:8080";

/** Opens an account and a browser session, and mints a token with it. */
async function signIn(): Promise<string> {
  const browser = createClient<paths>({ baseUrl });
  const body = { email: "typescript@example.com", password: "correct horse battery" };
  const registered = await browser.POST("/auth/register", { body });
  assert(registered.data, JSON.stringify(registered.error));
  const login = await browser.POST("/auth/login", { body });
  assert.equal(login.data?.user_id, registered.data.user_id);
  const cookie = login.response.headers.getSetCookie()[0]?.split(";")[0];
  assert(cookie);
  const minted = await browser.POST("/api/tokens", { body: { name: "story" }, headers: { Cookie: cookie } });
  assert(minted.data, JSON.stringify(minted.error));
  return minted.data.token;
}

const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${await signIn()}` } });

// An answer with its check.
const evaluated = await client.POST("/api/evaluate", { body: { expression: "Integrate[x^2 Sin[x], x]" } });
assert(evaluated.data, JSON.stringify(evaluated.error));
assert.equal(evaluated.data.status, "success");
assert.equal(evaluated.data.verification?.verdict, "verified");
assert.notEqual(evaluated.response.headers.get("X-RateLimit-Remaining"), null);
const runId = evaluated.data.run_id;
assert(runId !== null);

// A refused request has a code.
const refused = await client.POST("/api/evaluate", { body: { expression: " " } });
assert.equal(refused.error?.code, "expression_required" satisfies components["schemas"]["Problem"]["code"]);

// A check of a run, and of an answer that is wrong.
const verified = await client.POST("/api/verify", { body: { run_id: runId } });
assert.equal(verified.data?.verdict, "verified");
const wrong = await client.POST("/api/verify", { body: { code: "Integrate[x, x]", result: "x^2" } });
assert.equal(wrong.data?.verdict, "refuted");
// @ts-expect-error either the run or the answer, not half of each
void ({ run_id: 1, result: "x^2" } satisfies components["schemas"]["VerifyInputBody"]);

// The receipt, and its signature by a published key.
const receipt = await client.GET("/api/receipts/{id}", { params: { path: { id: runId } } });
assert(receipt.data?.signature, JSON.stringify(receipt.error));
assert.equal(receipt.data.record.run_id, runId);
const { canonical_form, kid, signature } = receipt.data;
const keys = await client.GET("/.well-known/service-keys.json");
const key = keys.data?.keys.find((k) => k.kid === kid);
assert(key);
const published = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: "jwk" });
assert(verifySignature(null, Buffer.from(canonical_form), published, Buffer.from(signature, "base64")));

// A circuit as a job, with its typed result.
const submitted = await client.POST("/api/jobs", {
  body: {
    kind: "qsim",
    circuit: { qubits: 2, shots: 1000, seed: 7, gates: [{ gate: "h", target: 0 }, { gate: "cx", control: 0, target: 1 }] },
  },
});
assert(submitted.data, JSON.stringify(submitted.error));
const read = await client.GET("/api/jobs/{id}", { params: { path: { id: submitted.data.job_id }, query: { wait_ms: 20000 } } });
const job = read.data;
assert(job?.kind === "qsim", JSON.stringify(read.error));
assert.equal(job.status, "succeeded");
const counts = job.result?.counts ?? {};
assert.equal((counts["00"] ?? 0) + (counts["11"] ?? 0), 1000);
assert.equal(job.result?.seed, 7);

// A gate inside a block, and an entry that is two things at once.
const entry: components["schemas"]["CircuitEntryInput"] = { if: { all: [{ measured: 0 }] }, then: [{ gate: "x", target: 1 }] };
void entry;
// @ts-expect-error a condition reads outcomes
void ({ if: { qubit: 0 }, then: [] } satisfies components["schemas"]["CircuitEntryInput"]);

// A page of history, with the evaluation in it.
const token = evaluated.response.headers.get("Consistency-Token");
assert(token);
const history = await client.GET("/api/history", { params: { query: { limit: 1 }, header: { "Consistency-Token": token } } });
const row = history.data?.runs.find((r) => r.run_id === runId);
assert.equal(row?.verification?.verdict, "verified", JSON.stringify(history));

console.log("the story is told");
