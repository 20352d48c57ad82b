import { beforeEach, describe, expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { codenames } from "#shared/games/codenames.ts";
import { evenOdd } from "#shared/games/even-odd.ts";
import type { Game } from "#shared/games/game.ts";
import { rps } from "#shared/games/rps.ts";
import type { Session } from "#shared/session/session.ts";
import { historyOf } from "./play/game-pages.ts";
import type { SessionHost } from "./sessions/host.ts";
import { inMemoryHost } from "./sessions/testing/session-host.ts";
import {
  actionsFor,
  driverView,
  gameView,
  lastClosedAction,
  matchState,
  restState,
  type SessionView,
  seatView,
  spectatedMatch,
  spectatorView,
} from "./views.ts";

let host: SessionHost;
beforeEach(() => {
  host = inMemoryHost(() => 0).host;
});

const begin = (game: Game, seed = "seed"): Promise<Session> => {
  const seats = game.roles.map((role) => ({ role, agentId: `agent-${role}`, tokenHash: `hash-${role}` }));
  return host.create({ game, options: game.options.parse({}), seed, seats });
};
const act = async ({ id }: Session, role: string, action: unknown, expectedTick: number): Promise<Session> => {
  const acted = await host.submit(id, { role, action, expectedTick });
  if (!acted.ok) throw new Error(acted.error.message);
  return acted.value;
};
/** The fields of a view, which computes them on access. */
const fieldsOf = ({ viewer, status, tick, toAct, state, legalActions, board }: SessionView) => ({
  viewer,
  status,
  tick,
  toAct,
  state,
  legalActions,
  board,
});
const rowsOf = ({ id }: Session) => host.read(id)?.rows ?? [];

describe("an open simultaneous turn in which one role has chosen", () => {
  it("is not visible to spectators; the other role sees that the role has chosen, and not its choice", async () => {
    const before = await begin(rps as unknown as Game);
    const after = await act(before, "player_1", "rock", 0);
    expect(fieldsOf(spectatorView(after))).toEqual(fieldsOf(spectatorView(before)));
    expect(seatView(after, "player_2").state).toEqual(seatView(before, "player_2").state);
    expect(seatView(before, "player_2")).toMatchObject({ tick: 0, toAct: ["player_1", "player_2"] });
    expect(seatView(after, "player_2")).toMatchObject({ tick: 1, toAct: ["player_2"] });
    expect(seatView(after, "player_1").legalActions).toEqual([]);
    expect(driverView(after)).toEqual({ tick: 1, status: "active", toAct: ["player_2"] });
  });

  it("has the action only in the log of that role until the turn is closed", async () => {
    const open = await act(await begin(rps as unknown as Game), "player_1", "rock", 0);
    const actionCount = (session: Session, viewer: string) => actionsFor(session, rowsOf(session), viewer).length;
    expect(["player_1", "player_2", "spectator"].map((viewer) => actionCount(open, viewer))).toEqual([1, 0, 0]);
    expect(lastClosedAction(open, rowsOf(open))).toBeNull();
    const closed = await act(open, "player_2", "paper", 1);
    expect(["player_1", "player_2", "spectator"].map((viewer) => actionCount(closed, viewer))).toEqual([2, 2, 2]);
    expect(lastClosedAction(closed, rowsOf(closed))).toMatchObject({ role: "player_2", tick: 1 });
  });

  it("keeps the action sealed if the session ends before the turn is closed", async () => {
    const { id } = await act(await begin(rps as unknown as Game), "player_1", "rock", 0);
    await host.abort(id, "test");
    const ended = host.read(id)?.session as Session;
    expect(actionsFor(ended, rowsOf(ended), "spectator")).toEqual([]);
    expect(lastClosedAction(ended, rowsOf(ended))).toBeNull();
    expect(spectatorView(ended)).toMatchObject({ status: "completed", tick: 0, toAct: [] });
  });
});

it("while players are missing, no role is to act, no action is legal, and the state is unchanged", async () => {
  const session = await begin(chess as unknown as Game);
  const waiting = seatView(session, "white", true);
  expect(waiting).toMatchObject({ status: "waiting_for_players", toAct: [], legalActions: [] });
  expect(waiting.state).toEqual(seatView(session, "white").state);
  expect(seatView(session, "white").legalActions).toHaveLength(20);
});

it("a game of even/odd that a forfeit has ended is finished in every view, and its open choice stays hidden", async () => {
  const begun = await act(await begin(evenOdd as unknown as Game), "ODD", 3, 0);
  const fault = { role: "EVEN", code: "G002", cause: "timeout", detail: "no answer" } as const;
  const committed = await host.forfeit(begun.id, [fault]);
  if (!committed.ok) throw new Error(committed.error.message);
  const ended = host.read(begun.id)?.session as Session;
  for (const view of [seatView(ended, "ODD"), seatView(ended, "EVEN"), spectatorView(ended)]) {
    expect(view.state).toMatchObject({
      phase: "FINISHED",
      choices: { ODD: view.viewer === "ODD" ? 3 : null, EVEN: null },
    });
    expect(view.board).toMatch(/The game is over\.$/);
  }
});

it("the key of Codenames is in the view of a spymaster, and not in the views of a team and a spectator", async () => {
  const session = await begin(codenames as unknown as Game);
  const identities = (state: unknown): number =>
    (state as { cards: readonly { identity?: unknown }[] }).cards.filter(({ identity }) => identity != null).length;
  expect(identities(seatView(session, "red_spymaster").state)).toBe(25);
  expect(identities(seatView(session, "red_team").state)).toBe(0);
  expect(identities(spectatorView(session).state)).toBe(0);
});

it("the moves of a game of chess are in the views for programs, and not in those of pages and tools, which would grow with the game", async () => {
  const session = await act(await begin(chess as unknown as Game), "white", "e2e4", 0);
  const [rows, names] = [rowsOf(session), { restartOf: () => ({}) }];
  expect(seatView(session, "black").state).toMatchObject({ moves: ["e2e4"] });
  expect(restState(session, "black").state).toMatchObject({ moves: ["e2e4"] });
  const shown = [
    gameView(session, "black", rows, [], host.lobby, 0),
    matchState(session, "black", { host, referee: { names } }),
    spectatedMatch(session, rows, host.lobby, 0),
    historyOf(host, { session, rows, access: { actedBy: "driver", spectators: "public" } }, "black", 0).moves[0]?.after,
  ] as { readonly state: object }[];
  for (const { state } of shown) {
    expect(state).toHaveProperty("fen");
    expect(state).not.toHaveProperty("moves");
  }
});
