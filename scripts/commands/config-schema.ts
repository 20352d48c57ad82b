import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Config } from "#shared/runtime/config/config.ts";

/** Returns the JSON Schema with which editors check a config. `npm run schema` writes it to `SCHEMA_FILE`. */
export const configSchema = (): string =>
  `${JSON.stringify({ title: "agent-league config", ...z.toJSONSchema(Config, { io: "input", unrepresentable: "any" }) }, null, 2)}\n`;

export const SCHEMA_FILE = fileURLToPath(new URL("../../config/league.schema.json", import.meta.url));

if (import.meta.main) writeFileSync(SCHEMA_FILE, configSchema());
