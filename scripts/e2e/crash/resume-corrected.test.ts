import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, league, newFolder, start } from "../../testing/processes.ts";
import { documentOf, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }];
/** The source of a bot that plays paper. If `waits`, it makes no move from its second match on, so that the run can be interrupted. */
const botSource = (waits: boolean) => `
let matches = 0;
export default () => ({
  start() { matches++; },
  choose: () => (${waits} && matches > 1 ? new Promise(() => setInterval(() => {}, 1000)) : "paper"),
});
`;

it("an interrupted run with a broken bot ends with exit code 3, can be exported, and is resumed after the bot is corrected", async () => {
  const test = await testLeague(["./bot.ts", "cycle", "cycle"], RPS, { files: { "bot.ts": botSource(true) } });
  const bot = join(test.folder, "bot.ts");
  const first = start("scripts/league.ts", ["run", test.file, "--seed", "7"]);
  await first.line(/R\dM\d/);
  first.signal("SIGINT");
  expect((await first.ended).code).toBe(130);

  writeFileSync(bot, "export default (\n");
  const broken = await league(["run", test.file, "--resume"]);
  expect(broken.code, broken.stderr).toBe(3);
  expect(broken.stderr).toMatch(/the run is not complete; continue it with/);

  const out = join(newFolder(), "export");
  const exported = await league(["export", join(test.folder, "data"), "--out", out]);
  expect(exported.code, exported.stderr).toBe(0);
  expect(exported.stdout).toMatch(/^\d match(es)? of /);

  writeFileSync(bot, botSource(false));
  const resumed = await league(["run", test.file, "--resume", "--json"]);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(documentOf(resumed).leagues[0]?.matches).toHaveLength(3);
});

it("a run whose bot was broken at its start is not resumed", async () => {
  const test = await testLeague(["./bot.ts", "cycle"], RPS, { files: { "bot.ts": "export default (\n" } });
  expect((await league(["run", test.file])).code).toBe(3);
  const resumed = await league(["run", test.file, "--resume"]);
  expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringMatching(/^no unfinished run in /)]);
});
