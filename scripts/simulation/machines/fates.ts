import type { Random } from "#shared/lib/rng.ts";
import type { Disturbance } from "../disturbance.ts";
import type { Plan } from "../plan.ts";
import type { Fate } from "./connection.ts";

/** The maximum delay without disturbances. Most messages take a few milliseconds. */
const MAX_DELAY_MS = 40;

/** Decides the fate of a request that is sent now. */
type FateOf = (from: string, to: string) => Fate;

/** Returns a function that applies the disturbances of a plan at the time of each request. */
export const fatesOf =
  ({ disturbances }: Plan, now: () => number, random: Random): FateOf =>
  (from, to) => {
    const delay = (): number => random.next() ** 4 * MAX_DELAY_MS;
    let fate: Fate = { requestMs: delay(), replyMs: delay(), request: "arrives", reply: "arrives" };
    for (const one of disturbances) {
      if ("ms" in one && now() >= one.at && now() < one.at + one.ms) fate = disturbed(fate, one, from, to, random);
    }
    return fate;
  };

/** Returns the fate of a request after one disturbance. */
function disturbed(fate: Fate, one: Disturbance, from: string, to: string, random: Random): Fate {
  if (one.type === "partition") {
    const isBetween = one.between.includes(from) && one.between.includes(to);
    return isBetween ? { ...fate, request: one.isSilent ? "silent" : "reset" } : fate;
  }
  if (!("machine" in one) || (one.machine !== from && one.machine !== to)) return fate;
  if (one.type === "slow") {
    const [request, reply] = [random.next() * one.delayMs, random.next() * one.delayMs];
    return { ...fate, requestMs: fate.requestMs + request, replyMs: fate.replyMs + reply };
  }
  if (one.type === "late copies" && one.machine === to && random.next() < one.share)
    return { ...fate, copyMs: random.next() * one.delayMs };
  if (one.type === "lossy" && random.next() < one.share) {
    return random.pick<Fate>([
      { ...fate, request: "reset" },
      { ...fate, reply: "reset" },
      { ...fate, request: "arrives twice" },
    ]);
  }
  return fate;
}
