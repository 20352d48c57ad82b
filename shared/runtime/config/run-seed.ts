import { sha256Hex } from "../../lib/hash.ts";
import type { Ids } from "../../lib/ids.ts";
import { EXIT, StartError } from "../process/exit.ts";
import type { Config } from "./config.ts";
import { isStartedElsewhere } from "./players.ts";

/** A seed of this form has at least 128 bits, so a program cannot try all of them. Its randomness cannot be checked. */
const LONG_SEED = /^[\da-f]{32,}$/i;

/** Returns a random seed of 256 bits, in the form that a run needs which programs may enter that no command starts. */
export const newSeed = (ids: Pick<Ids, "token">): string => sha256Hex(ids.token());

/**
 * Whether programs may enter the leagues of a config that no command starts: every program that registers under `count`, and under `roster`
 * those at listed endpoints, those that register themselves under a listed name, and those that use the page of a person.
 */
export const admitsOthers = ({ players }: Pick<Config, "players">, startWhen: "roster" | "count"): boolean =>
  startWhen === "count" || players.some(isStartedElsewhere);

/**
 * Checks the seed that a person has chosen for a new run; null for a random one. Commitments, GAME_INVITE and GAME_RESULT are functions of the seed, so
 * a program finds a short one by trying all of them, and then computes all cards, keys and draws of the run. Throws StartError with a seed to use
 * instead if `isOpen` and the seed is too short.
 */
export function assertSeed(seed: string | null, isOpen: boolean, ids: Pick<Ids, "token">): void {
  if (seed === null || !isOpen || LONG_SEED.test(seed)) return;
  const fault = "programs that this command does not start may enter and could compute the hidden information from it";
  const remedy = `Use at least 32 hexadecimal digits, e.g. --seed ${newSeed(ids)}, or omit --seed`;
  throw new StartError(`--seed ${seed}: ${fault}. ${remedy}`, EXIT.config);
}
