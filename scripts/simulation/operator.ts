import { type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { type ToolAnswer, toolAnswerIn } from "./checks/messages.ts";
import { FIRST_LEAGUE, type OperatorCall } from "./plan.ts";

/** The operator token of every simulated league. */
export const OPERATOR_TOKEN = "the-token-of-the-operator";
const FORGED_TOKEN = "token-of-nobody";

/** The people who run the players. */
export interface Owners {
  /** Starts the process of a player again. */
  restart(player: string): void;
  /** The data of a player is erased. */
  onForgotten(player: string): void;
  /** Gives a player its new token, and starts its process again. */
  handOver(player: string, token: string): void;
}

interface Options {
  readonly calls: readonly OperatorCall[];
  /** Whether the operator resumes the league if a delayed call has paused it again. */
  readonly isWatching: boolean;
  /** The number of players without which the operator does not start the league. */
  readonly players: number;
  readonly owners: Owners;
}

/** A process of an operator. */
interface Desk extends Options {
  readonly self: AgentProcess;
  readonly peers: Peers;
  readonly signal: AbortSignal;
}

/** What `league_status` shows of one league. */
interface LeagueView {
  readonly league_id: string;
  readonly status: string;
  readonly players: readonly { readonly player_id: string; readonly display_name: string }[];
}

const ATTEMPT_MS = 3_000;
const RETRY_MS = 250;
const POLL_MS = 150;
/** A call with a rejection that can be temporary is repeated this often; that of the start until the league has a referee. */
const MAX_REJECTIONS = 8;
/** The longest pause between two looks at the league. */
const MAX_WATCH_MS = 10_000;

/** Starts an operator, which makes its calls one after the other, as a person at a terminal does. */
export async function startOperator(options: Options, self: AgentProcess): Promise<RunningAgent> {
  const stopping = new AbortController();
  const desk: Desk = { ...options, self, peers: self.network.createPeers(), signal: stopping.signal };
  void work(desk);
  return {
    async stop() {
      stopping.abort();
      await desk.peers.close();
    },
  };
}

async function work(desk: Desk): Promise<void> {
  const early = desk.calls.filter(({ after }) => after === "begin");
  const late = desk.calls.filter(({ after }) => after === "start");
  const beganAt = desk.self.clock.now() - desk.self.clock.monotonic();
  await makeCalls(desk, early, beganAt);
  if (late.length > 0) {
    for (let status = ""; status === "" || status === "open"; status = await statusOf(desk)) {
      if (!(await desk.self.clock.pause(POLL_MS, desk.signal))) return;
    }
    await makeCalls(desk, late, desk.self.clock.now());
  }
  if (desk.isWatching) await watch(desk);
}

/** Makes calls at their times after `from`; a call that takes long delays the next ones. */
async function makeCalls(desk: Desk, calls: readonly OperatorCall[], from: number): Promise<void> {
  const { clock } = desk.self;
  for (const one of calls) {
    await clock.pause(Math.max(0, from + one.at - clock.now()), desk.signal);
    if (desk.signal.aborted) return;
    await make(desk, one);
  }
}

/** Resumes a paused league until it is over: a call of the operator that was delayed can pause it again. */
async function watch(desk: Desk): Promise<void> {
  const resume = { tool: "resume_league", isEnvelope: false, isForged: false } as const;
  for (let pauseMs = POLL_MS; !desk.signal.aborted; pauseMs = Math.min(MAX_WATCH_MS, pauseMs * 2)) {
    const status = await statusOf(desk);
    if (status === "completed") return;
    if (status === "paused") await called(desk, resume, { league_id: "sim" });
    await desk.self.clock.pause(pauseMs, desk.signal);
  }
}

/** Makes one call with the ids of its players, and tells the owner of a player what concerns it. */
async function make(desk: Desk, one: OperatorCall): Promise<void> {
  const { tool, players = [], handOverMs = 0 } = one;
  const ids: string[] = [];
  for (const player of players) ids.push(await idOf(desk, player));
  if (tool === "start_league" && !one.isForged) await seesPlayers(desk);
  if (desk.signal.aborted) return;
  const answer = await called(desk, one, argumentsOf(one, ids));
  const [player = ""] = players;
  if (answer === null || answer.isRejected) return;
  if (tool === "forget_player") desk.owners.onForgotten(player);
  if (tool !== "reset_token") return;
  if (handOverMs % 2 === 0) desk.owners.restart(player);
  await desk.self.clock.pause(handOverMs, desk.signal);
  if (!desk.signal.aborted) desk.owners.handOver(player, String(answer.value.auth_token));
}

function argumentsOf({ tool, match, round, extended }: OperatorCall, ids: readonly string[]): object {
  const [player_id, other] = ids;
  switch (tool) {
    case "annul_match":
      return { league_id: "sim", match_id: match, reason: "played with the wrong rules" };
    case "schedule_match":
      return { league_id: "sim", player1_id: player_id, player2_id: other, round_id: round };
    case "extend_league":
      return { league_id: "sim", format_options: extended };
    case "add_player":
      return { league_id: "sim", player_id };
    case "remove_player":
    case "forget_player":
    case "reset_token":
      return { player_id };
    case "list_leagues":
      return {};
    case "open_league":
      return { league_id: "opened", like: FIRST_LEAGUE };
    default:
      return { league_id: "sim" };
  }
}

const LOOK = { tool: "league_status", isEnvelope: false, isForged: false } as const;

/** Resolves with the leagues that the manager shows. */
async function leaguesSeen(desk: Desk): Promise<readonly LeagueView[]> {
  const shown = await called(desk, LOOK, {});
  return (shown?.value.leagues ?? []) as readonly LeagueView[];
}

async function statusOf(desk: Desk): Promise<string> {
  return (await leaguesSeen(desk)).find(({ league_id }) => league_id === "sim")?.status ?? "";
}

/** Resolves with the id of a player as soon as it is registered. An erased player keeps the id that was seen last. */
async function idOf(desk: Desk, name: string): Promise<string> {
  for (let looks = 0; looks < MAX_REJECTIONS * 10 && !desk.signal.aborted; looks++) {
    const found = (await leaguesSeen(desk))
      .flatMap(({ players }) => players)
      .find(({ display_name }) => display_name === name);
    if (found) return found.player_id;
    await desk.self.clock.pause(POLL_MS, desk.signal);
  }
  return name;
}

/** Resolves when all players have entered the league. */
async function seesPlayers(desk: Desk): Promise<void> {
  while (!desk.signal.aborted) {
    const league = (await leaguesSeen(desk)).find(({ league_id }) => league_id === "sim");
    if (league && (league.status !== "open" || league.players.length >= desk.players)) return;
    await desk.self.clock.pause(POLL_MS, desk.signal);
  }
}

/** Calls a tool of the manager, with the same request until it is answered. Resolves with null after the stop of the process. */
async function called(
  desk: Desk,
  { tool, isEnvelope, isForged }: Pick<OperatorCall, "isEnvelope" | "isForged"> & { readonly tool: string },
  args: object,
): Promise<ToolAnswer | null> {
  const { self, peers, signal } = desk;
  const token = isForged ? FORGED_TOKEN : OPERATOR_TOKEN;
  const type = tool.toUpperCase() as MessageType;
  const about = { messageId: self.ids.uuid(), authToken: token, at: self.clock.iso() };
  const params = isEnvelope
    ? { name: "league_message", arguments: newEnvelope(type, "player:operator", args, about) }
    : { name: tool, arguments: { ...args, auth_token: token } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const mostRejections = tool === "start_league" && !isForged ? Number.POSITIVE_INFINITY : MAX_REJECTIONS;
  for (let rejections = 0; !signal.aborted; ) {
    const reply = await peers.post(MANAGER_ENDPOINT, body, { timeoutMs: ATTEMPT_MS, signal });
    const answer = reply.ok ? toolAnswerIn(reply.value.text) : null;
    if (answer && !(answer.isRejected && answer.value.retryable === true && rejections++ < mostRejections))
      return answer;
    await self.clock.pause(RETRY_MS, signal);
  }
  return null;
}
