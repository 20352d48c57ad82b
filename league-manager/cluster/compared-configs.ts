import { z } from "zod";
import { canonicalJson } from "#shared/games/contract/values.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { DatabaseUnavailable, type Member, type RunDatabase } from "../shared-run/run-database.ts";

/** The signal with which a manager sends the fingerprints of its config to the others. */
const ConfigSignal = z.object({
  type: z.literal("config"),
  manager_id: z.string(),
  url: z.string(),
  /** Whether this answers a manager with another config. */
  is_answer: z.boolean(),
  /** The fingerprint of each part, by its name. */
  parts: z.record(z.string(), z.string()),
});

interface ConfigOptions {
  readonly database: Pick<RunDatabase, "signal" | "onSignal">;
  readonly config: Config;
  readonly self: Member;
  /** The secret of the run. It is the key of the fingerprints, so that a join code cannot be guessed from them. */
  readonly secret: string;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

/** The number of characters of a fingerprint. */
const FINGERPRINT_LENGTH = 16;

/**
 * Compares the config of this manager with those of the other managers, now and when another one starts. Both managers warn if a part differs that must
 * be the same. Returns a function that ends the comparison.
 */
export function compareConfigs({ database, config, self, secret, warn }: ConfigOptions): () => void {
  const parts = fingerprints(config, secret);
  const warnedOf = new Set<string>();
  const send = (isAnswer: boolean): void => {
    const { managerId: manager_id, url } = self;
    const text = JSON.stringify({ type: "config", manager_id, url, is_answer: isAnswer, parts });
    database.signal(text).catch((thrown) => {
      if (!(thrown instanceof DatabaseUnavailable)) throw thrown; // the others compare again at their next start
    });
  };
  const removeListener = database.onSignal((text) => {
    const signal = ConfigSignal.safeParse(parsedJson(text));
    if (!signal.success) return;
    const { manager_id, url, is_answer, parts: others } = signal.data;
    const differing = Object.keys({ ...parts, ...others }).filter((part) => parts[part] !== others[part]);
    if (differing.length === 0 || warnedOf.has(manager_id)) return;
    warnedOf.add(manager_id);
    warn(
      `the manager at ${url} has another config: ${differing.join(", ")} ${differing.length === 1 ? "differs" : "differ"}. Start every manager with the same config`,
    );
    if (!is_answer) send(true);
  });
  send(false);
  return removeListener;
}

/**
 * The fingerprints of the parts of a config that all managers of a run must have. The address of a manager, its data folder, its proxies and the
 * referees that it starts may differ.
 */
function fingerprints(config: Config, secret: string): Readonly<Record<string, string>> {
  const { manager, leagues, players, timeouts, limits, allowed_hosts, allowed_origins } = config;
  const parts = {
    ...{ leagues, players, limits, allowed_hosts, allowed_origins },
    "manager.join_code": manager.join_code,
    "manager.operator_token": manager.operator_token,
    ...Object.fromEntries(Object.entries(timeouts).map(([name, value]) => [`timeouts.${name}`, value])),
  };
  return Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [
      part,
      hmacBase64Url(secret, `config ${part} ${canonicalJson(value ?? null)}`).slice(0, FINGERPRINT_LENGTH),
    ]),
  );
}
