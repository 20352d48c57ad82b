import { expect } from "vitest";
import { startTestLeague, type TestLeague } from "./league.ts";

/** Starts a league of two players in which P01 does not answer its first announcement until `answer` is called. */
export async function leagueWithSilentPlayer(): Promise<{ league: TestLeague; answer: () => void }> {
  const league = await startTestLeague({ players: 0, minPlayers: 2 });
  await league.registerPlayer("P01");
  const pendingAnswer = Promise.withResolvers<"accepted">();
  league.agent("P01").answer = () => pendingAnswer.promise;
  await league.registerPlayer("P02");
  await league.eventually(() => expect(league.agent("P01").received).toHaveLength(1));
  return { league, answer: () => pendingAnswer.resolve("accepted") };
}
