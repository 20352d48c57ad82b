import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canCreateNetworks, createNetwork, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";
import { documentOf, RPS } from "../../testing/test-league.ts";

describe.skipIf(!canCreateNetworks)("a player that is listed on another machine (needs root and iproute2)", () => {
  let network: TestNetwork<"league" | "afar">;
  beforeAll(async () => {
    network = await createNetwork("league", "afar");
  });
  afterAll(async () => {
    await network.close();
    await cleanUp();
  });

  /** Starts a player on the other machine; resolves when it listens. */
  async function startAfar(port: number, folder: string, ...args: readonly string[]): Promise<void> {
    const place = ["--no-manager", "--host", "0.0.0.0", "--port", String(port), "--data", folder];
    await start("player/main.ts", [...place, ...args], {}, "ignore", network.hosts.afar).line(/plays at/);
  }

  /** How the match of a league with this player ended, and what the command wrote to stderr. */
  async function endOf(folder: string, listed: object) {
    const file = join(folder, "league.json");
    const players = [
      { name: "Afar", ...listed },
      { name: "Here", bot: "random" },
    ];
    writeFileSync(file, JSON.stringify({ data: "data", players, leagues: RPS }));
    const run = ["run", file, "--json"];
    const ended = await start("scripts/league.ts", run, {}, "ignore", network.hosts.league).ended;
    const [match] = documentOf(ended).leagues[0]?.matches ?? [];
    return { termination: match?.termination, winner: match?.winner, shown: ended.stderr };
  }

  it("plays with the secret that the config has, and refuses the league without one", async () => {
    const folder = newFolder();
    const secretFile = join(folder, "secret");
    await startAfar(8150, folder, "--name", "Secret", "--secret-file", secretFile);
    await startAfar(8151, folder, "--name", "Open");
    const at = (port: number) => `http://${network.hosts.afar.address}:${port}/mcp`;
    const secret = readFileSync(secretFile, "utf8").trim();
    expect(await endOf(folder, { endpoint: at(8150), secret })).toMatchObject({ termination: "normal" });
    const refused = await endOf(folder, { endpoint: at(8151) });
    expect(refused).toMatchObject({ termination: "forfeit", winner: "P02" });
    expect(refused.shown).toContain("this player has no secret, so it accepts messages from its own machine only");
  });
});
