/** The viewers and surfaces of a league match under way. None of these requests changes the match. */
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { type Era, eras } from "../../../referee/codenames/testing/host.ts";
import { tool } from "../../../referee/play/testing/play.ts";
import { REQUEST_SURFACES, type RequestSurface, STREAM_SURFACES } from "../../../referee/play/testing/surfaces.ts";
import type { ControlledPlayer } from "../../testing/controlled-player.ts";
import { ASSETS, DOCUMENT_SURFACES, LIVE_DOCUMENT_FACTS } from "./league-documents.ts";
import { type ControlledLeague, LEAGUE, MATCH } from "./league-world.ts";
import { NOTIFICATIONS } from "./subscriptions.ts";
import type { SurfaceFacts } from "./table.ts";

type Surfaces = Readonly<Record<string, RequestSurface>>;
type Read = RequestSurface["read"];

const REF = `${LEAGUE}/${MATCH}`;

const call =
  (name: string, args: object): Read =>
  async (place, _id, token) =>
    (await tool(place, name, args, token === null ? {} : { bearer: token })).raw;

const resource =
  (uri: string): Read =>
  async (place, _id, token) => {
    const headers = { "content-type": "application/json" };
    return (await place.call("POST", "/mcp", { body: rpcResourceRead(uri), headers, ...(token !== null && { token }) }))
      .text;
  };

const page =
  (path: string): Read =>
  async (place, _id, token) => {
    const { status, text } = await place.call("GET", path, token === null ? {} : { token });
    return `${status} ${text}`;
  };

/** Posts JSON to another path than `/mcp`. */
const posted =
  (path: string, body: object): Read =>
  async (place, _id, token) => {
    const headers = { "content-type": "application/json" };
    const { status, text } = await place.call("POST", path, { body, headers, ...(token !== null && { token }) });
    return `${status} ${text}`;
  };

/** The surfaces of a session host at the referee of a match. An agent without a seat of the match is a spectator. */
const AS_AT_A_HOST: Surfaces = Object.fromEntries(
  Object.entries(REQUEST_SURFACES).map(([name, surface]) => [
    name,
    surface.readers === "agents" ? { ...surface, readers: "seats" } : surface,
  ]),
);

/** The answers of a referee to requests about a league match. */
export const REFEREE_SURFACES: Surfaces = {
  ...AS_AT_A_HOST,
  "tool get_game_state by match": {
    readers: "all",
    shows: ["choice", "card", "key"],
    read: call("get_game_state", { match_id: MATCH }),
  },
  "tool get_game_state by league and match": {
    readers: "all",
    shows: ["choice", "card", "key"],
    read: call("get_game_state", { match_id: REF }),
  },
  "tool validate_move by player": {
    readers: "all",
    shows: [],
    read: call("validate_move", { player_id: "P01", move: "rock", match_id: REF }),
  },
  "tool start_game without a signature": {
    readers: "none",
    shows: [],
    read: call("start_game", { player1_id: "P01", player2_id: "P06", match_id: MATCH }),
  },
  "resource game://state of the match": {
    readers: "public",
    shows: ["choice", "card", "key"],
    read: resource(`game://state/${REF}`),
  },
};

/** A result that the manager rejects, because its sender is not the referee of the match. */
const FALSE_RESULT = {
  league_id: LEAGUE,
  round_id: 1,
  match_id: MATCH,
  epoch: 1,
  winner: null,
  match_points: {},
  final_scores: {},
  termination: "aborted",
  reason: "no result",
  faults: [],
  log: [],
  log_head: "",
};

/** The answers of the league manager to requests about the league. */
export const MANAGER_SURFACES: Surfaces = {
  ...DOCUMENT_SURFACES,
  "manager: page of a person": { readers: "none", shows: [], read: page("/play/P01") },
  "manager: tool list_leagues": { readers: "none", shows: [], read: call("list_leagues", {}) },
  "manager: tool get_standings": { readers: "none", shows: [], read: call("get_standings", { league_id: LEAGUE }) },
  "manager: tool get_ratings": { readers: "none", shows: [], read: call("get_ratings", { league_id: LEAGUE }) },
  "manager: tool get_schedule": { readers: "none", shows: [], read: call("get_schedule", { league_id: LEAGUE }) },
  "manager: rejected result": {
    readers: "none",
    shows: [],
    read: (place, id, token) =>
      call("league_message", newEnvelope("MATCH_RESULT", "referee:REF02", FALSE_RESULT))(place, id, token),
  },
  "manager: tool wait_for_turn": { readers: "none", shows: [], read: call("wait_for_turn", { timeout_s: 0 }) },
  "manager: tool make_move": { readers: "none", shows: [], read: call("make_move", { move: "rock" }) },
  "manager: inbox of a player": { readers: "none", shows: [], read: posted("/inbox/P01?wait_s=0", []) },
  "manager: state of a person's page": {
    readers: "none",
    shows: [],
    read: posted("/play/api/state", { wait_s: 0 }),
  },
  "manager: resource league://standings": { readers: "none", shows: [], read: resource("league://standings") },
  "manager: resource league://schedule": { readers: "none", shows: [], read: resource("league://schedule") },
  "manager: resource of the ratings": {
    readers: "none",
    shows: [],
    read: resource(`league://${LEAGUE}/ratings`),
  },
  "manager: resource of the round": {
    readers: "none",
    shows: [],
    read: resource(`league://${LEAGUE}/schedule/1`),
  },
  "manager: resource of the match": { readers: "all", shows: ["seed"], read: resource(`match://${REF}`) },
};

