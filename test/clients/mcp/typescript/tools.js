// Calls every tool, a resource and a prompt of a Reckon service with the official MCP client for TypeScript.
//
//     node tools.js URL TOKEN EXPORT      EXPORT: a file with a proof export of a declaration one
//
// It ends with status 1 at the first answer that is not as expected.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token, file] = process.argv.slice(2);
const bell = { qubits: 2, shots: 100, seed: 7, gates: [{ gate: "h", target: 0 }, { gate: "cx", control: 0, target: 1 }] };

const client = new Client({ name: "typescript-lab", version: "1.0" });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
await client.connect(transport);

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

assert((await call("lookup_symbol", { name: "Integrate" })).structuredContent.known);

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
