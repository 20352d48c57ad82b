import { join } from "node:path";
import type { AgentProcess } from "./agent.ts";
import { fileNameOf } from "./files/file-name.ts";

/** Returns the path of an agent's token file. It is named after the player, or after the port of the referee. */
export const tokenFileOf = (dataFolder: string, kind: "player" | "referee", name: string): string =>
  join(dataFolder, "tokens", `${kind}-${fileNameOf(name)}`);

/** The parts of an agent's process that secrets need. */
export type Secrets = Pick<AgentProcess, "disk" | "ids">;

/** Returns the secret in a file. Creates and stores a new secret if there is none. */
export function readOrCreateSecret({ disk, ids }: Secrets, file: string): string {
  const stored = disk.readSecret(file);
  if (stored) return stored;
  const secret = ids.token();
  disk.writeSecret(file, secret);
  return secret;
}
