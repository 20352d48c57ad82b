import type { MatchRow } from "../documents/league.ts";

/** A match in a sentence: "Ann against Bob: Ann wins (mate)". */
export function matchSentence({ players, result }: MatchRow): string {
  const names = players.map(({ name }) => name).join(" against ");
  return result === null ? names : `${names}: ${result}`;
}
