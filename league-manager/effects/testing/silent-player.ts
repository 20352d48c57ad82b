import { expect } from "vitest";
import { startTestLeague, type TestLeague } from "./league.ts";

/** A league of two players that has started. P01 has its first announcement and does not answer it before `answer` is called. */
export async function leagueWithSilentPlayer(): Promise<{ league: TestLeague; answer: () => void }> {
  const league = await startTestLeague({ players: 0, minPlayers: 2 });
  await league.registerPlayer("P01");
  const silence = Promise.withResolvers<"accepted">();
  league.agent("P01").answer = () => silence.promise;
  await league.registerPlayer("P02");
  await league.eventually(() => expect(league.agent("P01").received).toHaveLength(1));
  return { league, answer: () => silence.resolve("accepted") };
}
