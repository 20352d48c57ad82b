import { z } from "zod";
import { type CodenamesView, endInWords } from "#shared/games/codenames-view.ts";
import { spoken } from "#shared/games/game.ts";
import type { Director } from "./director.ts";
import { publicBoard, publicView } from "./led-games.ts";
import { history } from "./questions.ts";

export const Report = z.object({
  status: z.enum(["active", "completed", "ended"]),
  winner: z.enum(["red", "blue"]).nullable(),
  reason: z.string().nullable(),
  game_id: z.string(),
  game_token: z.string().describe("keep it: continue_game, end_game and the resources accept it"),
  turns: z.int(),
  board: z.string().describe("the public view of the board as text"),
  history: z.string(),
});
export type Report = z.infer<typeof Report>;

/** The report of a game to the caller that runs it. */
export function reportOf(director: Director, sessionId: string): Report {
  const session = director.session(sessionId);
  const { status, termination, reason } = session;
  const view = publicView(session);
  return {
    status: status === "active" ? "active" : termination === "normal" ? "completed" : "ended",
    winner: view.result?.winner ?? null,
    reason,
    game_id: sessionId,
    game_token: director.tokenOf(sessionId),
    turns: view.turns.length,
    board: publicBoard(session).board,
    history: history(view),
  };
}

/** The report as text. */
export function reportContent(value: Report | { readonly status: "no_game" }) {
  if (value.status === "no_game")
    return { content: [{ type: "text" as const, text: "No game of Codenames was open." }] };
  const { status, board, history, game_token } = value as Report;
  // The last line of a completed board repeats the headline.
  const shownBoard = status === "completed" ? board.split("\n").slice(0, -1).join("\n") : board;
  const token = status === "active" ? `game_token: ${game_token}` : "";
  const text = [headline(value as Report), shownBoard, history, token].filter(Boolean).join("\n\n");
  return { content: [{ type: "text" as const, text }] };
}

function headline({ status, winner, reason }: Report): string {
  switch (status) {
    case "active":
      return "The game continues.";
    case "completed":
      return `The game is over: ${endInWords({ winner, reason } as NonNullable<CodenamesView["result"]>)}.`;
    case "ended":
      return reason === "ended_by_user"
        ? "The game was ended before it was over."
        : `The game was ended (${spoken(reason ?? "")}).`;
  }
}
