import { type Game, winnersOf } from "../../games/game.ts";
import { findGame } from "../../games/registry.ts";
import type { GameView } from "../game-view.ts";

/** A game under test as a server would keep it: with its rules and views for several viewers. */
export interface TestingGame {
  view(role: string): GameView;
  /** Plays an action. Throws the error with which a server would reject it. */
  play(role: string, action: unknown, claim?: string): GameView;
  /** Resolves when the game is beyond this tick. */
  after(tick: number): Promise<void>;
  readonly tick: number;
}

/** Creates a game with a person, Ann, in the role `human` and agents in the other roles. */
export function testingGame(template: string, options: object = {}, human = ""): TestingGame {
  const game = findGame(template) as Game;
  let state = game.initialState({ options: game.options.parse(options), seed: "web" });
  let tick = 1;
  let last: GameView["last_action"] = null;
  let next = Promise.withResolvers<void>();
  const person = human || game.roles[0];
  const players = Object.fromEntries(
    game.roles.map((role) => [
      role,
      { kind: role === person ? "human" : "agent", name: role === person ? "Ann" : "Claude", joined: true } as const,
    ]),
  );
  const view = (role: string): GameView => {
    const outcome = game.outcome(state);
    const winners = (outcome && winnersOf(outcome)) ?? [];
    return {
      game_id: "g_test",
      template,
      name: game.info.name,
      status: outcome ? "completed" : "active",
      tick,
      your_role: role,
      roles: game.roles,
      players,
      to_act: game.toAct(state),
      state: game.viewState(state, role),
      legal_actions: game.legalActions(state, role),
      board: game.toText(state, role),
      last_action: last,
      result: outcome && {
        winners,
        winner: winners.length === 1 ? (winners[0] ?? null) : null,
        reason: outcome.reason,
        termination: "normal",
      },
    };
  };
  return {
    view,
    get tick() {
      return tick;
    },
    play(role, action, claim) {
      const applied = game.applyAction(state, role, game.action.parse(action));
      if (!applied.ok) throw new Error(applied.error.message);
      if (claim === "checkmate" && game.outcome(applied.value)?.reason !== "checkmate") {
        throw new Error("Accusation failed: Not checkmate");
      }
      state = applied.value;
      tick++;
      last = { role, action, tick };
      next.resolve();
      next = Promise.withResolvers();
      return view(role);
    },
    async after(known) {
      while (tick <= known) await next.promise;
    },
  };
}

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Returns a chess position as the side to move sees it. */
export const chessAt = (fen = START): GameView =>
  testingGame("chess.v1", { fen }).view(fen.includes(" w ") ? "white" : "black");
