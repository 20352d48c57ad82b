import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { currentMatches, type Match } from "../league/league.ts";
import type { ManagerState } from "../ledger.ts";

/** The players of a match that speak another dialect. Each of them has one match at a time, also in several leagues. */
export const foreignPlayers = ({ agents }: Pick<ManagerState, "agents">, { players }: Match): readonly string[] =>
  players.filter((id) => (agents.get(id)?.dialect ?? NATIVE) !== NATIVE);

/** The players that have an assigned match in any league. */
export function occupiedPlayers({ leagues }: Pick<ManagerState, "leagues">): Set<string> {
  const occupied = new Set<string>();
  for (const league of leagues.values()) {
    for (const { status, players } of currentMatches(league)) {
      if (status === "assigned") for (const id of players) occupied.add(id);
    }
  }
  return occupied;
}
