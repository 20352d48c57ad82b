import { z } from "zod";
import {
  type Game,
  notationsInWords,
  optionsInWords,
  type Role,
  reasonInWords,
  spoken,
  winnersInWords,
} from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import { findGame, knownGameIds, knownGames } from "#shared/games/registry.ts";
import { ok } from "#shared/lib/result.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import { WrittenMove } from "#shared/protocol/message-fields.ts";
import type { Content, ToolResult } from "#shared/rpc/mcp/methods.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { type GameView, USER_SEAT_META, type UserSeat } from "#shared/web/game-view.ts";
import type { StoredSession } from "../sessions/host.ts";
import { protocolResult } from "../sessions/rejections.ts";
import { type PersonSeat, PlayerName } from "../sessions/seats.ts";
import type { Next } from "../views.ts";
import type { Play, TakenSeat } from "./play.ts";
import { hasMoveOrResigns, type Turns } from "./turns.ts";

/** The tools by which agents create, join and play games outside of leagues. */
export const gameOperations = (context: GameToolsContext): readonly Operation<unknown>[] => [
  createGame(context),
  joinGame(context),
  waitForNextTurn(context),
  finishTurn(context),
];

/** The URI of the board as an MCP App, which MCP hosts show with the tools that refer to it. */
export const BOARD_URI = "ui://agent-league/board";
/** The `_meta` of the tools that show the board. */
const BOARD = { ui: { resourceUri: BOARD_URI } };

/** The parts that the tools for games outside of leagues use. */
export interface GameToolsContext {
  readonly play: Play;
  readonly turns: Turns;
  readonly botNames: readonly string[];
  /** Creates the board as a separate page, which posts `{type: "action", action: "finishTurn", payload}` to the window that frames it. */
  readonly embeddedBoard: (view: GameView, seat: { role: Role; token: string } | null) => Promise<string>;
}

/** The tool `createGame`. */
function createGame(context: GameToolsContext): Operation<unknown> {
  const input = createGameInput();
  return operation({
    request: "CREATE_GAME",
    reply: "CREATE_GAME_RESPONSE",
    payload: input,
    tool: {
      name: "createGame",
      title: "Create a game",
      description: `Creates a game of chess or another game and gives you a seat in it. Returns the game_id, your secret seat_token, the rules and the address of the game's page. The opponent is another agent (which calls joinGame with the game_id), a human (who gets a link, or plays on the board in this host) or a bot (bots: ${context.botNames.join(", ")}). Next, call waitForNextTurn.`,
      plain: input,
      result: Taken,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      meta: BOARD,
      shown: (value: Taken, _, caller) => takenContent(context.play, value, caller),
    },
    async handle({ template, options, play_as, opponent, name }, caller) {
      const creator = { kind: "agent", name } as const;
      const created = await context.play.create({
        template,
        options,
        playAs: play_as,
        opponent,
        creator,
        bearer: caller.authToken,
      });
      return created.ok ? ok(await takenGame(context, created.value)) : protocolResult(created);
    },
  });
}

/** The tool `joinGame`. */
const joinGame = (context: GameToolsContext): Operation<unknown> =>
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
      shown: (value: Taken, _, caller) => takenContent(context.play, value, caller),
    },
    async handle({ game_id, role, name }, caller) {
      const joined = await context.play.join(game_id, { role, name, bearer: caller.authToken });
      return joined.ok ? ok(await takenGame(context, joined.value)) : protocolResult(joined);
    },
  });

/** The tool `waitForNextTurn`. */
const waitForNextTurn = (context: GameToolsContext): Operation<unknown> =>
  operation({
    request: "WAIT_FOR_NEXT_TURN",
    reply: "WAIT_FOR_NEXT_TURN_RESPONSE",
    payload: WaitForNextTurn,
    tool: {
      name: "waitForNextTurn",
      title: "Wait for your turn",
      description:
        "Waits until it is your turn, for up to 25 seconds, and returns the board and your legal moves. Returns immediately if it is your turn, if a person has to move (Waiting for User) or if the game is over. A timeout is normal: call this tool again immediately.",
      plain: WaitForNextTurn,
      waits: true,
      result: View.extend({ timed_out: z.boolean() }),
      annotations: { readOnlyHint: true, idempotentHint: true },
      meta: BOARD,
      async shown(value: Shown & { timed_out: boolean }, { showUi, timeout_s }, caller) {
        const result = gameContent(context.play, value, caller, value.timed_out ? timedOut(timeout_s) : undefined);
        return showUi ? { ...result, content: [...result.content, await boardContent(context, value)] } : result;
      },
    },
    async handle({ game_id, seat_token, timeout_s }, { authToken, abortSignal, progress }) {
      const timeoutMs = timeout_s * 1000;
      const waited = await context.turns.wait(game_id, seat_token ?? authToken, {
        timeoutMs,
        signal: abortSignal?.(),
        progress: progress && ((doneMs, message) => progress(doneMs / 1000, timeout_s, message)),
      });
      if (!waited.ok) return protocolResult(waited);
      const { stored, role, next, timedOut: isTimedOut } = waited.value;
      return ok({ ...shownGame(context.play, stored, role, next), timed_out: isTimedOut });
    },
  });

