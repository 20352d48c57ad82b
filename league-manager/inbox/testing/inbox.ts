import { onTestFinished } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { startTestManager, type Wire } from "../../testing/test-manager.ts";

interface Polled {
  readonly status: number;
  readonly body: Wire;
}

/** Starts a manager with the player P01, which has an inbox. */
export async function startInbox() {
  const manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
  onTestFinished(() => manager.stop());
  const { inbox, auth_token: token } = await manager.tool("register_player", { player_name: "Ann" });
  const send = async (body: unknown, query: string, bearer: string, signal?: AbortSignal): Promise<Polled> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${bearer}` };
    const init = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
    const response = await fetch(`${inbox}${query}`, init);
    return { status: response.status, body: await response.json() };
  };
  return {
    manager,
    inbox: String(inbox),
    token: String(token),
    /** Polls with answers, a query and the token of the player. */
    poll: (answers: unknown = [], query = "?wait_s=5", bearer = String(token), signal?: AbortSignal) =>
      send(answers, query, bearer, signal),
  };
}

/** Sends ROUND_START to the inbox of P01, as a referee does. `round` distinguishes the messages. */
export async function messageTo(inbox: string, token: string, round = 1, signal?: AbortSignal): Promise<Wire> {
  const authToken = signFor(sha256Hex(token), "rps");
  const envelope = newEnvelope(
    "ROUND_START",
    "league_manager:LM01",
    { league_id: "rps", round_id: round },
    { authToken },
  );
  const params = { name: "league_message", arguments: envelope };
  const response = await fetch(`${inbox}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: `call-${round}`, method: "tools/call", params }),
    ...(signal && { signal }),
  });
  return response.json();
}

/** The round in a ROUND_START. */
export const roundOf = (request: Wire): number => request.params.arguments.payload.round_id;
export const answerTo = ({ id }: Wire, result: unknown = "done") => ({ jsonrpc: "2.0", id, result });
