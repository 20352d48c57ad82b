import { join } from "node:path";
import type { AgentProcess } from "./agent.ts";
import { fileNameOf } from "./files/file-name.ts";

/** Where an agent keeps its token: a player by its name, a referee by its port. */
export const tokenFileOf = (dataFolder: string, kind: "player" | "referee", name: string): string =>
  join(dataFolder, "tokens", `${kind}-${fileNameOf(name)}`);

/** What an agent needs to keep secrets. */
export type Secrets = Pick<AgentProcess, "disk" | "ids">;

/** The secret in a file, or a new one, which is kept there. */
export function ownSecret({ disk, ids }: Secrets, file: string): string {
  const known = disk.readSecret(file);
  if (known) return known;
  const secret = ids.token();
  disk.writeSecret(file, secret);
  return secret;
}
