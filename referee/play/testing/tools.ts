import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import type { TestHost } from "../../rest/testing/host.ts";

/** The result of a tool. */
export interface TestToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Record<string, string>;
}

/** Calls a tool. Resolves with its result. */
export async function toolResult(host: TestHost, name: string, args: object): Promise<TestToolResult> {
  const body = rpcToolCall(name, args);
  return (await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } })).json.result;
}
