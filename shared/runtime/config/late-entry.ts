import type { Format } from "../../formats/format.ts";
import type { Game } from "../../games/game.ts";

const LATE_ENTRY = ["makeup", "forfeit", "closed"] as const;

interface LateEntryConfig {
  readonly format: string;
  readonly format_options: Readonly<Record<string, unknown>>;
  readonly late_entry: (typeof LATE_ENTRY)[number];
  readonly teams?: unknown;
}

/** The options of the format of a league. Late entries that make up for their missed matches are an option of a round robin. */
export const withLateEntry = ({ format, format_options, late_entry }: LateEntryConfig): Record<string, unknown> => ({
  ...format_options,
  ...(format === "round-robin" && late_entry === "makeup" && { makeup: true }),
});

/** Returns why `late_entry` of a league does not suit its format, or null if the format has matches for late entries. */
export function faultOfLateEntry(league: LateEntryConfig, format: Format, game: Game): string | null {
  const takes = (late_entry: LateEntryConfig["late_entry"]): boolean => {
    if (late_entry === "closed") return true;
    const options = format.options.safeParse(withLateEntry({ ...league, late_entry }));
    // Options with a fault are reported as such.
    if (!options.success) return true;
    return !league.teams && (format.takesLateEntries?.(options.data, game.roles.length) ?? true);
  };
  if (takes(league.late_entry)) return null;
  const accepted = LATE_ENTRY.filter(takes).map((value) => JSON.stringify(value));
  const competition = league.teams ? "a league of teams" : `${format.id} in a game of ${game.roles.length} roles`;
  return `${competition} has no matches for players that enter after the start with ${JSON.stringify(league.late_entry)}. Use ${accepted.join(" or ")}.`;
}
