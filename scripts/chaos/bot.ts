import { appendFileSync } from "node:fs";
import type { BotObject, MatchInfo, Turn } from "../../player/sdk.ts";

/** What a player was shown when it was asked: whatever its view holds has been acknowledged and must be in the log. */
export interface Seen {
  readonly league_id: string;
  readonly match_id: string;
  readonly epoch: number;
  readonly role: string;
  readonly tick: number;
  readonly view: unknown;
}

/** A random bot that keeps a record of everything it is shown, in the file that CHAOS_SEEN names. */
export default (): BotObject => {
  let match: MatchInfo | null = null;
  return {
    start(info) {
      match = info;
    },
    choose({ role, tick, view, legal, random }: Turn) {
      const file = process.env.CHAOS_SEEN;
      if (file && match) {
        const { leagueId: league_id, matchId: match_id, epoch } = match;
        const seen: Seen = { league_id, match_id, epoch, role, tick, view };
        appendFileSync(file, `${JSON.stringify(seen)}\n`);
      }
      return random.pick<unknown>(legal);
    },
  };
};
