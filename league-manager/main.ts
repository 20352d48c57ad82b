import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Command, Option } from "commander";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import {
  databaseOption,
  originOption,
  playersOption,
  portOption,
  withExamples,
  withUsageExit,
} from "#shared/runtime/command-options.ts";
import { loadConfig } from "#shared/runtime/config/config-file.ts";
import {
  DATA_FOLDER,
  DEFAULT_CONFIG,
  DEFAULT_CONFIG_TEXT,
  LOOPBACK_HOST,
  PORT_RANGES,
} from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { LiveEvent } from "./projections/live-events.ts";
import { resultLine, roundText, startText, stateLine, waitingLine } from "./projections/live-lines.ts";
import { startManager } from "./service.ts";

const command = withUsageExit(new Command("league-manager"))
  .description("Runs the league manager, which pairs the players and keeps the standings.")
  .option("--port <port>", `port to listen on (default: the config's, ${PORT_RANGES.manager[0]})`, portOption)
  .option("--host <host>", `address to listen on (default: the config's, ${LOOPBACK_HOST})`)
  .addOption(
    new Option("--config <file>", "config file with leagues and time limits").default(
      DEFAULT_CONFIG,
      DEFAULT_CONFIG_TEXT,
    ),
  )
  .option("--data <folder>", "folder of the store, the operator token and the logs (default: the config's)")
  .option(
    "--players <n>",
    "start each league when n players are registered, at least 2 (default: as the config says, else when the operator starts it)",
    playersOption,
  )
  .addOption(databaseOption())
  .option(
    "--url <url>",
    "address at which the other managers of the database reach this one (default: its own)",
    originOption,
  )
  .option("--roster", "start when exactly the players of the config are registered; no other player is admitted")
  .option(
    "--seed <seed>",
    "make matches and results repeatable; at least 32 hexadecimal digits unless all players are started by one command (default: a random seed)",
  );
withExamples(command, [
  "npm run manager -- --players 4                               # start when 4 players are registered",
  "npm run manager -- --config config/my-league.json            # another config",
  "npm run manager -- --database postgres:///league             # one of several managers of a PostgreSQL database",
]).parse();

const options = command.opts<{
  port?: number;
  host?: string;
  config: string;
  data?: string;
  players?: number;
  roster?: boolean;
  seed?: string;
  database?: string;
  url?: string;
}>();

const loaded = await loadConfig(options.config, process.env);
const dataFolder = resolve(
  options.data ?? (loaded.ok ? resolve(loaded.value.folder, loaded.value.config.data) : DATA_FOLDER),
);

// By default V8 accumulates much more garbage than the heap of a large league. With this flag it collects when the heap has grown by 40%.
setFlagsFromString("--heap-growing-percent=40");

await runAgentProcess("league-manager", dataFolder, async (self) => {
  if (!loaded.ok) throw new StartError(loaded.error.join("\n"), EXIT.config);
  const { config, notices } = loaded.value;
  for (const notice of notices) self.warn(notice);
  if (options.roster && options.database !== undefined) {
    throw new StartError("name either --roster or --database", EXIT.usage);
  }
  const leagues = config.leagues.map((league) => ({
    ...league,
    ...(options.players !== undefined && { min_players: options.players }),
  }));
  const onEvent = (event: LiveEvent): void => {
    self.report({ type: "event", event });
    const line = lineOf(event);
    if (line) self.say(line);
  };
  return startManager(
    {
      config: { ...config, leagues },
      host: options.host,
      port: options.port,
      dataFolder,
      seed: options.seed,
      startWhen: options.roster ? "roster" : undefined,
      database: await databaseAt(options.database),
      url: options.url,
      onEvent,
    },
    self,
  );
});

/** Returns the function that opens a database; undefined without one. The code for PostgreSQL is loaded only if it is needed. */
async function databaseAt(url: string | undefined) {
  if (!url) return undefined;
  const { postgresDatabase } = await import("./start/postgres-database.ts");
  return postgresDatabase(url);
}

/** The line that the manager prints for an event; null if it prints none. */
function lineOf(event: LiveEvent): string | null {
  switch (event.type) {
    case "registered":
      return `${event.kind} ${event.agent_id} registered: ${event.name}`;
    case "league_started":
      return `league ${event.league_id} starts: ${startText(event)}`;
    case "round_started":
      return `league ${event.league_id}, ${roundText(event)}`;
    case "match_completed": {
      const { league_id, match, faults, completed, matches, standings } = event;
      return `league ${league_id}, ${match.match_id}: ${resultLine({ ...match, faults }, standings)}, ${completed}${matches === null ? "" : ` of ${matches}`}`;
    }
    case "league_completed":
      return `league ${event.league_id} is completed: ${event.standings.map((row) => `${row.rank}. ${row.display_name} ${row.points}`).join(", ")}`;
    case "league_waiting":
      return `league ${waitingLine(event.league_id, event.awaited)}`;
    case "league_stuck":
      return `league ${event.league_id} cannot start: ${event.why}`;
    case "player_state":
      return stateLine(event);
    case "notice":
      return event.message;
    case "all_completed":
      return "all leagues are completed; the standings remain available at league://standings";
  }
}
