import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { callTool, cleanUp, type Running, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

it("a player whose token was reset by the operator prints one warning, and continues after a restart with the new token", async () => {
  const test = await testLeague([], RPS);
  const served = start("scripts/league.ts", ["serve", test.file, "--players", "3"]);
  await served.line(/takes registrations at /);
  const startPlayer = async (name: string, port: number): Promise<Running> => {
    const options = ["--name", name, "--port", String(port), "--data", join(test.folder, name)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    const player = start("scripts/league.ts", ["join", "random", ...options, ...manager]);
    await player.line(/registered as P0\d in rps/);
    return player;
  };
  const ann = await startPlayer("Ann", test.portAt(10));
  await startPlayer("Bob", test.portAt(11));
  const operator = readFileSync(join(test.folder, "data", "operator-token"), "utf8").trim();
  const reset = await callTool(test.port, "reset_token", { player_id: "P01" }, operator);
  await startPlayer("Cid", test.portAt(12));

  const file = join(test.folder, "Ann", "tokens", "player-Ann");
  const warning = await ann.line(/^Ann: messages to P01 are no longer signed with its token/);
  expect(warning).toContain(`write the new one into ${file} and restart this player`);
  await served.line(/^Every league is over/);
  ann.signal("SIGINT");
  const { stderr } = await ann.ended;
  expect(stderr.match(/no longer signed with its token/g)).toHaveLength(1);

  writeFileSync(file, `${reset.value.auth_token}\n`);
  await startPlayer("Ann", test.portAt(10));
});
