import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../../../league-manager/service.ts";
import { startPlayer } from "../../../player/service.ts";
import { startReferee } from "../../../referee/service.ts";
import { callTool } from "../../testing/processes.ts";

let folder = "";
let port = 0;
let manager: RunningAgent | null = null;
const agents: RunningAgent[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "restored-"));
  port = await freePort();
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
  await manager?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function runManager(): Promise<void> {
  const config = Config.parse({
    manager: { port },
    timeouts: { join_ms: 20_000 },
    leagues: [{ league_id: "rps", game: "rps.v1", min_players: 3 }],
  });
  manager = await startManager(
    { config, dataFolder: folder, seed: sha256Hex("s"), startWhen: "count" },
    silentProcess("manager", {}),
  );
}

async function stopManager(): Promise<void> {
  await manager?.stop();
  manager = null;
}

const database = (): string => join(folder, "league-manager.sqlite");

/** The process of an agent that asks the manager for its registration often. */
function agentProcess(role: "referee" | "player", lines: string[]): AgentProcess {
  const clock = { ...systemClock, every: (ms: number, run: () => void) => systemClock.every(Math.min(ms, 100), run) };
  return silentProcess(role, { clock, say: (line) => void lines.push(line), warn: (line) => void lines.push(line) });
}

const line = (lines: readonly string[], text: RegExp) =>
  vi.waitFor(() => expect(lines).toContainEqual(expect.stringMatching(text)), WAIT_OPTIONS);

async function runReferee(name: string, data = name, ports = [0]): Promise<string[]> {
  const lines: string[] = [];
  const options = { name, ports, manager: `http://127.0.0.1:${port}/mcp`, dataFolder: join(folder, data) };
  agents.push(await startReferee(options, agentProcess("referee", lines)));
  await line(lines, /^registered as /);
  return lines;
}

async function runPlayer(name: string, more: { readonly pull?: boolean } = {}): Promise<string[]> {
  const lines: string[] = [];
  const place = { ports: [0], manager: `http://127.0.0.1:${port}/mcp`, dataFolder: join(folder, name) };
  agents.push(await startPlayer({ bot: "cycle", name, ...place, ...more }, agentProcess("player", lines)));
  await line(lines, /^registered as /);
  return lines;
}

const leagueIsOver = () =>
  vi.waitFor(async () => {
    const { value } = await callTool(port, "list_leagues", {});
    expect(value.leagues).toMatchObject([{ status: "completed", players: 3 }]);
  }, WAIT_OPTIONS);

it("referees and players that registered after a backup register again when it is restored, and the league is played", async () => {
  await runManager();
  await stopManager();
  copyFileSync(database(), join(folder, "backup"));
  await runManager();
  const lines = {
    referee: await runReferee("Late"),
    Ann: await runPlayer("Ann"),
    Bob: await runPlayer("Bob", { pull: true }),
  };
  await stopManager();
  copyFileSync(join(folder, "backup"), database());
  await runManager();
  await line(lines.referee, /^the manager did not know referee:REF01 any more; registered again as referee:REF01$/);
  await line(lines.Ann, /^the manager did not know player:P01 any more; registered again as player:P0\d$/);
  await line(lines.Bob, /^the manager did not know player:P02 any more; registered again as player:P0\d$/);
  await runPlayer("Cid");
  await leagueIsOver();
  for (const printed of Object.values(lines))
    expect(printed.filter((text) => text.includes("any more"))).toHaveLength(1);
});

it("a referee that took the endpoint of another one after the backup takes it again", async () => {
  const at = await freePort();
  await runManager();
  await runReferee("Same", "before", [at]);
  await stopManager();
  copyFileSync(database(), join(folder, "backup"));
  await runManager();
  const [before] = agents.splice(0);
  await before?.leave?.();
  await before?.stop();
  const lines = await runReferee("Same", "after", [at]);
  await stopManager();
  copyFileSync(join(folder, "backup"), database());
  await runManager();
  await line(lines, /^the manager did not know referee:REF02 any more; registered again as referee:REF02$/);
  for (const name of ["Ann", "Bob", "Cid"]) await runPlayer(name);
  await leagueIsOver();
});
