import { type Game, optionLines, withoutVersion } from "#shared/games/game.ts";
import { findGameNamed, knownGames } from "#shared/games/registry.ts";
import { isSessionId, matchRef } from "#shared/lib/ids.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/methods.ts";
import type { Session } from "#shared/session/session.ts";
import type { RefereeContext } from "./operations.ts";
import { matchState } from "./views.ts";

/** The URIs of the resources that a commit to a session has changed for spectators. Empty while a simultaneous turn is open. */
export function changedBy({ referee, play }: RefereeContext, session: Session): readonly string[] {
  if (session.status === "active" && session.turnTick !== session.tick) return [];
  const match = referee.running().find(({ sessionId }) => sessionId === session.id);
  const matchIds = match ? [match.order.match_id, match.ref] : [];
  const gameIds = play.accessTo(session.id, null) ? [session.id] : [];
  return [...gameIds, ...matchIds].map((id) => `game://state/${id}`);
}

const rulesOf = (game: Game): string => `${game.info.rules}\n\n${optionLines(game)}`;

/** The resources `game://rules/{game}` of all games. */
export const gameRules = (): readonly Resource[] =>
  knownGames().map((game) => ({
    uri: `game://rules/${withoutVersion(game.id)}`,
    name: `Rules of ${game.info.name}`,
    description: `The rules and options of ${game.info.name}, and how its actions are written.`,
    mimeType: "text/plain",
    read: () => rulesOf(game),
  }));

/** The templates `game://rules/{game}` and `game://state/{match_id}`, which show the view of a spectator. */
export function refereeTemplates(context: RefereeContext): readonly ResourceTemplate[] {
  const read = async (ref: string): Promise<unknown> => {
    const game = isSessionId(ref) ? context.play.accessTo(ref, null) : null;
    if (game) return { match_id: ref, ...matchState(game.stored.session, "spectator", context) };
    const found = context.referee.sessionOf(ref);
    const session = found.ok ? context.host.read(found.value)?.session : null;
    return session ? { match_id: ref, ...matchState(session, "spectator", context) } : null;
  };
  const gameState = { name: "Game state", description: "The state of a match as a spectator may see it." };
  return [
    {
      uriTemplate: "game://rules/{game}",
      name: "Rules of a game",
      description: "The rules and options of a game, and how its actions are written.",
      mimeType: "text/plain",
      canExist: ({ game = "" }) => findGameNamed(game) !== undefined,
      read({ game = "" }) {
        const found = findGameNamed(game);
        return found ? rulesOf(found) : null;
      },
    },
    { ...gameState, uriTemplate: "game://state/{match_id}", read: ({ match_id }) => read(match_id ?? "") },
    {
      ...gameState,
      uriTemplate: "game://state/{league_id}/{match_id}",
      read: ({ league_id, match_id }) => read(matchRef(league_id ?? "", match_id ?? "")),
    },
  ];
}
