import { afterEach, expect, it } from "vitest";
import { cleanUp, newFolder, type Running, start } from "../../testing/processes.ts";
import { type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A bot that tries the decimal seeds below 100,000 against the commitment of its invitation, which league-manager/league/league.ts derives, and prints the seed of the run. */
const ATTACKER = `
import { createHash, createHmac } from "node:crypto";

const hmac = (key, text) => createHmac("sha256", key).update(text).digest("base64url");
const commitmentOf = (seed, leagueId, matchId) =>
  createHash("sha256").update(hmac(hmac(seed, leagueId), leagueId + "/" + matchId)).digest("hex");

export default () => ({
  start({ leagueId, matchId, seedCommitment }) {
    let seed = 0;
    while (seed < 100_000 && commitmentOf(String(seed), leagueId, matchId) !== seedCommitment) seed++;
    console.log(seed < 100_000 ? "the seed is " + seed : "the seed is not short");
  },
  choose: ({ legal }) => legal[0],
});
`;

const FOUND = /the seed is /;

/** A league with cards. The time limits leave the attacker its time on a slow machine. */
const pokerLeague = (...bots: readonly string[]): Promise<TestLeague> =>
  testLeague(bots, [{ league_id: "poker", game: "kuhn_poker.v1", options: { hands: 1 } }], {
    files: { "attacker.js": ATTACKER },
    config: { timeouts: { join_ms: 120_000, move_ms: 120_000 } },
  });

it("a bot finds the short seed of a run whose players are all started by the command", async () => {
  const test = await pokerLeague("./attacker.js", "random");
  const run = start("scripts/league.ts", ["run", test.file, "--seed", "31415"]);
  expect(await run.line(FOUND)).toBe("Player1: the seed is 31415");
  expect((await run.ended).code).toBe(0);
});

it("a player that joins a served league does not find its seed, which the rejection of a short one has proposed", async () => {
  const test = await pokerLeague();
  const serve = (seed: string): Running =>
    start("scripts/league.ts", ["serve", test.file, "--players", "2", "--seed", seed]);
  const rejected = serve("31415");
  const [, seed = ""] = / e\.g\. --seed ([\da-f]+)/.exec(await rejected.line(/--seed 31415: programs /)) ?? [];
  await rejected.ended;
  const served = serve(seed);
  await served.line(/takes registrations at /);
  const join = (bot: string, name: string, port: number): Running => {
    const place = ["--name", name, "--port", String(port), "--data", newFolder()];
    return start("scripts/league.ts", ["join", bot, ...place, "--manager", `http://127.0.0.1:${test.port}/mcp`]);
  };
  const attacker = join(`${test.folder}/attacker.js`, "Attacker", test.portAt(10));
  join("random", "Other", test.portAt(11));
  expect(await attacker.line(FOUND)).toMatch(/the seed is not short$/);
  await served.line(/^Every league is over/);
});
