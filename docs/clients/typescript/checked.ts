// Evaluate with Reckon, and believe no answer whose receipt does not verify. It runs in browsers, Node.js, Deno and Bun.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./reckon.js";

export type { components, paths } from "./reckon.js";
export type Evaluation = components["schemas"]["Evaluation"];
export type ReceiptRecord = components["schemas"]["ReceiptRecord"];
type Receipt = paths["/api/receipts/{id}"]["get"]["responses"]["200"]["content"]["application/json"];
type Problem = components["schemas"]["Problem"];
type Keys = Map<string, CryptoKey>;

/** The service refused a request; code is one of docs/errors.md. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(`${problem.detail} (${problem.code})`);
  }
}

/** A receipt does not verify, or is of another answer. */
export class NotVerified extends Error {}

/** The bytes that base64 or base64url stands for. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

/** The keys of /.well-known/service-keys.json, by kid. */
export async function importKeys(set: { keys: readonly { kid: string; kty: string; crv: string; x: string }[] }): Promise<Keys> {
  const keys: Keys = new Map();
  for (const { kid, kty, crv, x } of set.keys) {
    keys.set(kid, await crypto.subtle.importKey("jwk", { kty, crv, x }, { name: "Ed25519" }, false, ["verify"]));
  }
  return keys;
}

/** The record that the service signed: read from the signed bytes, whatever the receipt's member record says. */
export async function verifyReceipt(receipt: Receipt, keys: Keys): Promise<ReceiptRecord> {
  const signed = new TextEncoder().encode(receipt.canonical_form);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", signed));
  if ([...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") !== receipt.id) throw new NotVerified("id is not the SHA-256 of the canonical form");
  if (receipt.signature === null || receipt.kid === null) throw new NotVerified("the receipt is not signed");
  const key = keys.get(receipt.kid);
  if (key === undefined) throw new NotVerified("the key set has no key with the receipt's kid");
  if (!(await crypto.subtle.verify({ name: "Ed25519" }, key, bytesOf(receipt.signature), signed))) throw new NotVerified("the signature does not verify");
  return JSON.parse(receipt.canonical_form) as ReceiptRecord;
}

/** A service; keys are those that were kept of it, or those that it has now. */
export class Reckon {
  /** Every route of the interface, typed. */
  readonly client: Client<paths>;
  #keys: Promise<Keys> | undefined;

  constructor(baseUrl: string, token: string, keys?: Parameters<typeof importKeys>[0]) {
    this.client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
    if (keys !== undefined) this.#keys = importKeys(keys);
  }

  /** An answer and the record that was signed of it. Throws Refusal or NotVerified. */
  async evaluate(expression: string, sessionId?: string): Promise<Evaluation & { receipt: ReceiptRecord }> {
    const body = sessionId === undefined ? { expression } : { expression, session_id: sessionId };
    const { data, error } = await this.client.POST("/api/evaluate", { body });
    if (data === undefined) throw new Refusal(error);
    if (data.run_id === null) throw new NotVerified("the evaluation has no run");
    const receipt = await this.receipt(data.run_id);
    if (receipt.expression !== expression || receipt.answer !== data.result || receipt.verification?.verdict !== data.verification?.verdict)
      throw new NotVerified("the receipt is of another expression, answer or verdict");
    return { ...data, receipt };
  }

  /** The record of a run's receipt, verified. */
  async receipt(runId: number): Promise<ReceiptRecord> {
    const { data, error } = await this.client.GET("/api/receipts/{id}", { params: { path: { id: runId } } });
    if (data === undefined) throw new Refusal(error);
    return verifyReceipt(data, await (this.#keys ??= this.#fetchKeys()));
  }

  async #fetchKeys(): Promise<Keys> {
    const { data } = await this.client.GET("/.well-known/service-keys.json");
    if (data === undefined) throw new NotVerified("the service's keys cannot be read");
    return importKeys(data);
  }
}
