import { appendFileSync } from "node:fs";
import type { BotObject, MatchInfo, Turn } from "../../player/sdk.ts";

/** A view that a player received with a request for a move. Its state has been committed, so it must be in the final log. */
export interface Seen {
  readonly league_id: string;
  readonly match_id: string;
  readonly epoch: number;
  readonly role: string;
  readonly tick: number;
  readonly view: unknown;
}

/** A bot that moves at random, and appends each view that it receives to the file in the environment variable CHAOS_SEEN. */
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
