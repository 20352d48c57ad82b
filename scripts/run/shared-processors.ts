import { findFormat } from "#shared/formats/registry.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { PlayerConfig } from "#shared/runtime/config/players.ts";
import { isBotFile } from "../../player/loaders/bot-files.ts";

/**
 * Returns a warning if a run may have more matches with clocks at the same time than the machine has processors, and their players are engines and
 * programs of this machine; otherwise null. A clock also runs while its engine waits for a processor that another engine uses.
 */
export function sharedProcessorsWarning(
  { leagues, players, referees }: Pick<Config, "leagues" | "players" | "referees">,
  processors: number,
): string | null {
  const capacity = referees.count * referees.max_concurrent_matches;
  const perRound = Math.min(players.filter(usesProcessor).length, Math.floor(players.length / 2));
  if (perRound === 0) return null;
  // A player of a format that opens its rounds at once can have several matches at the same time.
  const matchesOf = ({ format }: Config["leagues"][number]): number =>
    findFormat(format)?.opensRounds === "at_once" ? capacity : perRound;
  const withClocks = leagues.filter(({ clock }) => clock !== undefined);
  const atOnce = Math.min(
    capacity,
    withClocks.reduce((sum, league) => sum + matchesOf(league), 0),
  );
  if (atOnce <= processors) return null;
  return `up to ${atOnce} matches with clocks are played at the same time on ${processors} processors, and a clock also runs while its engine or program waits for a processor. Limit the matches with --concurrency, or with max_concurrent_matches of the referees in a config`;
}

function usesProcessor(player: PlayerConfig): boolean {
  if ("bot" in player) return isBotFile(player.bot) || /^(uci|lines):/.test(player.bot);
  return "uci" in player || "command" in player;
}
