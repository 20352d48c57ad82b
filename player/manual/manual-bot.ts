import { isDeepStrictEqual } from "node:util";
import { listName, readMove, whyUnread, wordOf } from "#shared/games/read-move.ts";
import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Answer } from "#shared/rpc/mcp/operations.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { MatchInfo, Turn } from "../sdk.ts";

interface Waiting {
  readonly info: MatchInfo | null;
  readonly turn: Turn;
  readonly answer: (move: unknown) => void;
}

/** A player run by hand: what it is asked waits until make_move answers it or its time is over. */
export interface ManualBot {
  readonly bot: LoadedBot;
  /** Answers the request of a match, the oldest one when none is named. An illegal move is refused here, and the request waits on. */
  makeMove(move: unknown, matchId: string | null): Answer;
  /** What is asked now, oldest first. */
  asked(): readonly object[];
}

const isNamed = (info: MatchInfo | null, name: string): boolean =>
  info !== null && (info.matchId === name || matchRef(info.leagueId, info.matchId) === name);

const namesOf = (waiting: readonly Waiting[]): string =>
  waiting.flatMap(({ info }) => (info ? [matchRef(info.leagueId, info.matchId)] : [])).join(", ");

/** Moves that a line lists; get_my_state has them all. */
const MOST_NAMED = 30;

/** What a person needs to know to move. */
function asksFor({ info, turn }: Waiting): string {
  const where = info ? matchRef(info.leagueId, info.matchId) : turn.game;
  const seconds = Math.ceil(turn.clock.remainingMs() / 1000);
  const { legal }: { legal: readonly unknown[] } = turn;
  const more = legal.length > MOST_NAMED ? `, and ${legal.length - MOST_NAMED} more` : "";
  const game = findGame(turn.game);
  const named = legal.slice(0, MOST_NAMED).map((one) => wordOf(one, game));
  const moves = `${listName(game)}: ${named.join(", ")}${more}`;
  const ask = `your move as ${turn.role} in ${where} (${turn.game}), within ${seconds} s: call make_move`;
  return `${ask}. ${moves}. ${JSON.stringify(turn.view)}`;
}

export function createManualBot(): ManualBot {
  const waiting: Waiting[] = [];
  const forget = (one: Waiting): void => {
    const place = waiting.indexOf(one);
    if (place >= 0) waiting.splice(place, 1);
  };

  const choose = (info: MatchInfo | null, turn: Turn): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const one: Waiting = { info, turn, answer: resolve };
      waiting.push(one);
      turn.log(asksFor(one));
      turn.signal.addEventListener("abort", () => {
        forget(one);
        reject(new Error("no move was made in time"));
      });
    });

  return {
    bot: {
      name: "manual",
      file: null,
      looksBack: false,
      create() {
        let info: MatchInfo | null = null;
        return {
          start(match) {
            info = match;
          },
          choose: (turn) => choose(info, turn),
        };
      },
    },
    makeMove(move, matchId) {
      const meant = waiting.filter(({ info }) => matchId === null || isNamed(info, matchId));
      const [one] = meant;
      if (!one) {
        const now = waiting.length === 0 ? "no move is asked of you now" : `asked are ${namesOf(waiting)}`;
        return err(
          protocolError("G004", matchId === null ? now : `${matchId} asks no move of you now; ${now}`, {}, true),
        );
      }
      if (matchId !== null && meant.length > 1) {
        return err(protocolError("G004", `which one: ${namesOf(meant)}?`, {}, true));
      }
      const { turn } = one;
      const game = findGame(turn.game);
      const action = game ? readMove(game, turn.view, turn.role, move) : move;
      const legal: readonly unknown[] = turn.legal;
      // Of a move that no list has to hold the referee says whether it is legal, and asks again.
      const isUnlisted = game?.info.listsSample === true && game.action.safeParse(action).success;
      if (!isUnlisted && !legal.some((each) => isDeepStrictEqual(each, action))) {
        const named = legal.map((one) => wordOf(one, game)).join(", ");
        const why = whyUnread(game, turn.view, move);
        const illegal = `Illegal move ${wordOf(move, game)}${why ? `: ${why}` : ""}`;
        return err(protocolError("G001", `${illegal}. ${listName(game)}: ${named}`, {}, true));
      }
      forget(one);
      one.answer(action);
      return ok({ status: "SENT", game: turn.game, your_role: turn.role, tick: turn.tick, move: action });
    },
    asked: () =>
      waiting.map(({ info, turn }) => ({
        league_id: info?.leagueId,
        match_id: info?.matchId,
        game: turn.game,
        your_role: turn.role,
        tick: turn.tick,
        game_state: turn.view,
        legal_actions: turn.legal,
        deadline: turn.clock.deadline.toISOString(),
      })),
  };
}
