import { fileURLToPath } from "node:url";

/** What is played when no config is named. */
export const DEFAULT_CONFIG = fileURLToPath(new URL("../config/league.json", import.meta.url));
