// Uses the generated TypeScript client for one real flow: node story.mjs CLIENT URL TOKEN
import assert from "node:assert/strict";

const [client, url, token] = process.argv.slice(2);
const { Reckon, Refusal, NotVerified, verifyReceipt, importKeys } = await import(client);
const service = new Reckon(url, token);
const answer = await service.evaluate("Integrate[x^2 Sin[x], x]");
assert.equal(answer.verification?.verdict, "verified");
assert.equal(answer.receipt.run_id, answer.run_id);
await assert.rejects(service.evaluate(" "), (refusal) => refusal instanceof Refusal && refusal.problem.code === "expression_required");
await assert.rejects(new Reckon(url, token, { keys: [] }).evaluate("1 + 1"), NotVerified);

// Whatever is changed in what the seal covers, the receipt does not verify.
const { data: receipt } = await service.client.GET("/api/receipts/{id}", { params: { path: { id: answer.run_id } } });
const { data: set } = await service.client.GET("/.well-known/service-keys.json");
const keys = await importKeys(set);
assert.equal((await verifyReceipt(receipt, keys)).answer, answer.result);
const changed = receipt.canonical_form.replace("verified", "refuted");
const id = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(changed))).toString("hex");
for (const forged of [{ canonical_form: changed }, { canonical_form: changed, id }, { signature: null }, { kid: null }, { id: "0".repeat(64) }])
  await assert.rejects(verifyReceipt({ ...receipt, ...forged }, keys), NotVerified);
console.log("the story is told");
