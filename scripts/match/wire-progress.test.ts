import { PassThrough } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { playerId, systemIds } from "#shared/lib/ids.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import type { League } from "../../league-manager/league/league.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { beginRun } from "../run/run-folder.ts";
import { cleanUp, newFolder } from "../testing/processes.ts";
import { loadLocalBots } from "./local/local-bots.ts";
import { openLocalLeague } from "./local/local-league.ts";
import { runLocal } from "./local/run-local.ts";
import { openStoredLeague, storedLeague, wireProgress } from "./play-over-wire.ts";

const SYSTEM = { clock: systemClock, ids: systemIds, disk: systemDisk(systemClock) };
const LEAGUE_ID = "match";
const GAMES = 10;
const BOTS = ["minimax", "random"] as const;
const PLAYERS = BOTS.map((name, index) => ({ playerId: playerId(index + 1), name, bot: name }));
const TERMS = { players: PLAYERS, test: null, hasOpenings: false, total: GAMES };

afterEach(cleanUp);

/** Plays the games of a match. Calls `onGame` when the result of a game is in the store. Returns the folder of the run. */
async function play(onGame: (result: MatchResult, folder: string) => void = () => {}): Promise<string> {
  const players = BOTS.map((name) => ({ name, bot: name }));
  const format = { format: "match", format_options: { games: GAMES } };
  const leagues = [{ league_id: LEAGUE_ID, game: "tic_tac_toe.v1", ...format }];
  const folder = beginRun(Config.parse({ data: newFolder(), players, leagues }), "progress", systemClock);
  const entries = PLAYERS.map(({ playerId, name }) => ({
    playerId,
    name,
    spec: name,
    allow: BotPermissions.parse({}),
  }));
  const options = { concurrency: 1, isTrusted: false, warn() {}, fail() {} };
  const bots = await loadLocalBots({ system: SYSTEM, entries, folder: folder.path, ...options }, 1);
  const league = await openLocalLeague(folder, SYSTEM, bots.hashOf, (error) => {
    throw error;
  });
  const { signal } = new AbortController();
  await runLocal({
    system: SYSTEM,
    league,
    bots,
    isTested: false,
    signal,
    ...options,
    onGame: (result) => onGame(result, folder.path),
  });
  await bots.close();
  await league.close();
  return folder.path;
}

const completedMatch = (completed: number): LiveEvent => {
  const result = { winner: null, points: {}, termination: "normal", reason: "draw", referee_id: "REF01" } as const;
  const match = { match_id: "R1M1", round_id: 1, roles: {}, ...result };
  return {
    type: "match_completed",
    league_id: LEAGUE_ID,
    match,
    faults: [],
    completed,
    matches: GAMES,
    standings: [],
  };
};

function terminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 200 });
  return { stream: stream as unknown as NodeJS.WriteStream, text: (): string => stream.read() ?? "" };
}

test("a stored league follows the store while games are played", async () => {
  let stored: ReturnType<typeof openStoredLeague> = null;
  const reads: Promise<League | null>[] = [];
  const folder = await play((_, path) => {
    stored ??= openStoredLeague(path, LEAGUE_ID);
    if (stored) reads.push(stored.current());
  });
  const counts = (await Promise.all(reads)).map((league) => league?.completedCount ?? 0);
  expect(counts).toHaveLength(GAMES);
  expect(counts[0]).toBeLessThan(GAMES);
  expect(counts.every((count, index) => count > index)).toBe(true);
  const followed = stored as ReturnType<typeof openStoredLeague>;
  expect(await followed?.current()).toEqual(await storedLeague(folder, LEAGUE_ID));
  followed?.close();
});

test("a terminal shows wins, points, Elo and pace of a match over HTTP, also of games before a resumption", async () => {
  const folder = await play();
  const clock = manualClock();
  const { stream, text } = terminal(true);
  const progress = wireProgress(stream, clock, { folder, leagueId: LEAGUE_ID, terms: TERMS });
  progress.event(completedMatch(8));
  expect(text()).toBe("");
  await clock.advance(200);
  // Two games more than at the first event, in 0.2 s.
  expect(text()).toMatch(
    /10\/10 {2}\d+-\d+-0 {2}\d+\.\d% \(\d+\.\d to \d+\.\d\) {2}Elo \S.* {2}LOS .*% {2}10 games\/s {2}0 s left/,
  );
  progress.line("a warning");
  expect(text()).toBe("\r\x1b[2Ka warning\n");
  progress.end();
  progress.event(completedMatch(10));
  await clock.advance(1_000);
  expect(text()).toBe("");
});

test("a file or a pipe gets the notices of a match over HTTP and no line for each game", async () => {
  const clock = manualClock();
  const { stream, text } = terminal(false);
  const progress = wireProgress(stream, clock, { folder: newFolder(), leagueId: LEAGUE_ID, terms: TERMS });
  progress.event(completedMatch(1));
  progress.event({ type: "notice", message: "R1M1 was aborted" });
  const player = { agent_id: "P01", name: "minimax", was: "ACTIVE", state: "SUSPENDED", league_ids: [] } as const;
  progress.event({ type: "player_state", ...player });
  const awaited = { present: 1, needed: 2, missing: ["random"], isWithoutReferee: false };
  progress.event({ type: "league_waiting", league_id: LEAGUE_ID, awaited });
  await clock.advance(1_000);
  progress.end();
  expect(text().split("\n")).toEqual([
    "R1M1 was aborted",
    "minimax (P01) is suspended: it did not answer in time",
    "match waits: 1 of 2 players are registered; missing: random",
    "",
  ]);
});
