/** The database that several managers share. */
export const DATABASE = "database";
export const MANAGER = "manager";
export const managerName = (index: number): string => (index === 0 ? MANAGER : `${MANAGER} ${index + 1}`);
export const managerNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => managerName(n));
export const isManager = (machine: string): boolean => machine.startsWith(MANAGER);
export const refereeName = (index: number): string => `referee ${index + 1}`;
export const playerName = (index: number): string => `player ${index + 1}`;
/** The machine of a player with a display name, e.g. P1. */
export const machineOf = (displayName: string): string => playerName(Number(displayName.slice(1)) - 1);
export const copyName = (player: string): string => `${player} copy`;
export const operatorName = (number: number): string => `operator ${number}`;
export const isOperator = (machine: string): boolean => machine.startsWith("operator ");
export const VISITOR = "visitor";
