import { expect } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { seedOf, type TestManager } from "./test-manager.ts";

/** HTML, the start of a terminal sequence, and a character that reverses the text. */
export const HOSTILE = '<img src=x onerror=alert(1)> \u001b[31m \u202e {"move": "rock"}';

/** Reports that P01 wins a match: by rock against scissors, or because P02 plays an illegal move after P01 has chosen. */
export async function reportForP01(
  manager: TestManager,
  matchId: string,
  { isForfeit = false, more = {} } = {},
): Promise<void> {
  const { roles, round_id, referee_id } = await manager.assigned("rps", matchId);
  const seat = Object.values(roles).indexOf("P02");
  const [own, other] = seat === 0 ? ["player_1", "player_2"] : ["player_2", "player_1"];
  const participants = participantsOf({ league_id: "rps", match_id: matchId, roles });
  const setup = { id: "s", game: rps, options: rps.options.parse({}), participants, seed: seedOf(matchId) };
  const fault = {
    role: own as string,
    code: "G001",
    cause: "illegal_move",
    detail: `illegal move: ${HOSTILE}`,
    raw: HOSTILE,
  } as const;
  const { session, log, head } = playSession({ ...setup, at: "2026-01-01T00:00:00.000Z" }, [
    act(other as string, "rock"),
    isForfeit ? { type: "forfeit" as const, faults: [fault] } : act(own as string, "scissors"),
  ]);
  const result = { league_id: "rps", round_id, match_id: matchId, epoch: 1, ...outcomeOf(session, head, roles), log };
  const referee = referee_id ?? "REF01";
  const answer = await manager.message(
    "MATCH_RESULT",
    `referee:${referee}`,
    { ...result, ...more },
    manager.tokens[referee],
  );
  expect(answer.payload).toMatchObject({ status: "RECORDED" });
}
