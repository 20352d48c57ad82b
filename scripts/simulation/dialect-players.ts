import { parsedJson } from "#shared/lib/text.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { choiceIn, type DialectProgram, type Identity, type Message, WORDINGS } from "./dialect-programs.ts";

const CALL_MS = 5_000;
const RETRY_MS = 250;
/** The time after its registration at which a program that registers first begins to listen. */
const LISTEN_AFTER_MS = 500;
/** The time for which a program sends an answer again that its referee has not taken. */
const SEND_MS = 20_000;

interface DialectPlayerOptions {
  readonly program: DialectProgram;
  readonly name: string;
  readonly game: string;
  readonly port: number;
  /** The manager's endpoint. */
  readonly manager: string;
}

/** The process of a program. */
interface Running extends DialectPlayerOptions {
  readonly self: AgentProcess;
  readonly peers: Peers;
  readonly signal: AbortSignal;
  readonly identity: Identity;
  /** The endpoints of the referees, by the matches of the announced rounds. */
  readonly referees: Map<unknown, string>;
  /** The last call of each match that is answered later. */
  readonly open: Map<unknown, Message>;
}

/**
 * Starts a small program that plays in another dialect. It shares no code with the player of this project. It knows nothing about the time before its
 * start.
 */
export async function startDialectPlayer(options: DialectPlayerOptions, self: AgentProcess): Promise<RunningAgent> {
  const stopping = new AbortController();
  const running: Running = {
    ...options,
    self,
    peers: self.network.createPeers(),
    signal: stopping.signal,
    identity: { playerId: "", token: "" },
    referees: new Map(),
    open: new Map(),
  };
  let close = async (): Promise<void> => {};
  const begin = async (): Promise<void> => {
    const listening = await self.network.listen({
      ports: [options.port],
      handler: (body: string) => answer(running, body),
      isReady: () => true,
    } as unknown as ListenOptions);
    if (!listening.ok) throw new Error(listening.error);
    close = () => listening.value.close();
  };
  if (WORDINGS[options.program].listensFirst) {
    await begin();
    void register(running);
  } else {
    void register(running)
      .then(() => self.clock.pause(LISTEN_AFTER_MS, running.signal))
      .then((isDue) => (isDue ? begin() : undefined));
  }
  return {
    async stop() {
      stopping.abort();
      await close();
      await running.peers.close();
    },
  };
}

/** Registers until the manager accepts. */
async function register(running: Running): Promise<void> {
  const { program, name, game, port, self, identity, signal } = running;
  for (let count = 0; !signal.aborted; count++) {
    const body = WORDINGS[program].register({ name, game, port, count });
    const result = await post(running, running.manager, body);
    const { player_id, auth_token } = (result?.response ?? result ?? {}) as Record<string, unknown>;
    if (typeof player_id === "string") {
      identity.playerId = player_id;
      identity.token = String(auth_token ?? "");
      self.say(`registered as ${player_id}`);
      return;
    }
    await self.clock.pause(RETRY_MS, signal);
  }
}

/** Posts a JSON body. Resolves with the result of the response; null without one. */
async function post({ peers, signal }: Running, url: string, body: object): Promise<Record<string, unknown> | null> {
  const reply = await peers.post(url, JSON.stringify(body), { timeoutMs: CALL_MS, signal });
  const { result } = ((reply.ok ? parsedJson(reply.value.text) : null) ?? {}) as { result?: Record<string, unknown> };
  return result ?? null;
}

async function answer(running: Running, body: string): Promise<{ status: number; body: string }> {
  const { program, identity, referees } = running;
  const rpc = parsedJson(body) as { readonly id?: unknown; readonly params?: Record<string, unknown> };
  const { matches } = (rpc.params ?? {}) as {
    matches?: readonly { match_id: string; referee_endpoint: string | null }[];
  };
  for (const { match_id, referee_endpoint } of matches ?? [])
    if (referee_endpoint !== null) referees.set(match_id, referee_endpoint);
  const answered = WORDINGS[program].answer(rpc, identity);
  if (!answered) {
    const error = { code: -32601, message: "Method not found" };
    return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error }) };
  }
  if (answered.later) void answerLater(running, answered.later);
  return { status: answered.status, body: JSON.stringify(answered.body) };
}

/** Sends the answer to an invitation or a call to the referee, until the referee has taken it or another call of the match has followed. */
async function answerLater(running: Running, message: Message): Promise<void> {
  const { identity, self, open, referees, signal } = running;
  const { match_id } = message;
  open.set(match_id, message);
  const isInvitation = message.message_type === "GAME_INVITATION";
  const method = isInvitation ? "receive_game_join_ack" : "receive_parity_response";
  const isParity = message.message_type === "CHOOSE_PARITY_CALL";
  const endsAt = self.clock.monotonic() + SEND_MS;
  while (open.get(match_id) === message && !signal.aborted && self.clock.monotonic() < endsAt) {
    const fields = isInvitation
      ? { message_type: "GAME_JOIN_ACK", accept: true }
      : {
          message_type: isParity ? "CHOOSE_PARITY_RESPONSE" : "GAME_MOVE_RESPONSE",
          ...(isParity ? { parity_choice: choiceIn(message) } : { move_data: { choice: choiceIn(message) } }),
        };
    const params = {
      protocol: "league.v2",
      sender: `players:${identity.playerId}`,
      timestamp: "2026-01-01T00:00:00",
      match_id,
      player_id: identity.playerId,
      auth_token: "",
      ...fields,
    };
    const referee = referees.get(match_id);
    const result = referee === undefined ? null : await post(running, referee, { ...RPC, method, params });
    if (result?.status === "ACCEPTED") return;
    // The match has moved to another referee, or the program was restarted after the announcement.
    await findReferee(running, match_id);
    await self.clock.pause(RETRY_MS, signal);
  }
}

const RPC = { jsonrpc: "2.0", id: 99 };

/** Asks the manager for the referee of a match. */
async function findReferee(running: Running, matchId: unknown): Promise<void> {
  const { identity, manager, referees } = running;
  const result = await post(running, manager, {
    ...RPC,
    method: "protocol/message",
    params: {
      protocol: "league.v2",
      message_type: "LEAGUE_QUERY",
      sender: `player:${identity.playerId}`,
      timestamp: "2026-01-01T00:00:00",
      auth_token: identity.token,
      query_type: "GET_SCHEDULE",
    },
  });
  const { schedule = [] } = (result?.data ?? {}) as { schedule?: readonly Record<string, unknown>[] };
  const row = schedule.find(({ match_id }) => match_id === matchId);
  if (typeof row?.referee_endpoint === "string") referees.set(matchId, row.referee_endpoint);
}
