import { DIALECT_PROGRAMS, type DialectProgram } from "./dialect-programs.ts";
import { playerName } from "./machines/names.ts";
import type { Plan } from "./plan.ts";

/** Whether a contact of a player, or another text, is a program of a dialect. */
export const isDialect = (contact: string | undefined): contact is DialectProgram =>
  DIALECT_PROGRAMS.some((program) => program === contact);

/** Returns the program of a player that plays in another dialect; null for other players. */
export function dialectOf({ contacts }: Pick<Plan, "contacts">, index: number): DialectProgram | null {
  const contact = contacts?.[index];
  return isDialect(contact) ? contact : null;
}

/** Whether a machine is not that of a player with an inbox or of another dialect. */
export const isCalled = ({ contacts = [] }: Plan, machine: string): boolean =>
  (contacts.find((_, n) => playerName(n) === machine) ?? "endpoint") === "endpoint";

/** Whether a player comes late. */
export const isLate = ({ lateMs }: Pick<Plan, "lateMs">, index: number): boolean => (lateMs?.[index] ?? 0) > 0;

/** Returns the number of players for which the league waits. */
export const punctualPlayers = (plan: Pick<Plan, "players" | "lateMs">): number =>
  plan.players.filter((_, n) => !isLate(plan, n)).length;

/** Returns the time, in ms, before which the process of a machine does not start: that of a player that comes late. */
export const startsAt = ({ lateMs = [] }: Plan, machine: string): number =>
  lateMs[lateMs.findIndex((_, n) => playerName(n) === machine)] ?? 0;

/** The address of hostile players. All other machines have the loopback address. */
const HOSTILE_ADDRESS = "10.0.0.66";
export const addressOf = ({ players }: Plan, machine: string): string =>
  players.some((behaviour, n) => behaviour === "hostile" && machine.startsWith(playerName(n)))
    ? HOSTILE_ADDRESS
    : "127.0.0.1";
