import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { optionsInWords } from "#shared/games/options-in-words.ts";
import { findGame, gameIds, games } from "#shared/games/registry.ts";
import { ok } from "#shared/lib/result.ts";
import type { Content, ToolResult } from "#shared/rpc/mcp/mcp.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { type GameView, USER_SEAT_META, type UserSeat } from "#shared/web/game-view.ts";
import type { Kept } from "../sessions/live-sessions.ts";
import { protocolResult } from "../sessions/rejections.ts";
import { type PersonSeat, PlayerName } from "../sessions/seats.ts";
import type { Next } from "../views/game-view.ts";
import type { Play } from "./play.ts";
import { inWords, takenSeat, timedOut } from "./texts.ts";
import { hasMoveOrResigns, type Turns } from "./turns.ts";

/** The board as an MCP App, which hosts show beside the tools that name it. */
export const BOARD_URI = "ui://agent-league/board";
const BOARD = { ui: { resourceUri: BOARD_URI } };

export interface GameToolsDesk {
  readonly play: Play;
  readonly turns: Turns;
  readonly botNames: readonly string[];
  /** The board as a page of its own that posts `{type: "action", action: "finishTurn", payload}` to whoever frames it. */
  readonly embeddedBoard: (view: GameView, seat: { role: Role; token: string } | null) => Promise<string>;
}

const gameId = z.string().min(1).max(100).describe("id of the game, from createGame");
const seatToken = z.string().max(200).optional().describe("secret of your seat, from createGame or joinGame");
const playerName = PlayerName.optional().describe("your display name");

const CreateGame = z.object({
  template: z
    .string()
    .max(100)
    .describe(`game to play, by id or name: ${gameIds.join(", ")}`),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(`options of the game, each with a default. ${optionsInWords(Object.values(games))}`),
  play_as: z.string().max(100).optional().describe("your role, e.g. white; default: the first role of the game"),
  opponent: z
    .string()
    .max(100)
    .default("agent")
    .describe("agent (another agent calls joinGame), human (a person plays on the board) or the name of a bot"),
  name: playerName,
});
const JoinGame = z.object({
  game_id: gameId,
  role: z.string().max(100).optional().describe("role to play; default: the first open one"),
  name: playerName,
});
const WaitForNextTurn = z.object({
  game_id: gameId,
  seat_token: seatToken,
  showUi: z.boolean().default(false).describe("also return the board as an HTML resource, for hosts that render it"),
  timeout_s: z.number().min(0).max(30).default(25).describe("maximum time to wait, in seconds"),
});
const FinishTurn = z
  .object({
    game_id: gameId,
    seat_token: seatToken,
    move: z
      .union([z.string().max(1_000), z.number(), z.looseObject({})])
      .optional()
      .describe("one of the legal moves that waitForNextTurn lists; in chess UCI (e2e4, e7e8q) or SAN (Nf3, O-O)"),
    resign: z.boolean().optional().describe("true: give up the game, also when it is not your turn; leave out move"),
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
    message: "a draw is no win",
  });

const Player = z.object({ kind: z.enum(["agent", "human", "bot"]), name: z.string(), joined: z.boolean() });
const View = z.object({
  game_id: z.string(),
  template: z.string(),
  name: z.string(),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int(),
  your_role: z.string(),
  roles: z.array(z.string()),
  players: z.record(z.string(), Player),
  to_act: z.array(z.string()),
  state: z.unknown().describe("the game's state as your role may see it"),
  legal_actions: z.array(z.unknown()),
  board: z.string().describe("the position as text"),
  last_action: z.object({ role: z.string(), action: z.unknown(), tick: z.int() }).nullable(),
  result: z
    .object({
      winners: z.array(z.string()).describe("the roles that have won; none in a draw"),
      winner: z.string().nullable().describe("the one role that has won"),
      reason: z.string(),
      termination: z.string(),
    })
    .nullable(),
  next: z.enum(["your_turn", "waiting_for_user", "waiting_for_opponent", "game_over"]),
});
const Taken = View.extend({
  seat_token: z.string().describe("keep it: it is told once, and whoever has it plays for you"),
  link: z.string().describe("the page of the game; a person's link lets that person move"),
  links: z
    .record(z.string(), z.string())
    .describe("the link of each person who plays, by role; only for the creator of the game"),
  withheld: z
    .array(z.string())
    .optional()
    .describe(
      "roles of people whose links are printed where this host runs, because they show what your role may not know",
    ),
});

