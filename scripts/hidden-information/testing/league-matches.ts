/** The moves of a league match of controlled players. */
import type { ControlledPlayer } from "../../testing/controlled-player.ts";
import type { ControlledLeague } from "./league-world.ts";

/** A match and its players. */
export interface Match {
  readonly league: ControlledLeague;
  readonly seed: string;
  readonly players: ReadonlyMap<string, ControlledPlayer>;
  readonly sessionId: string;
}

export const playerOf = ({ players }: Match, role: string): ControlledPlayer => {
  const player = players.get(role);
  if (!player) throw new Error(`no player has the role ${role}`);
  return player;
};

/** Answers the open move request of a role. Resolves when the action is committed. Rejects if the action does not change the session. */
export async function move(match: Match, role: string, action: unknown): Promise<void> {
  const { league, sessionId } = match;
  const player = playerOf(match, role);
  await player.asked();
  const { matchToken: token } = await player.invitation();
  const at = `/sessions/${sessionId}/state`;
  const { tick } = (await league.referee.call("GET", at, { token })).json;
  await player.answer(action);
  const { json } = await league.referee.call("GET", `${at}?wait_after_tick=${tick}&timeout_s=25`, { token });
  if (json.tick === tick && json.status === "active")
    throw new Error(`the action ${action} of ${role} was not committed`);
}

/** Plays a round of a simultaneous game with one choice for each role. */
export const round = (match: Match, choices: readonly unknown[]): Promise<void> =>
  untilRoundIsOver(match, async () => {
    for (const [index, role] of [...match.players.keys()].entries()) await move(match, role, choices[index]);
    for (const player of match.players.values()) await player.asked();
  });

/** Plays the end of a round. Resolves when all players have received its ROUND_RESULT. */
export async function untilRoundIsOver({ players }: Match, play: () => Promise<void>): Promise<void> {
  const results = [...players.values()].map((player) => ({
    player,
    before: player.received.filter(({ type }) => type === "ROUND_RESULT").length,
  }));
  await play();
  for (const { player, before } of results) await player.receives("ROUND_RESULT", before + 1);
}
