import { fileURLToPath } from "node:url";
import type { z } from "zod";

/** The ports on which each type of agent listens by default; both ends included. */
export const PORT_RANGES = { manager: [8000, 8000], referee: [8001, 8099], player: [8101, 8199] } as const;

/** Every port of a range, in the order to be tried. */
export const portsFrom = ([first, last]: readonly [number, number]): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The help of an option `--port` whose default is a range. */
export const portHelp = (agent: keyof typeof PORT_RANGES): string =>
  `port to listen on (default: the first free one of ${PORT_RANGES[agent].join("-")})`;

/** The address on which a manager listens, and on which agents on its machine reach it. */
export const LOOPBACK_HOST = "127.0.0.1";

/** The endpoint of a manager with the default config. */
export const MANAGER_ENDPOINT = `http://${LOOPBACK_HOST}:${PORT_RANGES.manager[0]}/mcp`;

/** Where agents keep their files, relative to the folder in which a command is started or to the config. */
export const DATA_FOLDER = "data";

/** The config of a command that is given none. */
export const DEFAULT_CONFIG = fileURLToPath(new URL("../../config/league.json", import.meta.url));

/** The positions that a chess engine searches for each move. Limited by nodes, not by time, so that a seed repeats a run. */
export const UCI_NODES = 10_000;

/** The default of a field of an options schema, for the help of a command. */
export const defaultOf = <Field extends z.ZodType>(field: z.ZodDefault<Field>): z.output<Field> =>
  field.parse(undefined) as z.output<Field>;