type Shown = z.infer<typeof View>;
type Taken = z.infer<typeof Taken>;

/** The tools by which agents create, join and play games of their own, for every game. */
export function gameOperations({ play, turns, botNames, embeddedBoard }: GameToolsDesk): readonly Operation<unknown>[] {
  const view = (kept: Kept, role: Role, next: Next): Shown => ({ ...play.view(kept, role), next }) as Shown;
  /** The game as the board in an agent's host shows it to its person. The agent receives it too, so it holds nothing that only the person may know. */
  const personView = (value: Shown, { token }: PersonSeat): GameView | undefined => {
    const isHidden = findGame(value.template)?.info.hiddenInformation;
    const seen = play.look(value.game_id, isHidden ? null : token);
    return seen ? play.view(seen.kept, seen.viewer) : undefined;
  };
  /** The person's seat for the board of an MCP Apps host, which does not pass it to the model. Other callers get no withheld seat. */
  const userSeat = (value: Shown, { showsApps }: Caller): UserSeat | null => {
    const seat = play.userSeat(value.game_id, value.your_role);
    if (seat === null || (seat.isWithheld && !showsApps)) return null;
    const view = personView(value, seat);
    return view ? { role: seat.role, token: seat.token, view } : null;
  };
  const words = (value: Shown, caller: Caller, lead?: string): Pick<ToolResult, "content" | "_meta"> => {
    const seat = userSeat(value, caller);
    return {
      content: [{ type: "text", text: [lead, inWords(value as GameView, value.next)].filter(Boolean).join("\n\n") }],
      ...(seat && { _meta: { [USER_SEAT_META]: seat } }),
    };
  };
  const taken = async (gameId: string, role: Role, token: string): Promise<Taken> => {
    const seat = play.userSeat(gameId, role);
    const waited = await turns.wait(gameId, token, { timeoutMs: 0 });
    if (!waited.ok) throw new Error(waited.error.message);
    const { kept, next } = waited.value;
    const people = Object.entries(play.personLinks(gameId, role));
    const links = Object.fromEntries(people.flatMap(([one, link]) => (link === null ? [] : [[one, link]])));
    const link = (seat && links[seat.role]) ?? play.link(gameId);
    const withheld = people.flatMap(([one, told]) => (told === null ? [one] : []));
    return { ...view(kept, role, next), seat_token: token, link, links, ...(withheld.length > 0 && { withheld }) };
  };
  const takenInWords = (value: Taken, _: unknown, caller: Caller) =>
    words(value, caller, takenSeat(value, value.seat_token, play.link(value.game_id), value.links, value.withheld));
  /** The board as a page for hosts that show those, seen and played by the person where there is one. */
  const page = async (value: Shown): Promise<Content> => {
    const seat = play.userSeat(value.game_id, value.your_role);
    const view = (seat && personView(value, seat)) ?? (value as GameView);
    // An agent reads the page, so it holds no seat that sees more than the agent's own.
    const holder = seat && !seat.isWithheld ? { role: seat.role, token: seat.token } : null;
    const text = await embeddedBoard(view, holder);
    const uri = `ui://agent-league/game/${value.game_id}`;
    return { type: "resource", resource: { uri, mimeType: "text/html", text } };
  };
  const withBots = `bots: ${botNames.join(", ")}`;

  return [
    operation({
      request: "CREATE_GAME",
      reply: "CREATE_GAME_RESPONSE",
      payload: CreateGame,
      tool: {
        name: "createGame",
        title: "Create a game",
        description: `Creates a game of chess or another game and gives you a seat in it. Returns the game_id, your secret seat_token, the rules and the address of the game's page. The opponent is another agent (which calls joinGame with the game_id), a human (who gets a link, or plays on the board in this host) or a bot (${withBots}). Next, call waitForNextTurn.`,
        plain: CreateGame,
        result: Taken,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
        meta: BOARD,
        shown: takenInWords,
      },
      async handle({ template, options, play_as, opponent, name }, caller) {
        const creator = { kind: "agent", name } as const;
        const made = await play.create({
          template,
          options,
          playAs: play_as,
          opponent,
          creator,
          bearer: caller.authToken,
        });
        return made.ok ? ok(await taken(made.value.gameId, made.value.role, made.value.token)) : protocolResult(made);
      },
    }),
    operation({
      request: "JOIN_GAME",
      reply: "JOIN_GAME_RESPONSE",
      payload: JoinGame,
      tool: {
        name: "joinGame",
        title: "Join a game",
        description:
          "Takes an open seat in a game that another agent created with opponent agent. Returns your secret seat_token, the rules and the address of the game's page. Next, call waitForNextTurn.",
        plain: JoinGame,
        result: Taken,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
        meta: BOARD,
        shown: takenInWords,
      },
      async handle({ game_id, role, name }, caller) {
        const joined = await play.join(game_id, { role, name, bearer: caller.authToken });
        return joined.ok ? ok(await taken(game_id, joined.value.role, joined.value.token)) : protocolResult(joined);
      },
    }),
    operation({
      request: "WAIT_FOR_NEXT_TURN",
      reply: "WAIT_FOR_NEXT_TURN_RESPONSE",
      payload: WaitForNextTurn,
      tool: {
        name: "waitForNextTurn",
        title: "Wait for your turn",
        description:
          "Waits until it is your turn, for up to 25 seconds, and returns the board and your legal moves. Returns at once if it is your turn, if a person has to move (Waiting for User) or if the game is over. A timeout is normal: call this tool again immediately.",
        plain: WaitForNextTurn,
        waits: true,
        result: View.extend({ timed_out: z.boolean() }),
        annotations: { readOnlyHint: true, idempotentHint: true },
        meta: BOARD,
        async shown(value: Shown & { timed_out: boolean }, { showUi, timeout_s }, caller) {
          const said = words(value, caller, value.timed_out ? timedOut(timeout_s) : undefined);
          return showUi ? { ...said, content: [...said.content, await page(value)] } : said;
        },
      },
      async handle({ game_id, seat_token, timeout_s }, { authToken, gone, progress }) {
        const timeoutMs = timeout_s * 1000;
        const waited = await turns.wait(game_id, seat_token ?? authToken, {
          timeoutMs,
          signal: gone?.(),
          progress: progress && ((doneMs, message) => progress(doneMs / 1000, timeout_s, message)),
        });
        if (!waited.ok) return protocolResult(waited);
        const { kept, role, next, timedOut: nothing } = waited.value;
        return ok({ ...view(kept, role, next), timed_out: nothing });
      },
    }),
    operation({
      request: "FINISH_TURN",
      reply: "FINISH_TURN_RESPONSE",
      payload: FinishTurn,
      tool: {
        name: "finishTurn",
        title: "Make your move",
        description:
          "Makes your move and ends your turn, or resigns the game with resign: true. The call fails, and nothing changes, if it is not your turn or the move is not legal; the error lists the legal moves. With claim or claim_win you assert how the move ends the game; if that is false, the move is not made. Next, call waitForNextTurn.",
        plain: FinishTurn,
        result: View,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
        meta: BOARD,
        shown: (value: Shown, { resign }, caller) => words(value, caller, resign ? "You have resigned." : "Move made."),
      },
      async handle({ game_id, seat_token, move, resign, claim, claim_win, ...once }, { authToken }) {
        const finished = await turns.finish({
          gameId: game_id,
          token: seat_token ?? authToken,
          move,
          resign: resign === true,
          claim: claim ?? (claim_win ? "win" : null),
          expectedTick: once.expected_tick ?? null,
          idempotencyKey: once.idempotency_key ?? null,
        });
        if (!finished.ok) return protocolResult(finished);
        const { kept, role, next } = finished.value;
        return ok(view(kept, role, next));
      },
    }),
  ];
}
