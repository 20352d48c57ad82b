import type { Listening, ListenOptions } from "../rpc/http/listen.ts";
import type { Network } from "../rpc/network.ts";
import { StartError } from "./process/exit.ts";

/** Opens an agent's endpoint. Throws a StartError that names the port if it is in use. */
export async function listen(network: Network, options: ListenOptions): Promise<Listening> {
  const opened = await network.listen(options);
  if (!opened.ok) throw new StartError(opened.error);
  return opened.value;
}