/** The viewers without a seat of the match. */
export const ANOTHER_PLAYER = "a player of another match";
const OWN_REFEREE = "the referee of the match";
export const ANOTHER_REFEREE = "the referee of another match";
export const OPERATOR = "the operator";

export const LEAGUE_OTHERS = [
  ANOTHER_PLAYER,
  OWN_REFEREE,
  ANOTHER_REFEREE,
  OPERATOR,
  "a made-up token",
  "an empty token",
  "no token",
] as const;

export const WIRE = "messages on the wire";
export const PROMPTS = "prompts of a language model in the seat";
export const EVENTS = "manager: events";
export const EVENTS_RESUMED = "manager: events, resumed";
export const EXPORT = "league export";
export const MANAGER_OUTPUT = "output of the manager";
export const REFEREE_OUTPUT = "output of the referee";

/** The name of the surface of notifications of an agent to clients of an era of MCP. */
export const notificationsOf = (agent: "manager" | "referee", era: Era): string => `${agent}: ${NOTIFICATIONS[era]}`;

const SILENT: SurfaceFacts = { readers: "none", shows: [] };
const ofOperator: SurfaceFacts = { ...SILENT, viewers: [OPERATOR] };

/** The surfaces of a league match, in the order of the table. */
export const leagueSurfaces = (seats: readonly string[]): Readonly<Record<string, SurfaceFacts>> => ({
  ...REFEREE_SURFACES,
  ...Object.fromEntries(
    Object.entries(STREAM_SURFACES).map(([name, one]) => [
      name,
      one.readers === "agents" ? { ...one, readers: "seats" } : one,
    ]),
  ),
  ...MANAGER_SURFACES,
  ...LIVE_DOCUMENT_FACTS,
  [ASSETS]: { ...SILENT, viewers: ["no token"] },
  [EVENTS]: SILENT,
  [EVENTS_RESUMED]: SILENT,
  ...Object.fromEntries(
    eras.flatMap((era) => [
      [notificationsOf("referee", era), { readers: "public", shows: [] }],
      [notificationsOf("manager", era), { readers: "public", shows: [] }],
    ]),
  ),
  [WIRE]: {
    readers: "seats",
    shows: ["choice", "card", "key", "seed"],
    showsHolder: ["card", "key"],
    viewers: [...seats, ANOTHER_PLAYER, ANOTHER_REFEREE],
  },
  [PROMPTS]: {
    readers: "seats",
    shows: ["choice"],
    showsHolder: ["card", "key"],
    viewers: [...seats, ANOTHER_PLAYER],
  },
  [EXPORT]: { readers: "all", shows: ["seed"], hasRandomHashes: true, viewers: [OPERATOR] },
  [MANAGER_OUTPUT]: ofOperator,
  [REFEREE_OUTPUT]: ofOperator,
});

/** The tokens of a viewer at each agent; null for a caller without a token. */
export interface Tokens {
  readonly referee: string | null;
  readonly manager: string | null;
}

/** The viewer from another match: the player with the last role by name, which in Codenames does not see the key. */
export const anotherPlayer = (others: ControlledLeague["others"]): ControlledPlayer | undefined =>
  others.get([...others.keys()].sort().at(-1) ?? "");

/** The tokens of all viewers. */
export async function tokensOf(league: ControlledLeague): Promise<ReadonlyMap<string, Tokens>> {
  const ofPlayer = async (player: ControlledPlayer | undefined): Promise<Tokens> => ({
    referee: (await player?.invitation())?.matchToken ?? null,
    manager: player?.token ?? null,
  });
  const same = (token: string | null): Tokens => ({ referee: token, manager: token });
  const seats = await Promise.all(
    [...league.seats].map(async ([role, player]) => [role, await ofPlayer(player)] as const),
  );
  const others = [
    await ofPlayer(anotherPlayer(league.others)),
    ...[league.refereeToken, league.otherReferee.token, league.operatorToken, "made-up", "", null].map(same),
  ];
  return new Map([...seats, ...LEAGUE_OTHERS.map((viewer, at) => [viewer, others[at] ?? same(null)] as const)]);
}
