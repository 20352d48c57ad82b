import { describe, expect, test, vi } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { Game } from "#shared/games/game.ts";
import { chainHash, GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { rps } from "../games/rps.ts";
import type { TimeControl } from "../lib/time-control.ts";
import { eventOf } from "./entry.ts";
import { faultsOfMatch, outcomeOf, type ReportedMatch } from "./match-result.ts";
import type { Command, Session } from "./session.ts";
import { act, playSession } from "./testing/play.ts";
import { chainOf } from "./testing/rows.ts";
import { verdictOf } from "./verdict.ts";

const AT = "2025-01-01T00:00:00.000Z";
const SEED = "a seed";
const players = { player_1: "P01", player_2: "P02" };

/** Plays a session and returns it with the rows of its log. */
function play(
  game: unknown,
  options: unknown,
  commands: readonly Command[],
  clock: TimeControl | null = null,
): { session: Session; rows: RecordedEvent[] } {
  const { roles } = game as Game;
  const participants = Object.fromEntries(roles.map((role, seat) => [role, `P0${seat + 1}@rps/R1M1`]));
  const setup = { id: "s1", game: game as Game, options, participants, seed: SEED, clock, at: AT };
  const { session, entries } = playSession(setup, commands);
  return { session, rows: chainOf("s1", entries.map(eventOf)) };
}

const late = (role: string) => ({ role, code: "G002", cause: "timeout", detail: "late" }) as const;

describe("the outcome of a match", () => {
  test("is `aborted` without points if the session expired, because the wire format has no expiry", () => {
    const { session, rows } = play(rps, {}, [act("player_1", "rock"), { type: "expire" }]);
    expect(outcomeOf(session, rows.at(-1)?.hash ?? "", players)).toMatchObject({
      winner: null,
      match_points: { P01: 0, P02: 0 },
      termination: "aborted",
      reason: "expired",
    });
  });

  test("names the winner, the player at fault and the termination of a forfeit", () => {
    const { session, rows } = play(rps, {}, [{ type: "forfeit", faults: [late("player_2")] }]);
    expect(outcomeOf(session, rows.at(-1)?.hash ?? "", players)).toMatchObject({
      winner: "P01",
      match_points: { P01: 3, P02: 0 },
      termination: "forfeit",
      faults: [{ player_id: "P02", ...late("player_2") }],
    });
  });

  test("gives a win to every member of the other team if one member of a team is at fault", () => {
    const [losers, winners] = codenames.info.teams?.map(({ roles }) => roles) ?? [];
    const { session } = play(codenames, {}, [{ type: "forfeit", faults: [late(losers?.[1] ?? "")] }]);
    const points = (roles: readonly string[] | undefined, each: number) => roles?.map((role) => [role, each]) ?? [];
    expect(verdictOf(session)).toMatchObject({
      winners,
      winner: null,
      points: Object.fromEntries([...points(losers, 0), ...points(winners, 3)]),
    });
    expect(winners).toHaveLength(2);
  });
});

describe("faultsOfMatch", () => {
  const won = [act("player_1", "rock"), act("player_2", "scissors")];
  const { session, rows } = play(rps, { best_of: 3 }, [...won, ...won]);
  const reported: ReportedMatch = {
    ...outcomeOf(session, rows.at(-1)?.hash ?? "", players),
    game: "rps.v1",
    options: { best_of: 3 },
    seed: SEED,
    roles: players,
    log: rows.map(({ body }) => body),
  };

  test("finds no fault in a match that is reported as it was played", () => {
    expect(faultsOfMatch(reported)).toEqual([]);
  });

  test.each<[keyof ReportedMatch, Partial<ReportedMatch>]>([
    ["game", { game: "chess.v1" }],
    ["winner", { winner: "P02" }],
    ["final_scores", { final_scores: {} }],
    ["match_points", { match_points: {} }],
    ["termination", { termination: "aborted" }],
    ["reason", { reason: "timeout" }],
    ["faults", { faults: [late("player_2")] }],
    ["log_head", { log_head: GENESIS }],
  ])("names the field %s if it does not follow from the log", (field, change) => {
    const expected = field === "game" ? "rps.v1" : reported[field];
    expect(faultsOfMatch({ ...reported, ...change })).toEqual([
      `${field} is ${JSON.stringify(change[field])}, but the log gives ${JSON.stringify(expected)}`,
    ]);
  });

  test("accepts an aborted match without its points or its scores, but not with wrong ones", () => {
    const { session, rows } = play(rps, { best_of: 3 }, [...won, { type: "abort", reason: "stop" }]);
    const outcome = outcomeOf(session, rows.at(-1)?.hash ?? "", players);
    const aborted = { ...reported, ...outcome, log: rows.map(({ body }) => body) };
    expect(faultsOfMatch(aborted)).toEqual([]);
    expect(faultsOfMatch({ ...aborted, match_points: {} })).toEqual([]);
    expect(faultsOfMatch({ ...aborted, final_scores: {} })).toEqual([]);
    expect(faultsOfMatch({ ...aborted, match_points: { P01: 1, P02: 0 } })).toHaveLength(1);
    expect(faultsOfMatch({ ...aborted, final_scores: { P01: 0, P02: 0 } })).toHaveLength(1);
    expect(faultsOfMatch({ ...aborted, reason: "" })).toHaveLength(1);
  });

  test("rejects a match whose log does not reach its end", () => {
    const log = reported.log.slice(0, -1);
    expect(faultsOfMatch({ ...reported, log })).toEqual(["the log does not reach the end of the match"]);
  });

  test("accepts the options of a log with and without the version of a rule", () => {
    const roles = Object.fromEntries(codenames.roles.map((role, seat) => [role, `P0${seat + 1}`]));
    const { session, rows } = play(codenames, {}, [{ type: "abort", reason: "stop" }]);
    const [created = "", ...rest] = rows.map(({ body }) => body);
    const older = JSON.stringify({ ...JSON.parse(created), options: codenames.options.parse({}) });
    expect(older).not.toBe(created);
    for (const log of [
      [created, ...rest],
      [older, ...rest],
    ]) {
      const outcome = outcomeOf(session, log.reduce(chainHash, GENESIS), roles);
      expect(faultsOfMatch({ ...outcome, game: codenames.id, options: {}, seed: SEED, roles, log })).toEqual([]);
    }
  });

  test("parses each log entry once", () => {
    const parse = vi.spyOn(JSON, "parse");
    faultsOfMatch(reported);
    expect(parse.mock.calls.map(([text]) => text)).toEqual(reported.log);
    parse.mockRestore();
  });

  test("describes an entry that is not JSON and an illegal action in plain text", () => {
    const withEntry = (text: string): readonly string[] =>
      faultsOfMatch({ ...reported, log: [reported.log[0] ?? "", text] });
    expect(withEntry("")).toEqual(["log entry 1: not JSON: the text ends too early"]);
    expect(withEntry("\u001b[2J")).toEqual(["log entry 1: not JSON"]);
    expect(withEntry((reported.log[1] ?? "").replace("rock", "lizard"))).toEqual([
      "log entry 1: the log has an illegal action at tick 0",
    ]);
  });

  test.each<[string, (text: string) => string]>([
    ["other spaces", (text) => text.replace(",", ", ")],
    ["its fields in another order", (text) => text.replace('{"type":"acted","tick":0,', '{"tick":0,"type":"acted",')],
    ["a time of another precision and zone", (text) => text.replace(AT, "2025-01-01T01:00:00+01:00")],
  ])("accepts an entry that another referee has written with %s", (_, change) => {
    const text = reported.log[1] ?? "";
    expect(change(text)).not.toBe(text);
    const log = reported.log.with(1, change(text));
    expect(faultsOfMatch({ ...reported, log, log_head: log.reduce(chainHash, GENESIS) })).toEqual([]);
  });

  test.each(["yesterday", "", "2025-01-01", "2025-01-01T00:00:00", "2025-13-01T00:00:00.000Z"])(
    "rejects an entry with the time %j",
    (at) => {
      const log = reported.log.with(1, (reported.log[1] ?? "").replace(AT, at));
      expect(faultsOfMatch({ ...reported, log, log_head: log.reduce(chainHash, GENESIS) })).toEqual([
        "log entry 1: its time is not ISO 8601 with a time zone",
      ]);
    },
  );

  test("rejects a match whose log has other clocks than the league", () => {
    const control = { initial_ms: 60_000, increment_ms: 0 };
    const message = "the log belongs to a match with other clocks";
    expect(faultsOfMatch({ ...reported, clock: null })).toEqual([]);
    expect(faultsOfMatch({ ...reported, clock: control })).toEqual([message]);
    const timed = play(
      rps,
      { best_of: 3 },
      [{ ...won[0], spentMs: 5 } as Command, { type: "abort", reason: "stop" }],
      control,
    );
    const log = timed.rows.map(({ body }) => body);
    const outcome = outcomeOf(timed.session, timed.rows.at(-1)?.hash ?? "", players);
    const withClocks = { ...reported, ...outcome, log };
    expect(faultsOfMatch({ ...withClocks, clock: control })).toEqual([]);
    expect(faultsOfMatch({ ...withClocks, clock: { ...control, increment_ms: 1 } })).toEqual([message]);
    expect(faultsOfMatch(withClocks)).toEqual([message]);
  });

  test.each([[{ best_of: 2 }], [{}], [undefined], [{ best_of: 0 }], [{ best_of: "3" }]])(
    "rejects a match with the configured options %j if the log has other options",
    (options) => {
      expect(faultsOfMatch({ ...reported, options })).toEqual(["the log belongs to a match with other options"]);
    },
  );
});
