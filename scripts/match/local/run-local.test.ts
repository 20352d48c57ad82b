import { expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { Player } from "../../../player/matches/player.ts";
import type { LocalBots, LocalPlayer } from "./local-bots.ts";
import type { LocalLeague } from "./local-league.ts";
import { runLocal } from "./run-local.ts";

const seat = (player_id: string): StartGame["roles"][string] => ({
  player_id,
  endpoint: player_id,
  legal_actions: false,
  round_results: false,
  dialect: "native",
  match_token: "token",
});

const ORDER: StartGame = {
  league_id: "match",
  match_id: "R1M1",
  round_id: 1,
  epoch: 1,
  run_id: "run",
  seed: "seed",
  game: "rps.v1",
  options: {},
  roles: { player_1: seat("P01"), player_2: seat("P02") },
  timeouts: { join_ms: 1_000, move_ms: 1_000, game_over_ms: 1_000 },
};

/** Plays a league that has the game of `order` only. Its results are recorded by `record`. */
function run(order: StartGame, bots: object, record: () => Promise<void>): Promise<boolean> {
  const ready = ["R1M1"];
  const league = {
    league: { completedCount: 0 },
    assigned: () => [],
    unassigned: () => [...ready],
    pair: async () => {},
    assign: async () => void ready.splice(0),
    orderOf: () => order,
    record,
    complete: async () => {},
  };
  return runLocal({
    system: { clock: systemClock, ids: systemIds },
    league: league as unknown as LocalLeague,
    bots: { endpointOf: (id: string) => id, sharesProcess: () => false, ...bots } as unknown as LocalBots,
    concurrency: 2,
    isTested: true,
    signal: new AbortController().signal,
    onGame: () => {},
    warn: () => {},
  });
}

const choose = ({ role }: { readonly role: string }) => (role === "player_1" ? "rock" : "paper");
const newPlayer = () =>
  new Player({ name: "bot", readsHistory: false, create: () => ({ choose }) }, () => {}, systemClock);

test("a result that cannot be recorded ends the games with its error", async () => {
  const players = new Map(["P01", "P02"].map((id) => [id, { player: newPlayer(), needsCopies: false }]));
  const running = run(ORDER, { at: (id: string) => players.get(id) }, () => Promise.reject(new Error("not recorded")));
  await expect(running).rejects.toThrow("not recorded");
});

test("the legal actions are listed only for bots that read them", async () => {
  const listed = new Map<string, unknown>();
  const at = (id: string): LocalPlayer => {
    const player = newPlayer();
    const move: LocalPlayer["player"]["move"] = (request, token) => {
      listed.set(id, request.legal_actions);
      return player.move(request, token);
    };
    return {
      player: { invite: (...given) => player.invite(...given), move, finish: async () => null },
      needsCopies: false,
    };
  };
  const players = new Map(["P01", "P02"].map((id) => [id, at(id)]));
  const roles = Object.fromEntries(
    Object.entries(ORDER.roles).map(([role, one]) => [role, { ...one, legal_actions: true }]),
  );
  const bots = { at: (id: string) => players.get(id), readsLegalActions: (id: string) => id === "P01" };
  expect(await run({ ...ORDER, roles }, bots, async () => {})).toBe(true);
  expect(Object.fromEntries(listed)).toEqual({ P01: ["rock", "paper", "scissors"], P02: undefined });
});
