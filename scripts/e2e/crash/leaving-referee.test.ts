import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { callTool, cleanUp, eventually, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A bot that never answers. */
const WAITING_BOT = "export default () => ({ choose: () => new Promise(() => {}) });\n";

it("a referee that was started by hand gives its matches back at SIGTERM, and they do not wait for probes", async () => {
  const test = await testLeague([], RPS, { config: { timeouts: { move_ms: 120_000 } } });
  const bot = join(test.folder, "bot.ts");
  writeFileSync(bot, WAITING_BOT);
  const manager = `http://127.0.0.1:${test.port}/mcp`;
  const served = start("scripts/league.ts", ["serve", test.file, "--players", "4"]);
  await served.line(/takes registrations at /);
  const place = ["--manager", manager, "--data", join(test.folder, "extra")];
  const extra = start("referee/main.ts", [...place, "--port", String(test.portAt(9)), "--name", "Extra"]);
  await extra.line(/registered as REF02/);
  const joined = ["Ann", "Bob", "Eve", "Joe"].map((name, index) => {
    const data = ["--port", String(test.portAt(10 + index)), "--data", join(test.folder, name)];
    return start("scripts/league.ts", ["join", bot, "--name", name, "--manager", manager, ...data]);
  });
  const matches = async (): Promise<readonly (readonly unknown[])[]> => {
    const { value } = await callTool(test.port, "get_schedule", { league_id: "rps" });
    const schedule = value.schedule as readonly Record<string, unknown>[];
    return schedule.filter(({ round_id }) => round_id === 1).map(({ referee_id, status }) => [referee_id, status]);
  };
  await eventually("a match at each referee", async () => {
    return JSON.stringify(await matches()) === '[["REF01","assigned"],["REF02","assigned"]]';
  });
  extra.signal("SIGTERM");
  expect(await extra.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("REF02 has left") });
  await served.line(/Extra \(REF02\) has left/);
  await eventually("both matches at the other referee", async () =>
    (await matches()).every(([refereeId, status]) => refereeId === "REF01" && status === "assigned"),
  );
  expect(served.stderr()).not.toContain("does not answer");
  for (const running of [served, ...joined]) running.signal("SIGINT");
  await Promise.all([served.ended, ...joined.map(({ ended }) => ended)]);
});
