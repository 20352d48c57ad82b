import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { gameIds, games } from "#shared/games/registry.ts";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import {
  callRpc,
  startTestLeague,
  type TestLeague,
  type TestLeagueOptions,
  type TestPlace,
} from "../testing/league.ts";
import { startHandWrittenPlayer } from "./hand-written-player.ts";

let league: TestLeague | null = null;
const start = async (options: TestLeagueOptions): Promise<TestLeague> => {
  league = await startTestLeague(options);
  return league;
};
afterEach(async () => {
  await league?.stop();
  league = null;
});

/** The player of a test league, with its token in the league's folder. */
const startInFolder = ({ manager, name, port, dataFolder }: TestPlace) =>
  startHandWrittenPlayer(manager, name, port, join(dataFolder, "by-hand.token"));

/** A match of a league is between two. */
const leagueGames = gameIds.filter((id) => games[id].roles.length === 2);
const leagues = leagueGames.map((game) => ({ league_id: game, game }));

/** Python's player as a separate process; resolves when it is registered. */
async function startPython({ manager, name, port, dataFolder }: TestPlace): Promise<RunningAgent> {
  const python = requireProgram(["/usr/bin/python3"], "python3");
  const script = fileURLToPath(new URL("./player.py", import.meta.url));
  const child = spawn(python, [script, manager, name, String(port)], {
    cwd: dataFolder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  if (!String(line).includes("is registered as")) throw new Error(`the player ended: ${line}`);
  return {
    async stop() {
      child.kill();
      await ended;
    },
  };
}

describe("a player written from PROTOCOL.md alone", () => {
  it("fits in 70 lines and takes nothing from the repository", () => {
    const source = readFileSync(new URL("./hand-written-player.ts", import.meta.url), "utf8");
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(70);
    const imported = [...source.matchAll(/from "([^"]+)"/g)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith("node:"))).toEqual([]);
  });

  it.each([
    ["TypeScript", startInFolder],
    ["Python", startPython],
  ])("in %s plays every game against a built-in bot to a normal end", async (_, startIt) => {
    const { completed } = await start({
      leagues,
      referees: 2,
      players: [
        { name: "By hand", start: startIt },
        { name: "Random", bot: "random" },
      ],
    });
    const document = await completed;
    expect(document.leagues.map(({ league_id, status }) => [league_id, status])).toEqual(
      leagueGames.map((game) => [game, "completed"]),
    );
    const matches = document.leagues.flatMap((one) => one.matches);
    expect(matches.map((match) => match.termination)).toEqual(leagueGames.map(() => "normal"));
    expect(matches.map((match) => Object.values(match.roles).sort())).toEqual(leagueGames.map(() => ["P01", "P02"]));
  });
});

describe("a player run by hand", () => {
  it("plays a whole match through make_move", async () => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }],
      players: [
        { name: "Person", bot: "manual" },
        { name: "Random", bot: "random" },
      ],
    });
    const url = playerUrls[0] ?? "";
    let isOver = false;
    const document = completed.finally(() => {
      isOver = true;
    });
    const moves: string[] = [];
    while (!isOver) {
      const move = ["rock", "paper", "scissors"][moves.length % 3] as string;
      const sent = await vi.waitFor(async () => {
        const result = z
          .object({ isError: z.boolean().optional() })
          .parse(await callRpc(url, "tools/call", { name: "make_move", arguments: { move } }));
        if (result.isError && !isOver) throw new Error("not asked yet");
        return !result.isError;
      }, PATIENCE);
      if (sent) moves.push(move);
    }
    const match = (await document).leagues[0]?.matches[0];
    expect(match).toMatchObject({ termination: "normal", match_id: "R1M1" });
    expect(moves.length).toBeGreaterThanOrEqual(2);
    const read = await league?.match("rps", "R1M1");
    const acted = read?.log.map((text) => JSON.parse(text)).filter((entry) => entry.type === "acted");
    const mine = acted?.filter((entry) => match?.roles[entry.role] === "P01").map((entry) => entry.action);
    expect(mine).toEqual(moves);
  });
});
