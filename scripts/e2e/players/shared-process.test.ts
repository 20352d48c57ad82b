import { afterEach, describe, expect, it } from "vitest";
import { agentsIn, cleanUp, kill, processesIn } from "../../testing/processes.ts";
import { documentOf, FIRST_RESULT, FOUR_BOTS, LONG, RPS, run, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const sharedIn = (folder: string) =>
  processesIn(folder).filter(({ args }) => args.some((arg) => arg.endsWith("/player/several.ts")));

describe("players_per_process", () => {
  it("plays the same matches as with a process for each player", async () => {
    const play = async (players_per_process: number) => {
      const test = await testLeague(FOUR_BOTS, RPS, { config: { players_per_process } });
      const ended = await run(test, "--json").ended;
      expect(ended.code, ended.stderr).toBe(0);
      const [league] = documentOf(ended).leagues;
      return league?.matches.map(({ match_id, roles, points, reason }) => [match_id, roles, points, reason]);
    };
    const shared = await play(3);
    expect(shared).toHaveLength(6);
    expect(shared).toEqual(await play(1));
  });

  it("starts the players of a process again that is killed", async () => {
    const test = await testLeague(FOUR_BOTS, LONG, { config: { players_per_process: 3 } });
    const running = run(test, "--json");
    await running.line(FIRST_RESULT);
    const [shared, ...others] = sharedIn(test.folder);
    expect(others).toEqual([]);
    expect(agentsIn(test.folder).filter(({ args }) => args.includes("--bot"))).toHaveLength(1);
    kill(shared?.pid ?? 0, "SIGKILL");
    await running.line(/^players Player1 to Player3: was ended by SIGKILL; it is started again$/);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).leagues.map(({ matches }) => matches.length)).toEqual([6, 6]);
  });
});
