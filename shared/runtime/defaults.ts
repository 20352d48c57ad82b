import { fileURLToPath } from "node:url";
import type { z } from "zod";

/** The ports on which each type of agent listens by default, both ends included. */
export const PORT_RANGES = { manager: [8000, 8000], referee: [8001, 8099], player: [8101, 8199] } as const;

/** Returns all ports of a range in ascending order. */
export const portsFrom = ([first, last]: readonly [number, number]): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Returns the help of an option `--port` whose default is a range. */
export const portHelp = (agent: keyof typeof PORT_RANGES): string =>
  `port to listen on (default: the first free one of ${PORT_RANGES[agent].join("-")})`;

/** The address on which a manager listens by default and at which agents on the same machine reach it. */
export const LOOPBACK_HOST = "127.0.0.1";

/** The port at which debuggers look for Node.js. */
export const INSPECTOR_PORT = 9229;

/** The endpoint of a manager with the default config. */
export const MANAGER_ENDPOINT = `http://${LOOPBACK_HOST}:${PORT_RANGES.manager[0]}/mcp`;

/** The folder for the files of agents, relative to the working directory of a command or to the config. */
export const DATA_FOLDER = "data";

/** The config of a command that is started without one. */
export const DEFAULT_CONFIG = fileURLToPath(new URL("../../config/league.json", import.meta.url));

/** The default config in help texts, which are the same in each folder of installation. */
export const DEFAULT_CONFIG_TEXT = "config/league.json of this program";

/**
 * The number of positions that a chess engine searches for each move. A time limit would make runs with the same seed
 * differ.
 */
export const UCI_NODES = 10_000;

/** The time in which a UCI engine answers `uci`, `ucinewgame` and `isready`, in milliseconds, if its settings name none. */
export const UCI_START_MS = 30_000;

/** The time in which a program that plays by lines loads what it needs, in milliseconds, if its settings name none. */
export const LINES_START_MS = 10_000;

/** Returns the default of a field of an options schema, for the help of a command. */
export const defaultOf = <Field extends z.ZodType>(field: z.ZodDefault<Field>): z.output<Field> =>
  field.parse(undefined) as z.output<Field>;
