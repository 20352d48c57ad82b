import { type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { type ToolAnswer, toolAnswerIn } from "./checks/messages.ts";

/** Where a visitor calls tools. */
interface Options {
  readonly referee: string;
  /** The player that the visitor plays by hand, on the machine of the player. */
  readonly player: string;
  /** A league that does not start. The visitor enters and leaves it. */
  readonly league: string;
}

/** A process that calls tools, as a person or a model with an MCP client does. */
interface Desk extends Options {
  readonly self: AgentProcess;
  readonly peers: Peers;
  readonly signal: AbortSignal;
}

const ATTEMPT_MS = 1_000;
const PAUSE_MS = 100;
/** The longest pause between two looks at the open moves. */
const MAX_PAUSE_MS = 2_000;

/** Starts a visitor: it makes the moves of its player, enters a league by tools, and begins a game at a referee that it does not play to its end. */
export async function startVisitor(options: Options, self: AgentProcess): Promise<RunningAgent> {
  const stopping = new AbortController();
  const desk: Desk = { ...options, self, peers: self.network.createPeers(), signal: stopping.signal };
  void Promise.all([playByHand(desk), visitLeague(desk), beginGame(desk)]);
  return {
    async stop() {
      stopping.abort();
      await desk.peers.close();
    },
  };
}

async function playByHand(desk: Desk): Promise<void> {
  for (let pauseMs = PAUSE_MS; !desk.signal.aborted; ) {
    const state = await called(desk, desk.player, "GET_MY_STATE", "get_my_state", {});
    const [open] = (state?.value.asked ?? []) as readonly { match_id: string; legal_actions: readonly unknown[] }[];
    if (open)
      await called(desk, desk.player, "MAKE_MOVE", "make_move", {
        match_id: open.match_id,
        move: open.legal_actions[0],
      });
    pauseMs = open ? PAUSE_MS : Math.min(MAX_PAUSE_MS, pauseMs * 1.5);
    await desk.self.clock.pause(pauseMs, desk.signal);
  }
}

async function visitLeague(desk: Desk): Promise<void> {
  const joined = await tried(desk, MANAGER_ENDPOINT, "JOIN_LEAGUE", { player_name: "visitor", league_id: desk.league });
  const player_token = joined?.player_token;
  await tried(desk, MANAGER_ENDPOINT, "WAIT_FOR_TURN", { player_token, timeout_s: 0 });
  await tried(desk, MANAGER_ENDPOINT, "LEAVE_LEAGUE", { player_token });
}

/** Begins a game for two agents at a referee. It is left after a move, so that it expires. */
async function beginGame(desk: Desk): Promise<void> {
  const { referee } = desk;
  const created = await tried(desk, referee, "CREATE_GAME", { template: "rps.v1", opponent: "agent" });
  const { game_id, seat_token } = created ?? {};
  await tried(desk, referee, "JOIN_GAME", { game_id });
  await tried(desk, referee, "WAIT_FOR_NEXT_TURN", { game_id, seat_token, timeout_s: 0 });
  await tried(desk, referee, "VALIDATE_MOVE", { match_id: game_id, player_id: "player_1", move: "rock" }, seat_token);
  await tried(desk, referee, "GET_GAME_STATE", { match_id: game_id }, seat_token);
  await tried(desk, referee, "FINISH_TURN", { game_id, seat_token, move: "rock" });
  await tried(desk, referee, "END_GAME", {});
}

/** Calls a tool with an envelope until it is accepted, but not more than ten times. Resolves with its answer. */
async function tried(
  desk: Desk,
  endpoint: string,
  type: MessageType,
  args: object,
  token?: unknown,
): Promise<ToolAnswer["value"] | null> {
  for (let tries = 0; tries < 10 && !desk.signal.aborted; tries++) {
    const answer = await called(desk, endpoint, type, "league_message", args, token);
    if (answer && !answer.isRejected) return answer.value;
    await desk.self.clock.pause(PAUSE_MS * (tries + 1), desk.signal);
  }
  return null;
}

async function called(
  { self, peers, signal }: Desk,
  endpoint: string,
  type: MessageType,
  tool: string,
  args: object,
  token?: unknown,
): Promise<ToolAnswer | null> {
  const about = {
    messageId: self.ids.uuid(),
    at: self.clock.iso(),
    ...(typeof token === "string" && { authToken: token }),
  };
  const sent = tool === "league_message" ? newEnvelope(type, "player:visitor", args, about) : args;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: sent } });
  const reply = await peers.post(endpoint, body, { timeoutMs: ATTEMPT_MS, signal });
  return reply.ok ? toolAnswerIn(reply.value.text) : null;
}

/** Returns the network of a player that also wants the results of the rounds of its matches, which those of this project do not need. */
export const withRoundResults = (network: Network): Network => ({
  ...network,
  createPeers() {
    const peers = network.createPeers();
    return {
      ...peers,
      message: (endpoint, envelope, options) =>
        peers.message(
          endpoint,
          envelope.type === "PLAYER_REGISTER_REQUEST"
            ? { ...envelope, payload: { ...envelope.payload, round_results: true } }
            : envelope,
          options,
        ),
    };
  },
});
