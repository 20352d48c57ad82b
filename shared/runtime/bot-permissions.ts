import { z } from "zod";

/** What the code of a .ts or .js bot may use besides the code that it imports. */
export const BotPermissions = z.strictObject({
  net: z.boolean().default(false).describe("whether it may use the network"),
  read: z
    .array(z.string().min(1))
    .readonly()
    .default([])
    .describe("files and folders that it may read, relative to this file"),
  write: z
    .array(z.string().min(1))
    .readonly()
    .default([])
    .describe("files and folders that it may write and read, relative to this file"),
  env: z
    .array(z.string().min(1))
    .readonly()
    .default([])
    .describe("the names of environment variables that it gets, such as API keys"),
  memory_mb: z.int().min(1).default(1_024).describe("the memory that its process may use, MB"),
});
export type BotPermissions = z.output<typeof BotPermissions>;
