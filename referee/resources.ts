import { type Game, withoutVersion } from "#shared/games/game.ts";
import { optionLines } from "#shared/games/options-in-words.ts";
import { findGameNamed, games } from "#shared/games/registry.ts";
import { isSessionId, matchRef } from "#shared/lib/ids.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/mcp.ts";
import type { Session } from "#shared/session/session.ts";
import type { RefereeDesk } from "./operations/desk.ts";
import { matchState } from "./views/match-state.ts";

/** The resources that a commit to a session has changed, for those who see what a spectator sees: nothing while a turn is open. */
export function changedBy({ referee, play }: RefereeDesk, session: Session): readonly string[] {
  if (session.status === "active" && session.turnTick !== session.tick) return [];
  const playing = referee.running().find(({ sessionId }) => sessionId === session.id);
  const ids = playing ? [playing.order.match_id, playing.ref] : [];
  const own = play.look(session.id, null) ? [session.id] : [];
  return [...own, ...ids].map((id) => `game://state/${id}`);
}

const rulesOf = (game: Game): string => `${game.info.rules}\n\n${optionLines(game)}`;

/** `game://rules/{game}`, for every game. */
export const gameRules = (): readonly Resource[] =>
  Object.values(games).map((game) => ({
    uri: `game://rules/${withoutVersion(game.id)}`,
    name: `Rules of ${game.info.name}`,
    description: `How ${game.info.name} is played and how its actions are written.`,
    mimeType: "text/plain",
    read: () => rulesOf(game),
  }));

/** `game://state/{match_id}`: what a spectator may see. */
export function refereeTemplates(desk: RefereeDesk): readonly ResourceTemplate[] {
  const read = async (ref: string): Promise<unknown> => {
    const game = isSessionId(ref) ? desk.play.look(ref, null) : null;
    if (game) return { match_id: ref, ...matchState(game.kept.session, "spectator", desk.host.lobby) };
    const found = desk.referee.sessionOf(ref);
    const session = found.ok ? desk.host.read(found.value)?.session : null;
    return session ? { match_id: ref, ...matchState(session, "spectator", desk.host.lobby) } : null;
  };
  const about = { name: "Game state", description: "The state of a match as a spectator may see it." };
  return [
    {
      uriTemplate: "game://rules/{game}",
      name: "Rules of a game",
      description: "How a game is played and how its actions are written.",
      mimeType: "text/plain",
      canExist: ({ game = "" }) => findGameNamed(game) !== undefined,
      read({ game = "" }) {
        const found = findGameNamed(game);
        return found ? rulesOf(found) : null;
      },
    },
    { ...about, uriTemplate: "game://state/{match_id}", read: ({ match_id }) => read(match_id ?? "") },
    {
      ...about,
      uriTemplate: "game://state/{league_id}/{match_id}",
      read: ({ league_id, match_id }) => read(matchRef(league_id ?? "", match_id ?? "")),
    },
  ];
}
