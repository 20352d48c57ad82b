import { codenames } from "#shared/games/codenames.ts";
import type { Role } from "#shared/games/game.ts";
import type { InputNeeded } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import type { Session } from "#shared/session/session.ts";
import { secretFrom } from "../sessions/host.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import type { PlayerType } from "./flow.ts";
import { type DirectorContext, endGame, isOpen, ledGame, sessionOf, TOKEN_PURPOSE, tokenOf } from "./led-games.ts";
import { bearerOwner, isBearerOwner, ownerOf, setupOwner } from "./owners.ts";
import { advance } from "./rounds.ts";
import type { LedGame } from "./table.ts";

export type Players = Readonly<Record<Role, PlayerType>>;

/**
 * Runs games of Codenames: asks the role that is to act, submits the answer to the session host and reports the progress. Each decision is
 * committed before the next question is asked, so another call can continue after an interruption.
 */
export interface Director {
  /** Begins a game for a caller. Resolves with null while another game is being created for the same caller. `setupId` identifies the rounds before the game. */
  begin(players: Players, words: readonly string[] | null, setupId: string, caller: Caller): Promise<LedGame | null>;
  /** The game of a game token. Without a token, the open game of the caller, or else its last one. */
  gameOf(token: string | undefined, caller: Caller): LedGame | null;
  /** The game that these rounds have created, for a caller without a bearer token and a session. */
  begunBy(setupId: string): LedGame | null;
  gameById(sessionId: string): LedGame | null;
  /** Whether a token is a game token or the bearer token of the owner of a game. */
  knows(token: string): boolean;
  isOpen(game: LedGame): boolean;
  /** Makes a caller that has the game token the owner of the game, unless the game belongs to a bearer token. */
  adopt(game: LedGame, caller: Caller): Promise<void>;
  /** Applies the answer of the caller if it belongs to the open question. Resolves with the next question, or null if the game is over. */
  advance(sessionId: string, caller: Caller): Promise<InputNeeded | null>;
  /** Ends a game at the request of its user. */
  end(sessionId: string): Promise<void>;
  session(sessionId: string): Session;
  tokenOf(sessionId: string): string;
}

export function createDirector(context: DirectorContext): Director {
  const { table, writer } = context;
  /** Owners whose game is being created. */
  const beginning = new Set<string>();
  return {
    session: (sessionId) => sessionOf(context, sessionId),
    tokenOf: (sessionId) => tokenOf(context, sessionId),
    end: (sessionId) => endGame(context, sessionId),
    async begin(players, words, setupId, caller) {
      const owner = ownerOf(caller) ?? setupOwner(setupId);
      if (beginning.has(owner)) return null;
      beginning.add(owner);
      try {
        return await createLedGame(context, owner, players, words);
      } finally {
        beginning.delete(owner);
      }
    },
    gameOf(token, caller) {
      if (token !== undefined) return table.byToken(token);
      const owner = ownerOf(caller);
      return owner === null ? null : table.of(owner);
    },
    begunBy: (setupId) => table.of(setupOwner(setupId)),
    gameById: table.get,
    knows: (token) => (table.byToken(token) ?? table.of(bearerOwner(token))) !== null,
    isOpen: (game) => isOpen(context, game),
    async adopt({ sessionId, owner }, caller) {
      const newOwner = ownerOf(caller);
      if (newOwner === null || newOwner === owner || isBearerOwner(owner)) return;
      await writer.commit([table.owning(sessionId, newOwner)]);
    },
    advance: (sessionId, caller) => advance(context, sessionId, caller),
  };
}

async function createLedGame(
  context: DirectorContext,
  owner: string,
  players: Players,
  words: readonly string[] | null,
): Promise<LedGame> {
  const options = codenames.options.parse(words ? { words } : {});
  const assignedSeats = codenames.roles.map((role): PlaySeat => {
    const type = players[role] ?? "llm";
    const kind = type === "user" ? "human" : "agent";
    return { role, kind, name: type, joined: true, isCreator: false, holder: null };
  });
  const pending = { tick: 0, stage: "clue", attempt: 1, problem: null } as const;
  const alongside = (sessionId: string, seed: string) => [
    context.table.adding({ sessionId, owner, players, pending }, secretFrom(seed, TOKEN_PURPOSE)),
  ];
  const { id } = await context.play.open({ game: codenames, options, assignedSeats, alongside });
  return ledGame(context, id);
}
