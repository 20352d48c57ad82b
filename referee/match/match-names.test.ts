import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import {
  type Answers,
  startTestLeague,
  startTestReferee,
  type TestReferee,
  tokenOf,
  type Wire,
} from "../testing/match.ts";
import { MatchNames } from "./match-names.ts";

const ANN = "Ann <b>Lovelace</b> \u05d0\u05d1";
const BOB = "Bob \u{1f916}";

let folder = "";
let referee: TestReferee;
let log: ReturnType<typeof openLog>;
let turn = Promise.withResolvers<void>();
beforeEach(async () => {
  turn = Promise.withResolvers();
  folder = mkdtempSync(join(tmpdir(), "names-"));
  const player: Answers["player"] = async ({ type }) => {
    if (type === "MOVE_REQUEST") await turn.promise;
    return null as never;
  };
  log = openLog(join(folder, "referee.log"), "referee");
  referee = await startTestReferee({ player }, false, log);
});
afterEach(async () => {
  turn.resolve();
  await referee.stop();
  rmSync(folder, { recursive: true, force: true });
});

const named = (names: Record<string, string> = { player_1: ANN, player_2: BOB }) =>
  Object.fromEntries(
    Object.entries(referee.order().roles).map(([role, seat]) => [role, { ...seat, display_name: names[role] }]),
  );
const get = async (path: string, token?: string): Promise<Wire> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(referee.url.replace("/mcp", path), { headers })).json();
};
const nameIn = (view: { players: Record<string, { name: string }> }): string[] =>
  Object.values(view.players).map(({ name }) => name);

/** Reads the first view of the stream of a page. */
async function firstView(gameId: string): Promise<Wire> {
  const stopping = new AbortController();
  const { body } = await fetch(referee.url.replace("/mcp", `/api/games/${gameId}/events`), { signal: stopping.signal });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [, data] = /^data: ?(.*)\n\n/m.exec(text) ?? [];
    if (data === undefined) continue;
    stopping.abort();
    return JSON.parse(data);
  }
}

it("the pages of a referee show the names of the players and the league, and players and logs get none of them", async () => {
  const { payload } = await referee.begin({ roles: named() });
  const gameId = payload.session_id;
  await referee.waitFor("P01", "MOVE_REQUEST");
  const match = { league_id: "rps", match_id: "R1M1" };
  const view = await get(`/api/games/${gameId}`);
  expect([view.match, ...nameIn(view)]).toEqual([match, ANN, BOB]);
  const streamed = await firstView(gameId);
  expect([streamed.match, ...nameIn(streamed)]).toEqual([match, ANN, BOB]);
  const listed = async () => (await get("/api/games")).games;
  expect(await listed()).toMatchObject([{ game_id: gameId, match, players: { player_1: ANN, player_2: BOB } }]);

  const own = await get(`/api/games/${gameId}`, tokenOf("P01", "R1M1"));
  expect([own.your_role, own.match, ...nameIn(own)]).toEqual(["player_1", undefined, "P01", "P02"]);
  turn.resolve();
  await referee.waitFor("P01", "GAME_RESULT");
  const result = await referee.waitFor("manager", "MATCH_RESULT");
  // The match has left the memory of the driver. The list of finished games still names its players.
  expect(await listed()).toMatchObject([{ status: "completed", match, players: { player_1: ANN, player_2: BOB } }]);
  log.warn("the end of R1M1 in the log");
  await log.flushed(systemClock);
  const texts = [
    ...referee.received.map(({ bytes }) => bytes),
    JSON.stringify(result.payload.log),
    readFileSync(join(folder, "referee.log"), "utf8"),
    JSON.stringify(await referee.tool("get_game_state", { match_id: "R1M1", auth_token: tokenOf("P01", "R1M1") })),
  ].join("\n");
  expect(texts).toContain("the end of R1M1 in the log");
  for (const name of ["Lovelace", "Bob"]) expect(texts).not.toContain(name);
});

it.each([
  ["without names", undefined],
  ["with names that are not valid", { player_1: "Ann\u202eLovelace", player_2: "" }],
])("an order %s is played, and the pages show ids", async (_case, names) => {
  turn.resolve();
  const { payload } = await referee.begin(names && { roles: named(names) });
  expect(payload).toMatchObject({ status: "ACCEPTED" });
  await referee.waitFor("manager", "MATCH_RESULT");
  const view = await get(`/api/games/${payload.session_id}`);
  expect([view.match.league_id, ...nameIn(view)]).toEqual(["rps", "P01", "P02"]);
});

it("the names of the oldest match are removed at the limit", async () => {
  const league = await startTestLeague();
  league.close();
  const names = new MatchNames(2);
  for (const id of ["first", "second", "first", "third"]) names.add(id, league.order({ roles: named() }));
  const nameOf = (game_id: string) =>
    names.inList({ game_id, template: "", status: "", created_at: "", players: { player_1: "P01" }, result: null })
      .players.player_1;
  expect(["first", "second", "third"].map(nameOf)).toEqual([ANN, "P01", ANN]);
});
