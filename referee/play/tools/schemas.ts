/** The arguments and results of the tools for games outside of leagues. */
import { z } from "zod";
import { notationsInWords, optionsInWords } from "#shared/games/game.ts";
import { knownGameIds, knownGames } from "#shared/games/registry.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import { WrittenMove } from "#shared/protocol/message-fields.ts";
import { PlayerName } from "../../sessions/seats.ts";
import { hasMoveOrResigns } from "../turns.ts";

const gameId = z.string().min(1).max(100).describe("id of the game, from createGame");
const seatToken = z.string().max(200).optional().describe("secret of your seat, from createGame or joinGame");
const playerName = PlayerName.optional().describe("your display name");

/** Returns the arguments of `createGame`. Their descriptions list the games of this process. */
export const createGameInput = () =>
  z.object({
    template: z
      .string()
      .max(100)
      .describe(`game to play, by id or name: ${knownGameIds().join(", ")}`),
    options: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(`options of the game, each with a default. ${optionsInWords(knownGames())}`),
    play_as: z.string().max(100).optional().describe("your role, e.g. white; default: the first role of the game"),
    opponent: z
      .string()
      .max(100)
      .default("agent")
      .describe("agent (another agent calls joinGame), human (a person plays on the board) or the name of a bot"),
    name: playerName,
  });
export const JoinGame = z.object({
  game_id: gameId,
  role: z.string().max(100).optional().describe("role to play; default: the first open one"),
  name: playerName,
});
export const WaitForNextTurn = z.object({
  game_id: gameId,
  seat_token: seatToken,
  showUi: z.boolean().default(false).describe("also return the board as an HTML resource, for hosts that render it"),
  timeout_s: z.number().min(0).max(30).default(25).describe("maximum time to wait, in seconds"),
});
/** Returns the arguments of `finishTurn`. Their descriptions list the notations of the games of this process. */
export const finishTurnInput = () =>
  z
    .object({
      game_id: gameId,
      seat_token: seatToken,
      move: WrittenMove.optional().describe(
        `one of the legal moves that waitForNextTurn lists${notationsInWords(knownGames())}`,
      ),
      resign: z.boolean().optional().describe("true: resign the game, even if it is not your turn; leave out move"),
      claim: z
        .enum(["checkmate", "draw"])
        .nullish()
        .describe("claims that this move gives checkmate or a draw; if the claim is false, the move is not made"),
      claim_win: z
        .boolean()
        .optional()
        .describe("claims that this move wins the game; if the claim is false, the move is not made"),
      expected_tick: z.int().min(0).optional().describe("make the move only if the game is still at this tick"),
      idempotency_key: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe(
          "any string that you use for this turn only: repeating the call returns the same answer and moves once",
        ),
    })
    .check(hasMoveOrResigns)
    .refine(({ claim, claim_win }) => !(claim === "draw" && claim_win), {
      path: ["claim_win"],
      message: "claim a draw or a win, not both",
    });

const Player = z.object({ kind: z.enum(["agent", "human", "bot"]), name: z.string(), joined: z.boolean() });
export const View = z.object({
  game_id: z.string(),
  template: z.string(),
  name: z.string(),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int(),
  your_role: z.string(),
  roles: z.array(z.string()),
  players: z.record(z.string(), Player),
  to_act: z.array(z.string()),
  state: z.unknown().describe("the state of the game as your role may see it"),
  legal_actions: z.array(z.unknown()),
  board: z.string().describe("the position as text"),
  last_action: z.object({ role: z.string(), action: z.unknown(), tick: z.int() }).nullable(),
  result: z
    .object({
      winners: z.array(z.string()).describe("the roles that have won; empty in a draw"),
      winner: z.string().nullable().describe("the only role that has won; null in a draw or if a team has won"),
      reason: z.string(),
      termination: z.string(),
    })
    .nullable(),
  clock: ClockState.optional().describe("the clocks at the start of the open turn; absent in a game without clocks"),
  next: z.enum(["your_turn", "waiting_for_user", "waiting_for_opponent", "game_over"]),
});
export const Taken = View.extend({
  seat_token: z.string().describe("keep it: it is shown only once, and any caller that has it can play for you"),
  link: z.string().describe("URL of the page of the game; the link of a person allows that person to move"),
  links: z
    .record(z.string(), z.string())
    .describe("the link of each person who plays, by role; only for the creator of the game"),
  withheld: z
    .array(z.string())
    .optional()
    .describe(
      "roles of people whose links are printed in the terminal of this host, because those seats see information that your role may not know",
    ),
});

export type Shown = z.infer<typeof View>;
export type Taken = z.infer<typeof Taken>;
