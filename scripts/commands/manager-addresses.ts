import { relative } from "node:path";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { type Interfaces, isWildcard, urlsOf } from "#shared/rpc/http/machine-addresses.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { DATA_FOLDER, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";

/** Returns the manager's URLs for other machines, without `/mcp`: the endpoint of the config, else one URL for each address at which it listens. */
export const managerUrls = ({ manager }: Config, interfaces: Interfaces): readonly string[] =>
  manager.endpoint === undefined
    ? urlsOf(manager.host, manager.port, interfaces)
    : [manager.endpoint.replace(/\/(mcp)?$/, "")];

/** Whether other machines can reach the manager. */
export const isOpenToNetwork = ({ manager }: Config): boolean =>
  manager.endpoint !== undefined || isWildcard(manager.host) || !isLoopback(manager.host);

/** Returns the command with which a player joins. It is complete except for the player's name. */
export function joinCommand(config: Config, interfaces: Interfaces): string {
  const { port, join_code } = config.manager;
  const isDefault = !isOpenToNetwork(config) && port === PORT_RANGES.manager[0];
  const manager = isDefault ? "" : ` --manager ${managerUrls(config, interfaces)[0]}/mcp`;
  const code = join_code === undefined ? "" : ` --join-code ${join_code}`;
  return `${LEAGUE_COMMAND} join random --name YOUR_NAME${manager}${code}`;
}

/** Returns the lines that are printed when the manager listens: its addresses and the command with which a player joins. */
export function addressLines(config: Config, interfaces: Interfaces): readonly string[] {
  const [first = "", ...others] = managerUrls(config, interfaces);
  const otherAddresses = others.length === 0 ? [] : [`Other addresses of this machine: ${others.join(", ")}`];
  const hint = isOpenToNetwork(config)
    ? otherAddresses
    : ["Only this machine can reach it; start it with --lan for a network"];
  return [
    `The league takes registrations at ${first}/mcp; its page is ${first}/`,
    ...hint,
    `A player joins with: ${joinCommand(config, interfaces)}`,
  ];
}

/**
 * Returns the lines that are printed if no number of players starts the leagues, with the command with which the operator starts them. `over` are the
 * leagues that are over. If all leagues of the config are over, the operator has opened others.
 */
export function startHint({ leagues, data }: Config, over: ReadonlySet<string>): readonly string[] {
  const ids = leagues.flatMap(({ league_id }) => (over.has(league_id) ? [] : [league_id]));
  return [
    "No number of players is set, so no league starts yet. When all players have joined, enter in another terminal:",
    `  ${operatorCommand(["start", ...(ids.length === 0 ? ["LEAGUE"] : ids)], data)}`,
  ];
}

/** Returns the command that opens a league like the last one of the config. */
export const openCommand = ({ leagues, data }: Config): string =>
  operatorCommand(["open", "NEW", "--like", leagues.at(-1)?.league_id ?? ""], data);

function operatorCommand(args: readonly string[], data: string): string {
  const folder = relative(process.cwd(), data);
  const all = [...args, ...(folder === DATA_FOLDER ? [] : ["--data", folder])];
  const quoted = all.map((arg) => (/^[\w./:@-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`));
  return `${LEAGUE_COMMAND} ${quoted.join(" ")}`;
}
