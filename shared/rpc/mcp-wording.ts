import type { Transport } from "@modelcontextprotocol/server";
import { z } from "zod";
import { faultLine } from "../lib/schema-messages.ts";
import { parsedJson } from "../lib/text.ts";
import { INVALID_PARAMS } from "./json-rpc.ts";

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1);

/**
 * Lets a transport send the SDK's own schema faults in words. The SDK refuses requests that do not fit its schemas with the JSON of the fault as message,
 * those of `initialize` as an internal error.
 */
export function inWords<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const words = "error" in message ? wordsOf(message.error.message) : null;
    if (words === null) return send(message, options);
    return send({ ...message, error: { code: INVALID_PARAMS, message: words } } as typeof message, options);
  };
  return transport;
}

/** The faults in a message that ends in their JSON; null for any other message. */
export function wordsOf(message: string): string | null {
  const begin = message.search(/\[\s*\{/);
  const issues = begin < 0 ? undefined : Issues.safeParse(parsedJson(message.slice(begin))).data;
  if (!issues) return null;
  const lines = issues.map(({ path, message }) => {
    return faultLine({ path: path[0] === "params" ? path.slice(1) : path, message });
  });
  return `Invalid params: ${lines.join("; ")}`;
}
