import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { MessageType } from "#shared/protocol/messages.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config.ts";
import { openLog } from "#shared/runtime/logger.ts";
import { rowsOf } from "#shared/session/entry.ts";
import { create, decide } from "#shared/session/session.ts";
import { startManager } from "./service.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
type Wire = any;

/** Ports of its own for each test: the manager, and one at which everybody else answers. */
let port = 20_000 + (process.pid % 500) * 20;
let url = "";
let dataFolder = "";
let manager: RunningAgent;
let others: Server;
let tokens: Record<string, string> = {};

async function tool(name: string, args: object, bearer?: string): Promise<Wire> {
  const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
  const { result, error } = (await (await fetch(url, { method: "POST", headers, body })).json()) as Wire;
  return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
}
const message = (type: MessageType, sender: string, payload: object, authToken?: string): Promise<Wire> =>
  tool("league_message", newEnvelope(type, sender, payload, { authToken }));

/** A running league of P01 and P02; REF01 was given R1M1, REF02 has nothing to do. */
beforeEach(async () => {
  port += 2;
  url = `http://127.0.0.1:${port}/mcp`;
  dataFolder = mkdtempSync(join(tmpdir(), "doors-"));
  others = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const reply = newEnvelope("START_GAME_RESPONSE", "referee:x", {});
    const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: text === "" ? 0 : JSON.parse(text).id, result }));
  });
  await new Promise<void>((resolve) => others.listen(port + 1, "127.0.0.1", resolve));
  const leagues = [{ league_id: "rps", game: "rps.v1" }];
  const config = Config.parse({ manager: { port }, leagues, timeouts: { default_ms: 300 } });
  const quiet = { log: openLog(null, "manager"), say: () => {}, warn: () => {}, report: () => {} };
  const base = { config, host: "127.0.0.1", port, dataFolder, seed: "s", onEvent: () => {} };
  manager = await startManager({ ...base, startWhen: "count" }, quiet);
  tokens = {};
  const endpoint = (name: string): string => `http://127.0.0.1:${port + 1}/${name}`;
  for (const name of ["P01", "P02"]) {
    tokens[name] = (await tool("register_player", { player_name: name, endpoint: endpoint(name) })).auth_token;
  }
  for (const name of ["REF01", "REF02"]) {
    tokens[name] = (await tool("register_referee", { referee_name: name, endpoint: endpoint(name) })).auth_token;
  }
  const operator = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
  expect(await tool("start_league", { league_id: "rps" }, operator)).toMatchObject({ status: "STARTED", matches: 1 });
  expect((await schedule())[0]).toMatchObject({
    match_id: "R1M1",
    status: "assigned",
    referee_id: "REF01",
    roles: ROLES,
  });
});
afterEach(async () => {
  await manager.stop();
  others.close().closeAllConnections();
  rmSync(dataFolder, { recursive: true, force: true });
});

const schedule = async (): Promise<Wire[]> => (await tool("get_schedule", { league_id: "rps" })).schedule;
const points = async (): Promise<unknown> =>
  (await tool("get_standings", { league_id: "rps" })).standings.map((row: Wire) => [row.player_id, row.points]);

const AT = "2026-01-01T00:00:00.000Z";
const ROLES = { player_1: "P01", player_2: "P02" };
const SEED = hmacBase64Url("s", "rps/R1M1");
/** The log of R1M1 in which P01 wins with rock; with fewer of its entries, another seed or other options. */
function logOf({ entries = 3, seed = SEED, options = {} } = {}): readonly string[] {
  const participants = { player_1: "a", player_2: "b" };
  const created = create({ id: "s", game: rps, options: rps.options.parse(options), participants, seed, at: AT });
  let { next } = created;
  const rest = [["player_1", "rock"] as const, ["player_2", "scissors"] as const].map(([role, action]) => {
    const decided = decide(next, { type: "act", role, action, expectedTick: null }, AT);
    if (!decided.ok) throw new Error(decided.error.message);
    next = decided.value.next;
    return decided.value.entry;
  });
  return [created.entry, ...rest].slice(0, entries).map((entry) => JSON.stringify(entry));
}
const withLog = (log: readonly string[]) => ({ log, log_head: rowsOf("s", log).at(-1)?.hash ?? "" });
const won = (more: object = {}) => ({
  league_id: "rps",
  round_id: 1,
  match_id: "R1M1",
  epoch: 1,
  winner: "P01",
  final_scores: { P01: 1, P02: 0 },
  match_points: { P01: 3, P02: 0 },
  termination: "normal",
  reason: "rounds_won",
  faults: [],
  ...withLog(logOf()),
  ...more,
});
const lateP02 = { player_id: "P02", role: "player_2", code: "G002", cause: "timeout", detail: "late" };
const NOTHING = [
  ["P01", 0],
  ["P02", 0],
];

