import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { BotPermissions } from "../bot-permissions.ts";
import { countOption } from "./options.ts";

const listed = (flags: string, description: string): Option =>
  new Option(flags, `${description}; may be given several times`)
    .argParser((value: string, values: readonly string[]) => [...values, value])
    .default([], "none");

/** Adds the options that give the bots of a command permissions. */
export function withPermissionOptions(command: Command): Command {
  const memory = new Option("--allow-memory <mb>", "memory that a .ts or .js bot may use, MB");
  const options = [
    new Option("--allow-net", "let a .ts or .js bot use the network"),
    listed("--allow-read <path>", "file or folder that a .ts or .js bot may read"),
    listed("--allow-write <path>", "file or folder that a .ts or .js bot may write and read"),
    listed("--allow-env <name>", "environment variable that a .ts or .js bot gets, such as an API key"),
    memory.argParser(countOption).default(BotPermissions.parse({}).memory_mb),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** The values of these options. */
export interface PermissionFlags {
  readonly allowNet?: boolean;
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  readonly allowEnv: readonly string[];
  readonly allowMemory: number;
}

/** Returns the permissions that the options of a command give. Paths are relative to the present folder. */
export const permissionsOf = ({
  allowNet = false,
  allowRead,
  allowWrite,
  allowEnv,
  allowMemory,
}: PermissionFlags): BotPermissions => ({
  net: allowNet,
  read: allowRead.map((path) => resolve(path)),
  write: allowWrite.map((path) => resolve(path)),
  env: allowEnv,
  memory_mb: allowMemory,
});

/** Returns the options that give a command these permissions. */
export const permissionArgs = ({ net, read, write, env, memory_mb }: BotPermissions): readonly string[] => [
  ...(net ? ["--allow-net"] : []),
  ...read.flatMap((path) => ["--allow-read", path]),
  ...write.flatMap((path) => ["--allow-write", path]),
  ...env.flatMap((name) => ["--allow-env", name]),
  ...["--allow-memory", String(memory_mb)],
];
