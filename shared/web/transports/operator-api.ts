/** The answer of the manager to an action: its fields, or the reason of a rejection for people. */
export type OperatorAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string; readonly isTokenWrong: boolean; readonly isUnanswered: boolean };

const UNANSWERED =
  "The manager did not answer, so the action may or may not have happened. Check the state of the league before you repeat it.";
const TOO_MANY = "There were too many requests from this network. Wait a minute and try again.";

/**
 * Calls a tool of the manager with the operator token. The token is sent in a header of this request only. A page of another site cannot send this
 * header: the browser would ask the manager for permission first, and the manager rejects other origins.
 */
export async function callOperatorTool(token: string, name: string, args: object): Promise<OperatorAnswer> {
  const rejected = (message: string, isTokenWrong = false): OperatorAnswer => ({
    ok: false,
    message,
    isTokenWrong,
    isUnanswered: message === UNANSWERED,
  });
  let response: Response;
  try {
    response = await fetch("/mcp", {
      method: "POST",
      credentials: "omit",
      cache: "no-store",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
    });
  } catch {
    return rejected(UNANSWERED);
  }
  if (response.status === 429) return rejected(TOO_MANY);
  const answer = (await response.json().catch(() => null)) as ToolReply | null;
  const text = answer?.result?.content?.[0]?.text;
  const value = text === undefined ? null : (parsed(text) as Record<string, unknown> | null);
  if (value && answer?.result?.isError !== true) return { ok: true, value };
  const message = value?.message ?? answer?.error?.message;
  if (value?.error_code === "L004" && String(message).includes("operator token")) {
    return rejected("This is not the operator token of this manager.", true);
  }
  return rejected(typeof message === "string" ? message : UNANSWERED);
}

interface ToolReply {
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly message?: string };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}

/** Whether the manager has a document. Faults of the connection count as true, because the manager checks each command itself. */
export async function documentExists(path: string): Promise<boolean> {
  const response = await fetch(path, { method: "HEAD" }).catch(() => null);
  return response?.status !== 404;
}
