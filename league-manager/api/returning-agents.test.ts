import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isToken, systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../service.ts";
import { storedState } from "../testing/stored-state.ts";
import { startProgram } from "../testing/test-manager.ts";

let dataFolder = "";
let url = "";
let manager: RunningAgent;

const start = async (more: object, startWhen: "count" | "roster"): Promise<void> => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/mcp`;
  const config = Config.parse({ manager: { port }, leagues: [{ league_id: "rps", game: "rps.v1" }], ...more });
  manager = await startManager({ config, dataFolder, seed: sha256Hex("s"), startWhen }, silentProcess("manager"));
};
beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), "returns-"));
});
afterEach(async () => {
  await manager.stop();
  rmSync(dataFolder, { recursive: true, force: true });
});

async function tool(name: string, args: object): Promise<ReturnType<typeof JSON.parse>> {
  const body = JSON.stringify(rpcToolCall(name, args));
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result } = (await response.json()) as ReturnType<typeof JSON.parse>;
  return JSON.parse(result.content[0].text);
}

const register = (kind: "player" | "referee", name: string, port: number, auth_token?: string) =>
  tool(`register_${kind}`, {
    [`${kind}_name`]: name,
    endpoint: `http://127.0.0.1:${port}/mcp`,
    ...(auth_token && { auth_token }),
  });

const stateOf = async (playerId: string): Promise<unknown> =>
  (await storedState(dataFolder, ["rps"])).agents.get(playerId)?.state;

it.each(["player", "referee"] as const)(
  "a returning %s that claims the name or endpoint of another agent is rejected with L003",
  async (kind) => {
    await start({}, "count");
    const [atA, atB] = [await startProgram(), await startProgram()];
    const [first, second] = [systemIds.token(), systemIds.token()];
    await register(kind, "A", atA, first);
    await register(kind, "B", atB, second);
    for (const [name, at, token] of [
      ["A", atB, first],
      ["B", atA, first],
      ["A", atB, second],
      ["B", atA, second],
    ] as const) {
      expect(await register(kind, name, at, token)).toMatchObject({ status: "REJECTED", error_code: "L003" });
    }
    const [a, b] = [await register(kind, "A", 9003, first), await register(kind, "B", atB, second)];
    expect([a.status, b.status]).toEqual(["ACCEPTED", "ACCEPTED"]);
  },
);

it("the name and endpoint of a player that was removed before it played can be registered again", async () => {
  await start({}, "count");
  const [mistyped, other] = [systemIds.token(), systemIds.token()];
  const { player_id } = await register("player", "A", 9001, mistyped);
  const operator = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
  await tool("remove_player", { player_id, auth_token: operator });
  expect(await stateOf(player_id)).toBeUndefined();
  expect(await register("player", "A", 9002, other)).toMatchObject({ status: "ACCEPTED", league_ids: ["rps"] });
  expect(await register("player", "B", 9001, mistyped)).toMatchObject({ status: "ACCEPTED", league_ids: ["rps"] });
});

it("an empty operator token file, as a killed manager may leave it, is replaced by a new token", async () => {
  const file = join(dataFolder, "operator-token");
  writeFileSync(file, "");
  await start({}, "count");
  expect(isToken(readFileSync(file, "utf8").trim())).toBe(true);
  const rejected = await tool("start_league", { league_id: "rps", auth_token: "" });
  expect(rejected).toMatchObject({ error_code: "L004" });
});

it("a player of a league that the config no longer lists can be removed, and keeps its id when it registers again", async () => {
  const leagues = ["rps", "old"].map((league_id) => ({ league_id, game: "rps.v1" }));
  await start({ leagues }, "count");
  const { player_id, auth_token: token } = await register("player", "A", 9001);
  await manager.stop();
  await start({}, "count");
  const auth_token = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
  expect(await tool("remove_player", { player_id, auth_token })).toMatchObject({ status: "REMOVED" });
  expect(await register("player", "A", 9001, token)).toMatchObject({
    status: "ACCEPTED",
    player_id,
    league_ids: ["rps"],
  });
});

