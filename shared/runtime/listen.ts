import type { Listening, ListenOptions } from "../rpc/http/listen.ts";
import type { Network } from "../rpc/network.ts";
import { StartError } from "./process/exit.ts";

/** Returns the `portSetting` of an agent. An agent that a command has started gets its port from this field of the config. */
export const portSettingOf = (field: string): string =>
  process.send === undefined
    ? "with --port"
    : `as ${field} in the config, or with the environment variable LEAGUE__${field.toUpperCase().replaceAll(".", "__")}`;

/** Opens an agent's endpoint. Throws a StartError that names the port if it is in use. */
export async function listen(network: Network, options: ListenOptions): Promise<Listening> {
  const opened = await network.listen(options);
  if (!opened.ok) throw new StartError(opened.error);
  return opened.value;
}
