/** The headers with which every MCP client sends its requests. */
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The newest revision of MCP with sessions. */
const REVISION = "2025-11-25";

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An MCP session with a server. */
export interface McpSession {
  /** The result of `initialize`. */
  readonly initialized: unknown;
  /** Resolves with the result of a request, or with its error as `{ error }`. */
  ask(method: string, params?: object): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens a session at an endpoint, with the messages of the specification and without a library that would hide parts of them. `headers` are sent with
 * each request.
 */
export async function openMcpSession(endpoint: string, headers: Record<string, string> = {}): Promise<McpSession> {
  let sessionHeaders = headers;
  const post = async (message: object): Promise<Response> =>
    fetch(endpoint, {
      method: "POST",
      headers: { ...HEADERS, ...sessionHeaders },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
  const clientInfo = { name: "golden", version: "1.0.0" };
  const opened = await post({
    ...{ id: 0, method: "initialize", params: { protocolVersion: REVISION, capabilities, clientInfo } },
  });
  const { result: initialized } = answerIn(await opened.text());
  sessionHeaders = {
    ...headers,
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": REVISION,
  };
  await (await post({ method: "notifications/initialized" })).text();
  let id = 0;
  return {
    initialized,
    async ask(method, params) {
      const response = await post({ id: ++id, method, ...(params && { params }) });
      const { result, error } = answerIn(await response.text());
      return error === undefined ? result : { error };
    },
    async close() {
      await (await fetch(endpoint, { method: "DELETE", headers: { ...HEADERS, ...sessionHeaders } })).text();
    },
  };
}

/** Parses an answer as JSON or as a stream of events, of which the last one is the answer. */
function answerIn(text: string): Answer {
  const data = text.startsWith("{")
    ? text
    : text
        .split("\n")
        .findLast((line) => line.startsWith("data: {"))
        ?.slice(6);
  return JSON.parse(data ?? '{"error":"no answer"}') as Answer;
}
