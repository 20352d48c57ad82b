import { onTestFinished } from "vitest";
import { type ForeignPlayer, type ForeignPlayerOptions, foreignPlayer } from "./foreign-player.ts";
import { startTestLeague, type TestLeague, type TestLeagueOptions } from "./in-process-league.ts";

interface Played {
  readonly player: ForeignPlayer;
  readonly league: TestLeague;
  readonly match: Awaited<ReturnType<TestLeague["match"]>>;
}

/** Plays a league of one match between a player of another dialect, P01, and a native bot, with a real manager and a real referee. */
export async function playedBy(
  options: Partial<ForeignPlayerOptions>,
  more: Partial<TestLeagueOptions> = {},
): Promise<Played> {
  const ann = foreignPlayer({ name: "Ann", ...options });
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
    players: [ann, { name: "Bob", bot: "random" }],
    timeouts: { join_ms: 3_000, move_ms: 3_000 },
    ...more,
  });
  onTestFinished(() => league.stop());
  await league.completed;
  const [{ league_id } = { league_id: "" }] = more.leagues ?? [{ league_id: "parity" }];
  return { player: ann.player, league, match: await league.match(league_id, "R1M1") };
}