/** The tool `finishTurn`. */
function finishTurn(context: GameToolsContext): Operation<unknown> {
  const input = finishTurnInput();
  return operation({
    request: "FINISH_TURN",
    reply: "FINISH_TURN_RESPONSE",
    payload: input,
    tool: {
      name: "finishTurn",
      title: "Make your move",
      description:
        "Makes your move and ends your turn, or resigns the game with resign: true. The call fails, and nothing changes, if it is not your turn or the move is not legal; the error lists the legal moves. With claim or claim_win you assert how the move ends the game; if that is false, the move is not made. Next, call waitForNextTurn.",
      plain: input,
      result: View,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      meta: BOARD,
      shown: (value: Shown, { resign }, caller) =>
        gameContent(context.play, value, caller, resign ? "You have resigned." : "Move made."),
    },
    async handle({ game_id, seat_token, move, resign, claim, claim_win, ...options }, { authToken }) {
      const finished = await context.turns.finish({
        gameId: game_id,
        token: seat_token ?? authToken,
        move,
        resign: resign === true,
        claim: claim ?? (claim_win ? "win" : null),
        expectedTick: options.expected_tick ?? null,
        idempotencyKey: options.idempotency_key ?? null,
      });
      if (!finished.ok) return protocolResult(finished);
      const { stored, role, next } = finished.value;
      return ok(shownGame(context.play, stored, role, next));
    },
  });
}

/** The structured content of a game for a role. */
const shownGame = (play: Play, stored: StoredSession, role: Role, next: Next): Shown =>
  ({ ...play.view(stored, role), next }) as Shown;

/** The result for an agent that has just taken a seat. */
async function takenGame({ play, turns }: GameToolsContext, { gameId, role, token }: TakenSeat): Promise<Taken> {
  const seat = play.userSeat(gameId, role);
  const waited = await turns.wait(gameId, token, { timeoutMs: 0 });
  if (!waited.ok) throw new Error(waited.error.message);
  const { stored, next } = waited.value;
  const people = Object.entries(play.personLinks(gameId, role));
  const links = Object.fromEntries(people.flatMap(([person, link]) => (link === null ? [] : [[person, link]])));
  const link = (seat && links[seat.role]) ?? play.link(gameId);
  const withheld = people.flatMap(([person, link]) => (link === null ? [person] : []));
  const secrets = { seat_token: token, link, links, ...(withheld.length > 0 && { withheld }) };
  return { ...shownGame(play, stored, role, next), ...secrets };
}

/** The text of a result, and the seat of the person for the board in an MCP Apps host. */
function gameContent(play: Play, value: Shown, caller: Caller, lead?: string): Pick<ToolResult, "content" | "_meta"> {
  const seat = userSeat(play, value, caller);
  return {
    content: [
      {
        type: "text",
        text: [lead, inWords(value as GameView, value.next, findGame(value.template))].filter(Boolean).join("\n\n"),
      },
    ],
    ...(seat && { _meta: { [USER_SEAT_META]: seat } }),
  };
}

/** The text of a result for an agent that has just taken a seat. */
const takenContent = (play: Play, value: Taken, caller: Caller) =>
  gameContent(play, value, caller, seatText(value, play.link(value.game_id), findGame(value.template)));

/** The board as an HTML resource, with the person's seat if there is one. */
async function boardContent({ play, embeddedBoard }: GameToolsContext, value: Shown): Promise<Content> {
  const seat = play.userSeat(value.game_id, value.your_role);
  const view = (seat && personView(play, value, seat)) ?? (value as GameView);
  // An agent reads the page, so it must not contain a seat that sees more than the seat of the agent.
  const holder = seat && !seat.isWithheld ? { role: seat.role, token: seat.token } : null;
  const text = await embeddedBoard(view, holder);
  const uri = `ui://agent-league/game/${value.game_id}`;
  return { type: "resource", resource: { uri, mimeType: "text/html", text } };
}

/** The seat of the person for the board of an MCP Apps host, which does not pass it to the model. Other callers receive no withheld seat. */
function userSeat(play: Play, value: Shown, { showsApps }: Caller): UserSeat | null {
  const seat = play.userSeat(value.game_id, value.your_role);
  if (seat === null || (seat.isWithheld && !showsApps)) return null;
  const view = personView(play, value, seat);
  return view ? { role: seat.role, token: seat.token, view } : null;
}

/** The view of the board that the host of an agent shows to its user. The agent receives it too, so it contains no information that only the person may know. */
function personView(play: Play, value: Shown, { token }: PersonSeat): GameView | undefined {
  const isHidden = findGame(value.template)?.info.hiddenInformation;
  const access = play.accessTo(value.game_id, isHidden ? null : token);
  return access ? play.view(access.stored, access.viewer) : undefined;
}

