import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";
import { documentOf, RPS, run, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** Starts a player that does not register; resolves with its endpoint. */
async function startListed(folder: string, ...args: readonly string[]): Promise<string> {
  const port = await freePort();
  const options = ["--bot", "random", "--name", "Listed", "--port", String(port), "--data", folder];
  await start("player/main.ts", [...options, "--no-manager", ...args]).line(/plays at/);
  return `http://127.0.0.1:${port}/mcp`;
}

async function leagueWith(listed: object): Promise<TestLeague> {
  const players = [
    { name: "Listed", ...listed },
    { name: "Other", bot: "cycle" },
  ];
  return testLeague([], RPS, { config: { players } });
}

/** Runs the league; resolves with the termination of its match. */
async function terminationOf(test: TestLeague): Promise<unknown> {
  const ended = await run(test, "--json").ended;
  return documentOf(ended).leagues[0]?.matches[0]?.termination;
}

test("a listed player without a secret plays several leagues in sequence", async () => {
  const test = await leagueWith({ endpoint: await startListed(newFolder()) });
  expect([await terminationOf(test), await terminationOf(test)]).toEqual(["normal", "normal"]);
});

test("a listed player with a secret plays several leagues with the same seed in sequence", async () => {
  const folder = newFolder();
  const secretFile = join(folder, "secret");
  const endpoint = await startListed(folder, "--secret-file", secretFile);
  const test = await leagueWith({ endpoint, secret: readFileSync(secretFile, "utf8").trim() });
  expect([await terminationOf(test), await terminationOf(test)]).toEqual(["normal", "normal"]);
});

test("a player with a secret rejects the matches of a league whose config does not contain the secret", async () => {
  const folder = newFolder();
  const endpoint = await startListed(folder, "--secret-file", join(folder, "secret"));
  const test = await leagueWith({ endpoint });
  expect(await terminationOf(test)).toBe("forfeit");
});
