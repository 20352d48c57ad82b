import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { canCreateNetworks, createNetwork, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { callTool, cleanUp, newFolder, type Running, start } from "../../testing/processes.ts";

/** A bot whose match is long enough for a test to interrupt it. */
const SLOW_BOT = `export default async ({ legal, random, tick, log }) => {
  if (tick > 8) log("in the match");
  await new Promise((resolve) => setTimeout(resolve, 40));
  return random.pick(legal);
};`;
const LEAGUES = [{ league_id: "rps", game: "rps.v1", options: { best_of: 81 } }];
const OVER = /rps is over: rank [12] of 2/;

/** Writes a config and a slow bot into a folder. */
function folderWith(config: object): string {
  const folder = newFolder();
  writeFileSync(
    join(folder, "league.json"),
    JSON.stringify({ leagues: LEAGUES, data: join(folder, "data"), ...config }),
  );
  writeFileSync(join(folder, "slow.js"), SLOW_BOT);
  return folder;
}

const joinArgs = (folder: string, name: string, manager: string): readonly string[] => [
  "join",
  join(folder, "slow.js"),
  "--pull",
  "--name",
  name,
  "--manager",
  manager,
  "--data",
  join(folder, name),
];

describe.skipIf(!canCreateNetworks)("a player behind a router (needs root and iproute2)", () => {
  let network: TestNetwork<"server" | "ann" | "bob">;
  beforeAll(async () => {
    network = await createNetwork("server", "ann", "bob");
  });
  afterEach(cleanUp);
  afterAll(() => network.close());

  it("plays through its inbox, and a network cut of 20 s loses none of its moves", async () => {
    const { server, ann, bob } = network.hosts;
    const folder = folderWith({ timeouts: { move_ms: 120_000, match_ms: 900_000 } });
    const args = ["serve", join(folder, "league.json"), "--lan", "--players", "2"];
    const served = start("scripts/league.ts", args, {}, "ignore", server);
    const url = `http://${server.address}:8000/mcp`;
    await served.line(/takes registrations/);
    const join1 = start("scripts/league.ts", joinArgs(folder, "Ann", url), {}, "ignore", ann);
    await join1.line(/Ann through an inbox at the manager/);
    const join2 = start("scripts/league.ts", joinArgs(folder, "Bob", url), {}, "ignore", bob);
    await join1.line(/in the match/);
    ann.setConnected(false);
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    expect(join2.stderr()).not.toMatch(OVER);
    ann.setConnected(true);
    const lines = await Promise.all([join1.line(OVER), join2.line(OVER)]);
    expect(lines).toHaveLength(2);
    expect(`${join1.stderr()}${join2.stderr()}`).not.toMatch(/G00\d|forfeit/);
  });
});

describe("a player that polls its inbox", () => {
  afterEach(cleanUp);

  it("finishes its match after the manager and the player were killed", async () => {
    const { folder, port, url, manager } = await startLeague();
    let running = await manager();
    const ann = start("scripts/league.ts", joinArgs(folder, "Ann", url));
    await ann.line(/registered as P01/);
    const bob = start("scripts/league.ts", joinArgs(folder, "Bob", url));
    await ann.line(/in the match/);
    running.signal("SIGKILL");
    await running.ended;
    running = await manager();
    ann.signal("SIGKILL");
    await ann.ended;
    const again = start("scripts/league.ts", joinArgs(folder, "Ann", url));
    await again.line(/registered as P01/);
    await Promise.all([again.line(OVER), bob.line(OVER)]);
    const { value } = await callTool(port, "get_schedule", { league_id: "rps" });
    expect(value.schedule).toMatchObject([{ status: "completed", termination: "normal" }]);
  });

  it("has its turn again after the manager was killed, if the manager hosts it", async () => {
    const { folder, port, url, manager } = await startLeague();
    const running = await manager();
    const joined = await callTool(port, "league_message", messageOf("JOIN_LEAGUE", { player_name: "Ann" }));
    const token = String((joined.value.payload as { player_token: unknown }).player_token);
    const turn = async (): Promise<object> => {
      const { value } = await callTool(port, "league_message", messageOf("WAIT_FOR_TURN", { player_token: token }));
      return value.payload as object;
    };
    start("scripts/league.ts", joinArgs(folder, "Bob", url));
    expect(await turn()).toMatchObject({ next: "your_turn" });
    running.signal("SIGKILL");
    await running.ended;
    await manager();
    expect(await turn()).toMatchObject({ next: "your_turn", turns: [{ match_id: "R1M1" }] });
  });
});

const messageOf = (type: MessageType, payload: object) => newEnvelope(type, "player:Ann", payload);

/** Starts a referee, and returns the function that starts or restarts the manager of its league. */
async function startLeague() {
  const [port = 0, refereePort = 0] = await freePorts(2);
  const folder = folderWith({ manager: { port } });
  const data = ["--data", join(folder, "data")];
  const url = `http://127.0.0.1:${port}/mcp`;
  start("referee/main.ts", ["--port", String(refereePort), "--manager", url, ...data]);
  const manager = async (): Promise<Running> => {
    const args = ["--config", join(folder, "league.json"), ...data, "--players", "2"];
    const running = start("league-manager/main.ts", args);
    await running.line(/league manager at/);
    return running;
  };
  return { folder, port, url, manager };
}
