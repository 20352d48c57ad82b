import { findGame } from "#shared/games/registry.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { playSession } from "#shared/session/testing/play.ts";
import { AT } from "../../league/testing/leagues.ts";

/** A match of the players P01 and P02 after these commands, which end it. */
export function matchAfter(gameId: string, commands: readonly Command[]) {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const [first = "", second = ""] = game.roles;
  const match = { league_id: "class", match_id: "R1M1", round_id: 1, roles: { [first]: "P01", [second]: "P02" } };
  const options = game.options.parse({});
  const setup = { id: "s", game, options, participants: participantsOf(match), seed: "seed", at: AT };
  const { session, log, head } = playSession(setup, commands);
  const rest = { game: gameId, options, referee_id: "REF01", epoch: 1, seed: "seed", log: [...log] };
  return { ...match, ...outcomeOf(session, head, match.roles), ...rest };
}
