import { parsedJson } from "../../lib/text.ts";
import type { Gate, HttpContext, McpHandler } from "../jsonrpc/http-context.ts";
import { idOf, TOO_MANY } from "../jsonrpc/json-rpc.ts";
import type { MessageSocket, SocketEvents } from "../websocket/message-socket.ts";

interface McpSocketOptions {
  readonly handler: McpHandler;
  readonly gate?: Gate | undefined;
  readonly onError: (error: unknown) => void;
}

/** The largest number of requests of one WebSocket that are being answered. */
const MAX_OPEN_REQUESTS = 1_000;

/**
 * Returns the function that accepts WebSockets at `/mcp`. Each frame is a JSON-RPC message and is checked and answered like the body of a `POST /mcp`.
 * Its answer is one frame, as soon as it is ready; a notification has none.
 */
export const mcpSocket =
  ({ handler, gate, onError }: McpSocketOptions, http: HttpContext) =>
  (socket: MessageSocket): SocketEvents => {
    let openRequests = 0;
    const replyTo = async (text: string): Promise<string> => {
      try {
        const rejection = (gate && (await gate(text, http)))?.rejection ?? null;
        if (rejection)
          http.logRejection?.({ code: rejection.status, reason: "too many requests", request: "GET /mcp" });
        return (rejection ?? (await handler(text, http))).body;
      } catch (thrown) {
        onError(thrown);
        return errorReply(text, -32603, "Internal error");
      }
    };
    const answer = async (text: string): Promise<void> => {
      openRequests++;
      const reply = await replyTo(text);
      openRequests--;
      if (reply !== "") socket.send(reply);
    };
    return {
      onMessage(text) {
        if (openRequests < MAX_OPEN_REQUESTS) void answer(text);
        else socket.send(errorReply(text, TOO_MANY, `At most ${MAX_OPEN_REQUESTS} requests without an answer`));
      },
      onClose() {},
    };
  };

const errorReply = (request: string, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: idOf(parsedJson(request)), error: { code, message } });