describe("MATCH_RESULT", () => {
  it.each([
    ["nobody", "referee:REF01", undefined],
    ["a stranger", "referee:REF01", "wrong"],
    ["a player", "player:P01", "P01"],
    ["a player that says it is the referee", "referee:REF01", "P01"],
    ["a referee under another's name", "referee:REF02", "REF01"],
    ["the referee under a player's name", "player:REF01", "REF01"],
    ["the wrong referee", "referee:REF02", "REF02"],
  ])("from %s is refused and changes nothing", async (_who, sender, token) => {
    const refused = await message("MATCH_RESULT", sender, won(), token && (tokens[token] ?? token));
    expect(refused).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    expect(await points()).toEqual(NOTHING);
    expect((await schedule())[0]).toMatchObject({ status: "assigned", winner: null });
  });

  it("is recorded once", async () => {
    const first = await message("MATCH_RESULT", "referee:REF01", won(), tokens.REF01);
    expect(first).toMatchObject({ type: "MATCH_RESULT_RESPONSE", payload: { status: "RECORDED" } });
    const again = await message("MATCH_RESULT", "referee:REF01", won(), tokens.REF01);
    expect(again).toMatchObject({ payload: { status: "ALREADY_RECORDED" } });
    const other = won({ winner: "P02", match_points: { P01: 0, P02: 3 } });
    await message("MATCH_RESULT", "referee:REF01", other, tokens.REF01);
    expect(await points()).toEqual([
      ["P01", 3],
      ["P02", 0],
    ]);
  });

  it("is recorded once when it comes several times at once, also with the token as bearer", async () => {
    const envelope = newEnvelope("MATCH_RESULT", "referee:REF01", won());
    const answers = await Promise.all([1, 2, 3].map(() => tool("league_message", envelope, tokens.REF01)));
    const statuses = answers.map(({ payload }) => payload.status).sort();
    expect(statuses).toEqual(["ALREADY_RECORDED", "ALREADY_RECORDED", "RECORDED"]);
    expect(await points()).toContainEqual(["P01", 3]);
  });

  it("of an unknown match or league is refused", async () => {
    for (const more of [{ match_id: "R9M9" }, { league_id: "nowhere" }]) {
      const refused = await message("MATCH_RESULT", "referee:REF01", won(more), tokens.REF01);
      expect(refused).toMatchObject({ isError: true, type: "GAME_ERROR", payload: { error_code: "G003" } });
    }
  });

  it.each([
    ["points that no rule gives", { match_points: { P01: 5, P02: 0 } }],
    ["points for both", { match_points: { P01: 3, P02: 3 } }],
    ["other players", { match_points: { P01: 3, P07: 0 } }],
    ["a winner without the points", { winner: "P02" }],
    ["a log that does not lead to its head", { log_head: "0".repeat(64) }],
    ["no log", { log: [], log_head: "" }],
    ["the loser as its winner", { winner: "P02", match_points: { P01: 0, P02: 3 } }],
    ["scores that were not reached", { final_scores: { P01: 2, P02: 0 } }],
    ["scores of nobody", JSON.parse('{"final_scores":{"__proto__":1,"zz":-1e308}}')],
    ["another reason", { reason: "\u001b[31mwon\nP99 registered" }],
    ["another round", { round_id: -7 }],
    ["a fault that nobody made", { faults: [lateP02] }],
    [
      "a forfeit that is not in its log",
      { ...withLog(logOf({ entries: 1 })), termination: "forfeit", faults: [lateP02] },
    ],
    ["a log that does not end", withLog(logOf({ entries: 2 }))],
    ["the log of another seed", withLog(logOf({ seed: "mine" }))],
    ["the log of a match with other options", withLog(logOf({ options: { best_of: 3 } }))],
    ["an aborted match that gives points", { termination: "aborted", log: [], log_head: "" }],
  ])("with %s is told so and gives nobody points", async (_what, more) => {
    const refused = await message("MATCH_RESULT", "referee:REF01", won(more), tokens.REF01);
    expect(refused).toMatchObject({ isError: true });
    expect(await points()).toEqual(NOTHING);
  });

  it.each([
    ["points", { match_points: { P01: 3, P02: 0 } }],
    ["faults", { faults: [lateP02] }],
    ["the head of a log", { log_head: "a".repeat(64) }],
  ])("of an aborted match without a log has no %s", async (_what, more) => {
    const nothing = { winner: null, match_points: {}, final_scores: {}, log: [], log_head: "" };
    const told = won({ ...nothing, termination: "aborted", ...more });
    const refused = await message("MATCH_RESULT", "referee:REF01", told, tokens.REF01);
    expect(refused).toMatchObject({ isError: true, payload: { error_code: "G001" } });
    expect(await points()).toEqual(NOTHING);
  });

  it("of an older epoch is refused", async () => {
    const aborted = {
      winner: null,
      match_points: {},
      final_scores: {},
      termination: "aborted",
      reason: "our fault",
      log: [],
      log_head: "",
    };
    await message("MATCH_RESULT", "referee:REF01", won(aborted), tokens.REF01);
    const late = await message("MATCH_RESULT", "referee:REF01", won(), tokens.REF01);
    expect(late).toMatchObject({ isError: true, payload: { error_code: "L004" } });
    expect(await points()).toEqual(NOTHING);
  });
});
