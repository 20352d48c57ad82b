import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { Match } from "../league/league.ts";
import { afterCommands, forfeitBy, resultOf, running, SETTINGS } from "../league/testing/leagues.ts";
import { abortedR1M1, seedOf, startTestManager, type TestManager, won } from "../testing/test-manager.ts";
import { parseMetrics } from "./testing/parse.ts";

let manager: TestManager;

/** A running league of P01 and P02 whose only match is assigned to REF01. */
beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
  await manager.register("P01", "P02", "REF01");
  await manager.tool("start_league", { league_id: "rps" }, manager.operator);
  await manager.assigned("rps", "R1M1");
});
afterEach(() => manager.stop());

const scrape = (headers: Record<string, string> = {}): Promise<Response> =>
  fetch(manager.url.replace("/mcp", "/metrics"), { headers });

/** The values with these names and labels. */
async function valuesOf(...names: readonly string[]): Promise<readonly (number | undefined)[]> {
  const values = parseMetrics(await (await scrape()).text());
  return names.map((name) => values.get(name));
}
const report = (result: object) => manager.message("MATCH_RESULT", "referee:REF01", result, manager.tokens.REF01);

/** The result of R1M1 under its second epoch, which P02 forfeits by timeout. */
function forfeited(): object {
  const { league } = afterCommands(running(["P01", "P02"], { ...SETTINGS, options: {} }));
  const match = { ...(league.rounds.at(0)?.matches[0] as Match), epoch: 2 };
  return resultOf(league, match, forfeitBy("player_2"), seedOf("R1M1", 2));
}

test("shows the league, its matches and its referees", async () => {
  const figures = () =>
    valuesOf(
      'league_leagues{status="running"}',
      'league_leagues{status="completed"}',
      'league_matches{league="rps",state="running"}',
      'league_matches{league="rps",state="over"}',
      'league_referee_up{referee="REF01"}',
      'league_referee_matches{referee="REF01"}',
      'league_queue_jobs{state="waiting"}',
      'league_queue_jobs{state="held"}',
      'league_players{state="ACTIVE"}',
      'league_players{state="SHUTDOWN"}',
    );
  expect(await figures()).toEqual([1, 0, 1, 0, 1, 1, 0, 1, 2, 0]);
  expect(await report(won())).toMatchObject({ payload: { status: "RECORDED" } });
  // The league is completed when its players have received the last standings.
  await vi.waitFor(async () => expect(await figures()).toEqual([0, 1, 0, 1, 1, 0, 0, 0, 0, 2]), WAIT_OPTIONS);
});

test("counts matches that are played again, their results, their times and the faults of players", async () => {
  const figures = () =>
    valuesOf(
      'league_matches_released_total{reason="aborted"}',
      'league_matches_ended_total{termination="forfeit"}',
      'league_faults_total{cause="timeout"}',
      'league_faults_total{cause="illegal_move"}',
      "league_match_wait_seconds_count",
      "league_match_latency_seconds_count",
    );
  expect(await figures()).toEqual([0, 0, 0, 0, 1, 0]);
  expect(await report(abortedR1M1())).toMatchObject({ payload: { status: "RECORDED" } });
  await manager.assigned("rps", "R1M1");
  expect(await report(forfeited())).toMatchObject({ payload: { status: "RECORDED" } });
  expect(await figures()).toEqual([1, 1, 1, 0, 2, 1]);
});

test("counts commands by result, and measures each of them", async () => {
  const names = ["accepted", "rejected"].map((result) => `league_commands_total{result="${result}"}`);
  const [accepted = 0, rejected = 0] = await valuesOf(...names);
  expect(await report(won({ epoch: 7 }))).toMatchObject({ isError: true });
  expect(await report(won())).toMatchObject({ payload: { status: "RECORDED" } });
  const [accepted2 = 0, rejected2, count, sum, commits = 0] = await valuesOf(
    ...names,
    "league_command_seconds_count",
    "league_command_seconds_sum",
    "league_commits_total",
  );
  expect([accepted2 > accepted, rejected2]).toEqual([true, rejected + 1]);
  expect(count).toBe(accepted2 + rejected + 1);
  expect([sum, commits]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(commits).toBeLessThanOrEqual(accepted2);
});

test("has the metrics of the process, and the content type of Prometheus", async () => {
  const response = await scrape();
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const [memory = 0, delay] = await valuesOf("process_resident_memory_bytes", "nodejs_eventloop_lag_p99_seconds");
  expect(memory).toBeGreaterThan(1_000_000);
  expect(delay).toEqual(expect.any(Number));
});

test("a caller on another machine needs the operator token", async () => {
  const proxied = { "x-forwarded-for": "203.0.113.9" };
  const statuses = await Promise.all([
    scrape(proxied),
    scrape({ ...proxied, authorization: `Bearer ${manager.tokens.REF01}` }),
    scrape({ ...proxied, authorization: `Bearer ${manager.operator}` }),
    scrape(),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([401, 401, 200, 200]);
  const answers = await Promise.all(statuses.slice(0, 2).map((response) => response.json()));
  const messages = answers.map((answer) => (answer as { error: { message: string } }).error.message);
  expect(messages).toEqual([
    "From another machine, send the operator token: Authorization: Bearer TOKEN",
    "The token is not the operator token of this manager, which is in the file operator-token of its data folder",
  ]);
});