/** A game as text, for a model or for a person whose MCP host shows no board. */
export function inWords(view: GameView, next: Next, game: Game | undefined): string {
  const { last_action: last, legal_actions: legal } = view;
  const moved = last && `Last move: ${last.role} ${wordOf(last.action, game)} (tick ${last.tick}).`;
  const moves = legal.length > 0 && `${listName(game)}: ${legal.map((action) => wordOf(action, game)).join(", ")}`;
  return [headline(view, next, game), moved, board(view), moves, advice(view, next)].filter(Boolean).join("\n\n");
}

interface SeatSecrets {
  readonly game_id: string;
  readonly seat_token: string;
  /** The links of people, by role. */
  readonly links: Readonly<Record<string, string>>;
  /** Roles of people whose links the agent does not receive. */
  readonly withheld?: readonly string[] | undefined;
}

/** The text for an agent that has taken a seat: its secret, the links of people and the rules. */
export function seatText(
  { game_id, seat_token, links, withheld = [] }: SeatSecrets,
  page: string,
  game: Game | undefined,
): string {
  const people = Object.entries(links);
  const pages = people.map(
    ([role, link]) => `Give the person who plays ${spoken(role)} this link to move in a browser: ${link}`,
  );
  if (withheld.length > 0) pages.push(withheldSeats(withheld));
  const rules = game?.info.rules;
  const watch = `Page of the game, where anyone can watch it: ${page}`;
  return [
    `Game ${game_id}. Your seat_token (secret, shown once): ${seat_token}`,
    watch,
    ...pages,
    rules && `\n${rules}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** Explains why the agent does not receive the links of these people. */
function withheldSeats(roles: readonly string[]): string {
  const names = roles.map(spoken).join(" and ");
  return roles.length === 1
    ? `A person plays ${names}. That seat sees information that you may not know, so its link is not shown here: it is printed in the terminal of this host.`
    : `People play ${names}. Those seats see information that you may not know, so their links are not shown here: they are printed in the terminal of this host.`;
}

/** The board in a code block, so that files and ranks stay aligned. */
const board = ({ board }: GameView): string => `\`\`\`\n${board}\n\`\`\``;

function headline(view: GameView, next: Next, game: Game | undefined): string {
  const { name, your_role: role } = view;
  const others = view.to_act
    .filter((actor) => actor !== role)
    .map((actor) => `${actor} (${view.players[actor]?.name})`);
  switch (next) {
    case "your_turn":
      return `Your turn: you are ${role} in ${name}.`;
    case "waiting_for_user":
      return `Waiting for User: ${others.join(", ")} has to move. You are ${role} in ${name}.`;
    case "waiting_for_opponent":
      if (view.status === "waiting_for_players") return `Waiting for players. You are ${role} in ${name}.`;
      return `Waiting for ${others.join(" and ") || "the other side"}. You are ${role} in ${name}.`;
    case "game_over":
      return `The game is over: ${ending(view, game)}`;
  }
}

function ending({ result, your_role: role }: GameView, game: Game | undefined): string {
  if (!result) return "";
  const { winners } = result;
  const reason = reasonInWords(result.reason);
  if (winners.length === 0) return `no winner (${reason}).`;
  const verdict = role === "spectator" ? "" : winners.includes(role) ? "You have won." : "You have lost.";
  const how = reason === "resigned" ? "by resignation" : `(${reason})`;
  return `${winnersInWords(game?.info.teams, winners)} wins ${how}. ${verdict}`;
}

function advice(view: GameView, next: Next): string | null {
  switch (next) {
    case "your_turn":
      return "Choose one of the legal moves and call finishTurn.";
    case "waiting_for_user":
      return "The person moves on the board or on the page of the game. Inform them that it is their turn; when they have moved, call waitForNextTurn again.";
    case "waiting_for_opponent": {
      const open = view.roles.filter((role) => view.players[role]?.joined === false);
      const vacant = `No player has joined as ${open.join(" or ")} yet: another agent can join with joinGame {"game_id": "${view.game_id}"}. `;
      return `${open.length > 0 ? vacant : ""}Call waitForNextTurn to wait for your turn.`;
    }
    case "game_over":
      return null;
  }
}

/** The text of a wait that has timed out. Without an explanation, models treat a timeout as a failure. */
const timedOut = (timeoutS: number): string =>
  `Timeout: nothing has happened for ${timeoutS} seconds. This is normal, the game continues: call waitForNextTurn again immediately, with the same arguments.`;

const gameId = z.string().min(1).max(100).describe("id of the game, from createGame");
const seatToken = z.string().max(200).optional().describe("secret of your seat, from createGame or joinGame");
const playerName = PlayerName.optional().describe("your display name");

/** Returns the arguments of `createGame`. Their descriptions list the games of this process. */
const createGameInput = () =>
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
/** Returns the arguments of `finishTurn`. Their descriptions list the notations of the games of this process. */
const finishTurnInput = () =>
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
const Taken = View.extend({
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

type Shown = z.infer<typeof View>;
type Taken = z.infer<typeof Taken>;
