import type { Game } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { memoized } from "#shared/lib/memoized.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import type { Caller } from "./caller.ts";
import type { Acceptance, Check, CheckContext, CheckId, Finding } from "./check.ts";
import { jsonRpc, reachable, slowNetwork } from "./checks/connection.ts";
import { games, gamesToCheck, invitation, inviteTo, moves, parallel, series } from "./checks/matches.ts";
import { malformed, notifications, repeated, token } from "./checks/messages.ts";
import { registration } from "./checks/registration.ts";
import { type GivenOptions, Matches } from "./matches.ts";
import type { RegistrationRecord } from "./registration-desk.ts";
import type { Subject } from "./subject.ts";

interface CheckOptions {
  /** The client with which the player is called. It is closed at the end. */
  readonly caller: Caller;
  readonly clock: Clock;
  readonly ids: Ids;
  /** null if the player has not registered. */
  readonly subject: Subject | null;
  /** null for a player that is checked at its URL. */
  readonly registration: RegistrationRecord | null;
  /** The checks to run, with those that they need; null for all. */
  readonly only: readonly CheckId[] | null;
  /** The games to check; null for all games that the player claims to play. */
  readonly games: readonly Game[] | null;
  /** Options of one game, which is played only with them; by default the games have their default options and a few others. */
  readonly gameOptions?: GivenOptions | null;
  /** The time limit of a move, in milliseconds. */
  readonly moveMs: number;
  /** The time limit of an invitation, in milliseconds; that of a league by default. */
  readonly joinMs?: number;
  /** Called with each result, and with the tokens and signatures that no output may contain. */
  readonly onResult: (result: CheckResult, secrets: readonly string[]) => void;
  /** Returns the lines that the player has printed since the last call. */
  readonly takeOutput?: () => readonly string[];
}

/** Checks a player. Resolves with the results in the order of the checks. */
export async function checkPlayer(options: CheckOptions): Promise<readonly CheckResult[]> {
  const { caller, clock, ids, subject, registration, only, games, moveMs, onResult, takeOutput } = options;
  const { joinMs = Timeouts.parse({}).join_ms, gameOptions } = options;
  const matches = new Matches(caller, clock, ids, { join_ms: joinMs, move_ms: moveMs }, gameOptions);
  const context: CheckContext = {
    clock,
    ids,
    caller,
    matches,
    registration,
    subject,
    moveMs,
    onlyGames: games,
    // Each invitation has a time limit. A failure would be the same again: the player plays no game of the check.
    firstInvitation: memoized(() => firstInvitation(context)),
    facts: { games: [], moves: [] },
  };
  try {
    const secrets = (): readonly string[] => [subject?.token ?? "", ...caller.secrets()];
    return await runChecks(selectedChecks(only), context, (result) => onResult(result, secrets()), takeOutput);
  } finally {
    await caller.peers.close();
  }
}

/** Invites the player to the first game that it plays. A player whose games are not known may decline some games. */
async function firstInvitation(context: CheckContext): Promise<Acceptance> {
  let last: Acceptance | null = null;
  for (const game of gamesToCheck(context)) {
    last = await inviteTo(context, game);
    if (last.fault?.cause !== "declined" || context.subject?.games !== null) break;
  }
  if (last === null) throw new Error("the player plays no game of the check");
  return last;
}

/** All checks in their order. The number of a check is its position, from 1. */
export const CHECKS: readonly Check[] = [
  registration,
  reachable,
  jsonRpc,
  invitation,
  games,
  moves,
  notifications,
  repeated,
  malformed,
  slowNetwork,
  parallel,
  token,
  series,
];

export type Outcome = "pass" | "warn" | "fail" | "skipped";

export interface CheckResult {
  readonly number: number;
  readonly id: CheckId;
  readonly title: string;
  readonly outcome: Outcome;
  readonly summary: string;
  readonly findings: readonly Finding[];
  /** The number of the failed check for which this one was skipped; null for a check that has run. */
  readonly becauseOf: number | null;
  /** The lines that the player has printed during a check with findings. */
  readonly output: readonly string[];
}

/** Returns the selected checks and those that they need, in their order. */
function selectedChecks(only: readonly CheckId[] | null): readonly Check[] {
  if (only === null) return CHECKS;
  const selected = new Set<CheckId>();
  const add = (id: CheckId): void => {
    selected.add(id);
    for (const need of CHECKS.find((check) => check.id === id)?.needs ?? []) add(need);
  };
  for (const id of only) add(id);
  return CHECKS.filter(({ id }) => selected.has(id));
}

/**
 * Runs checks in their order and passes each result to `onResult`. A check is skipped if a check that it needs has failed or was skipped, so that one
 * fault is reported once. `takeOutput` returns the lines that the player has printed since its last call.
 */
async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
  takeOutput: () => readonly string[] = () => [],
): Promise<readonly CheckResult[]> {
  const results = new Map<CheckId, CheckResult>();
  for (const check of checks) {
    const { id, title, needs } = check;
    const head = { number: CHECKS.indexOf(check) + 1, id, title };
    const blocking = needs.map((need) => results.get(need)).find((need) => need && isFailed(need));
    const becauseOf = blocking ? (blocking.becauseOf ?? blocking.number) : null;
    let result: CheckResult;
    if (becauseOf !== null) {
      result = {
        ...head,
        outcome: "skipped",
        summary: `because of check ${becauseOf}`,
        findings: [],
        becauseOf,
        output: [],
      };
    } else {
      const { summary, findings } = await check.run(context);
      const output = takeOutput();
      const shownOutput = findings.length === 0 ? [] : output;
      result = { ...head, outcome: outcomeOf(findings), summary, findings, becauseOf, output: shownOutput };
    }
    results.set(id, result);
    onResult(result);
  }
  return [...results.values()];
}

const isFailed = ({ outcome }: CheckResult): boolean => outcome === "fail" || outcome === "skipped";

function outcomeOf(findings: readonly Finding[]): Outcome {
  if (findings.length === 0) return "pass";
  return findings.some(({ severity }) => severity === "fail") ? "fail" : "warn";
}
