import { legalMove, listName, wordOf } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { shownView } from "#shared/games/view-history.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Answer } from "#shared/rpc/mcp/operations.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { MatchInfo, Turn } from "../sdk.ts";

/** A request that make_move has not answered yet. */
interface OpenRequest {
  readonly info: MatchInfo | null;
  readonly turn: Turn;
  readonly answer: (move: unknown) => void;
}

/** The bot of a player run by hand. A request is open until make_move answers it or its time is over. */
export interface ManualBot {
  readonly bot: LoadedBot;
  /** Answers the open request of a match, or the oldest one if `matchId` is null. Rejects an illegal move (G001) and leaves its request open. */
  makeMove(move: unknown, matchId: string | null): Answer;
  /** The open requests, oldest first. */
  asked(): readonly object[];
}

const isNamed = (info: MatchInfo | null, name: string): boolean =>
  info !== null && (info.matchId === name || matchRef(info.leagueId, info.matchId) === name);

const namesOf = (requests: readonly OpenRequest[]): string =>
  requests.flatMap(({ info }) => (info ? [matchRef(info.leagueId, info.matchId)] : [])).join(", ");

/** The number of legal moves in a line on the terminal; get_my_state lists all of them. */
const MAX_LISTED = 30;

/** The view of a turn as it is shown to a person or a model. */
const shownTo = ({ game, view }: Turn): unknown => shownView(findGame(game)?.info ?? {}, view);

/** The line on the terminal for a request. */
function lineFor({ info, turn }: OpenRequest): string {
  const where = info ? matchRef(info.leagueId, info.matchId) : turn.game;
  const seconds = Math.ceil(turn.clock.remainingMs() / 1000);
  const { legal }: { legal: readonly unknown[] } = turn;
  const more = legal.length > MAX_LISTED ? `, and ${legal.length - MAX_LISTED} more` : "";
  const game = findGame(turn.game);
  const named = legal.slice(0, MAX_LISTED).map((move) => wordOf(move, game));
  const moves = `${listName(game)}: ${named.join(", ")}${more}`;
  const ask = `your move as ${turn.role} in ${where} (${turn.game}), within ${seconds} s: call make_move`;
  return `${ask}. ${moves}. ${JSON.stringify(shownTo(turn))}`;
}

export function createManualBot(): ManualBot {
  const requests: OpenRequest[] = [];
  const remove = (request: OpenRequest): void => {
    const index = requests.indexOf(request);
    if (index >= 0) requests.splice(index, 1);
  };

  const choose = (info: MatchInfo | null, turn: Turn): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const request: OpenRequest = { info, turn, answer: resolve };
      requests.push(request);
      turn.log(lineFor(request));
      turn.signal.addEventListener("abort", () => {
        remove(request);
        reject(new Error("no move was made in time"));
      });
    });

  return {
    bot: {
      name: "manual",
      readsHistory: false,
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
      const matching = requests.filter(({ info }) => matchId === null || isNamed(info, matchId));
      const [request] = matching;
      if (!request) {
        const open = requests.length === 0 ? "there is no open request" : `open requests: ${namesOf(requests)}`;
        return err(
          protocolError("G004", matchId === null ? open : `${matchId} has no open request; ${open}`, {}, true),
        );
      }
      if (matchId !== null && matching.length > 1) {
        return err(protocolError("G004", `match_id is ambiguous; give one of: ${namesOf(matching)}`, {}, true));
      }
      const { turn } = request;
      const action = legalMove(findGame(turn.game), turn, move);
      if (!action.ok) return err(protocolError("G001", action.error, {}, true));
      remove(request);
      request.answer(action.value);
      return ok({ status: "SENT", game: turn.game, your_role: turn.role, tick: turn.tick, move: action.value });
    },
    asked: () =>
      requests.map(({ info, turn }) => ({
        league_id: info?.leagueId,
        match_id: info?.matchId,
        ...(info?.restartReason && { restart: { attempt: info.epoch, reason: info.restartReason } }),
        game: turn.game,
        your_role: turn.role,
        tick: turn.tick,
        game_state: shownTo(turn),
        legal_actions: turn.legal,
        deadline: turn.clock.deadline.toISOString(),
      })),
  };
}
