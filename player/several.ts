/** A process with several players on separate ports: `node player/several.ts JSON` with `SeveralPlayers`. If one of them cannot continue, all end. */
import { resolve } from "node:path";
import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";
import { type AgentProcess, type RunningAgent, runAgentProcess } from "#shared/runtime/agent.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import type { AgentReport } from "#shared/runtime/process/parent-process.ts";
import type { PlayerOptions } from "./options.ts";
import { startPlayer } from "./service.ts";

/** The players of one process. */
export interface SeveralPlayers {
  /** The name of the process, for its log. */
  readonly name: string;
  /** The folder of the log. */
  readonly data: string;
  /** The files of games that are not built in. */
  readonly games: readonly string[];
  /** The options of each player. Each has a name and a port. */
  readonly players: readonly (z.input<typeof PlayerOptions> & { readonly name: string })[];
}

const Named = z.looseObject({ name: z.string() });
/** The parts that this program reads. The options of a player are checked when it starts. */
const Given = z.object({
  name: z.string(),
  data: z.string(),
  games: z.array(z.string()),
  players: z.array(z.custom<SeveralPlayers["players"][number]>((player) => Named.safeParse(player).success)).min(1),
});

/** The reports of players that they listen. The process passes one of them on when all its players listen. */
const ready: AgentReport[] = [];

/** Starts a player of this process. Its lines begin with its name. */
const startOne = (options: SeveralPlayers["players"][number], self: AgentProcess): Promise<RunningAgent> =>
  startPlayer(options, {
    ...self,
    say: (line) => self.say(`${options.name}: ${line}`),
    warn: (line) => self.warn(`${options.name}: ${line}`),
    report: (report) => (report.type === "ready" ? ready.push(report) : self.report(report)),
  });

const given = Given.safeParse(parsedJson(process.argv[2] ?? ""));
if (!given.success) {
  process.stderr.write("usage: node player/several.ts JSON\nA config with players_per_process starts this program.\n");
  process.exit(EXIT.usage);
}
const { name, data, games, players }: SeveralPlayers = given.data;

await runAgentProcess(name, resolve(data), async (self) => {
  await loadGames(games);
  const started = await Promise.all(players.map((options) => startOne(options, self)));
  ready.slice(0, 1).forEach(self.report);
  return {
    async stop() {
      await Promise.all(started.map((player) => player.stop()));
    },
  };
});
