import { sha256Hex } from "#shared/lib/hash.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { parseEntry } from "#shared/session/entry.ts";

/** The number of games of two players in the same roles after which equal games are reported. */
const ENOUGH = 5;

interface Games {
  /** The hash of the actions of all games so far; null if two games differ. */
  actions: string | null;
  count: number;
}

/** Finds players that play the same game again and again. The statistics take games as independent, so they would claim too much. */
export class Repetitions {
  /** By the ids of the players in the order of the roles. */
  readonly #games = new Map<string, Games>();

  /** Adds a game that is over. Forfeits and aborted games are not examined, nor are games of players that have played two different games. */
  add({ log, termination }: MatchResult): void {
    const first = log[0] === undefined ? null : parseEntry(log[0]);
    if (first?.type !== "created" || termination !== "normal") return;
    const players = Object.values(first.participants)
      .map((agent) => agent.split("@")[0])
      .join(" ");
    const games = this.#games.get(players);
    if (games?.actions === null) return;
    const actions = sha256Hex(JSON.stringify(log.slice(1).map(actionOf)));
    if (games === undefined) this.#games.set(players, { actions, count: 1 });
    else if (games.actions === actions) games.count++;
    else games.actions = null;
  }

  /** The ids of the players in the order of the roles, for each order in which all games were equal. */
  equal(): readonly (readonly string[])[] {
    return [...this.#games].flatMap(([players, { actions, count }]) =>
      actions !== null && count >= ENOUGH ? [players.split(" ")] : [],
    );
  }
}

function actionOf(text: string): unknown {
  const entry = parseEntry(text);
  return entry.type === "acted" ? [entry.role, entry.action] : entry.type;
}

/** The notice that all games of these players in these roles are equal. `needsOpenings`: openings can make the games different. */
export const repetitionText = (names: readonly string[], needsOpenings: boolean): string =>
  `all games of ${names.join(" and ")} in these roles are equal, so more games show no more, and the interval is too small${
    needsOpenings ? "; use --openings to make the games different" : ""
  }`;
