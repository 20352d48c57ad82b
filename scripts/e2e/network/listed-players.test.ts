import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canCreateNetworks, createNetwork, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";
import { documentOf, RPS } from "../../testing/test-league.ts";

describe.skipIf(!canCreateNetworks)("a listed player on another machine (needs root and iproute2)", () => {
  let network: TestNetwork<"league" | "remote">;
  beforeAll(async () => {
    network = await createNetwork("league", "remote");
  });
  afterAll(async () => {
    await network.close();
    await cleanUp();
  });

  /** Starts a player on the other machine; resolves when it listens. */
  async function startRemote(port: number, folder: string, ...args: readonly string[]): Promise<void> {
    const options = ["--no-manager", "--host", "0.0.0.0", "--port", String(port), "--data", folder];
    await start("player/main.ts", [...options, ...args], {}, "ignore", network.hosts.remote).line(/plays at/);
  }

  /** Runs a league with this player. Resolves with the end of its match and the stderr of the command. */
  async function playLeague(folder: string, listed: object) {
    const file = join(folder, "league.json");
    const players = [
      { name: "Remote", ...listed },
      { name: "Local", bot: "random" },
    ];
    writeFileSync(file, JSON.stringify({ data: "data", players, leagues: RPS }));
    const run = ["run", file, "--json"];
    const ended = await start("scripts/league.ts", run, {}, "ignore", network.hosts.league).ended;
    const [match] = documentOf(ended).leagues[0]?.matches ?? [];
    return { termination: match?.termination, winner: match?.winner, stderr: ended.stderr };
  }

  it("plays in a league whose config has its secret, and rejects a league without its secret", async () => {
    const folder = newFolder();
    const secretFile = join(folder, "secret");
    await startRemote(8150, folder, "--name", "Secret", "--secret-file", secretFile);
    await startRemote(8151, folder, "--name", "Open");
    const endpointAt = (port: number) => `http://${network.hosts.remote.address}:${port}/mcp`;
    const secret = readFileSync(secretFile, "utf8").trim();
    expect(await playLeague(folder, { endpoint: endpointAt(8150), secret })).toMatchObject({ termination: "normal" });
    const rejected = await playLeague(folder, { endpoint: endpointAt(8151) });
    expect(rejected).toMatchObject({ termination: "forfeit", winner: "P02" });
    expect(rejected.stderr).toContain("this player has no secret, so it accepts messages from its own machine only");
  });
});