it.each([
  ["while the manager runs", false],
  ["after a restart", true],
])("the id of a removed player is not given to another player %s", async (_, isRestarted) => {
  await start({}, "count");
  const operator = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
  const other = await register("player", "A", 9001);
  const { player_id } = await register("player", "B", 9002);
  await tool("remove_player", { player_id, auth_token: operator });
  if (isRestarted) {
    await manager.stop();
    await start({}, "count");
  }
  const next = await register("player", "C", 9003);
  expect([other.player_id, player_id, next.player_id]).toEqual(["P01", "P02", "P03"]);
});

it("the name or endpoint of an agent that the run starts is rejected with L003 without its token", async () => {
  const players = [
    { name: "Ann", bot: "random" },
    { name: "Guest", self: true },
  ];
  await start({ players, playersFirstPort: 9101, referees: { count: 1, firstPort: 9001 } }, "roster");
  const answers = [
    await register("player", "Ann", 9109),
    await register("player", "Guest", 9101),
    await register("player", "Ann", 9101, systemIds.token()),
    await register("referee", "Rogue", 9001),
  ];
  for (const answer of answers) expect(answer).toMatchObject({ status: "REJECTED", error_code: "L003" });
  const tokenOf = (name: string): string => readFileSync(join(dataFolder, "tokens", name), "utf8").trim();
  const ann = await register("player", "Ann", 9101, tokenOf("player-Ann"));
  const referee = await register("referee", "Referee 1", 9001, tokenOf("referee-9001"));
  const guest = await register("player", "Guest", 9109);
  expect([ann.player_id, referee.referee_id, guest.player_id]).toEqual(["P01", "REF01", "P02"]);
});

it("a league of a run starts with exactly the players of its roster, regardless of min_players and max_players", async () => {
  const players = ["A", "B", "C"].map((name) => ({ name, self: true }));
  const leagues = [{ league_id: "rps", game: "rps.v1", min_players: 2, max_players: 4 }];
  await start({ players, leagues, referees: { count: 1, firstPort: 9001 } }, "roster");
  const token = readFileSync(join(dataFolder, "tokens", "referee-9001"), "utf8").trim();
  await register("referee", "Referee 1", 9001, token);
  const status = async (): Promise<unknown> => (await tool("list_leagues", {})).leagues[0].status;
  await register("player", "A", 9101);
  await register("player", "B", 9102);
  expect(await status()).toBe("open");
  const reason = expect.stringContaining('"D" is not one of them');
  expect(await register("player", "D", 9104)).toMatchObject({ status: "REJECTED", error_code: "L002", reason });
  await register("player", "C", 9103);
  await vi.waitFor(async () => expect(await status()).toBe("running"), WAIT_OPTIONS);
});

it("a league without max_players accepts 500 players, and rejects the next with L002", async () => {
  await start({}, "count");
  const many = Array.from({ length: 500 }, (_, n) => register("player", `P${n}`, 10_000 + n));
  expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set(["ACCEPTED"]));
  expect(await register("player", "more", 9_999)).toMatchObject({ status: "REJECTED", error_code: "L002" });
});

it.each(["player", "referee"] as const)(
  "a %s that changes its registration twice in a second is rejected with retryable: true",
  async (kind) => {
    await start({}, "count");
    const token = systemIds.token();
    await register(kind, "A", 9001, token);
    let last = await register(kind, "A", 9002, token);
    for (let port = 9003; last.status === "ACCEPTED"; port++) last = await register(kind, "A", port, token);
    expect(last).toMatchObject({ status: "REJECTED", error_code: "L001", retryable: true });
    expect(await register(kind, "A", 9001)).toMatchObject({ status: "REJECTED", retryable: false });
  },
);
