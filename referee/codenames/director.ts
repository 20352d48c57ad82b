import { codenames } from "#shared/games/codenames.ts";
import { type CodenamesTurn, type CodenamesView, endInWords, skipInWords } from "#shared/games/codenames-view.ts";
import type { Role } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { InputNeeded } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Session } from "#shared/session/session.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { Play } from "../play/play.ts";
import { type SessionHost, secretFrom, sessionOf } from "../sessions/host.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import { driverView, type SessionView, seatView, spectatorView } from "../views.ts";
import type { CodenamesTable, LedGame } from "./codenames-table.ts";
import { again, firstPending, type Pending, type PlayerType, questionFor, type Step, stepOf } from "./questions.ts";

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

/** The log message of a rejected answer; its entry has the reason. */
export const ANSWER_REJECTED = "answer rejected";

/** The state that is sent with a question and returned with its answer. It identifies the question, because only answers to the open question count. */
interface RoundState {
  readonly game_id: string;
  readonly tick: number;
  readonly stage: Pending["stage"];
  readonly attempt: number;
}

/** The progress of a game is measured in actions. */
const TOTAL = codenames.info.maxActions;

/** Applies the answer of the caller if it belongs to the open question. Resolves with the next question, or null if the game is over. */
async function advance(context: DirectorContext, sessionId: string, caller: Caller): Promise<InputNeeded | null> {
  const { input } = caller;
  if (!input) throw new Error("the caller of a game must offer forms or prompts");
  const before = ledGame(context, sessionId);
  const open = pendingIn(context, before);
  if (input.answer && isOpen(context, before) && isAnswerTo(open, sessionId, input.state)) {
    await carryOut(context, before, stepOf(open, input.answer, typeToAct(context, before)), open);
  }
  const now = sessionOf(context, sessionId);
  if (!input.answer) reportProgress(caller, now.tick, publicView(now), `game_token ${tokenOf(context, sessionId)}`);
  else if (now.tick > askedAt(input.state)) reportProgress(caller, now.tick, publicView(now));
  return now.status === "completed" ? null : nextQuestion(context, now);
}

/** The question to the role that is to act. */
function nextQuestion(context: DirectorContext, now: Session): InputNeeded {
  const { id } = now;
  const game = ledGame(context, id);
  const pending = pendingIn(context, game);
  const { tick, stage, attempt } = pending;
  const role = driverView(now).toAct[0] ?? "";
  const type = typeToAct(context, game);
  const view = seatView(now, role).state as CodenamesView;
  const link = type === "user" ? context.play.link(id, role) : null;
  const round: RoundState = { game_id: id, tick, stage, attempt };
  return {
    question: questionFor(view, role, type, pending, link),
    state: round,
    _meta: { "agent-league/game_token": tokenOf(context, id) },
    onObsolete: whenObsolete(context, id, tick),
  };
}

/** The open question. The stored question is outdated if a caller has acted through another interface since. */
function pendingIn(context: DirectorContext, { sessionId, pending }: LedGame): Pending {
  const now = sessionOf(context, sessionId);
  return pending.tick === now.tick ? pending : firstPending(publicView(now), now.tick);
}

const typeToAct = (context: DirectorContext, { sessionId, players }: LedGame): PlayerType =>
  players[driverView(sessionOf(context, sessionId)).toAct[0] ?? ""] ?? "llm";

/** Returns a function that calls `onMoot` when a caller has acted through another interface or the game is over. */
const whenObsolete =
  (context: DirectorContext, sessionId: string, tick: number): NonNullable<InputNeeded["onObsolete"]> =>
  (onMoot) => {
    const check = (now: Session): void => {
      if (now.tick !== tick || now.status === "completed") onMoot();
    };
    check(sessionOf(context, sessionId));
    return context.host.watch(sessionId, (stored) => check(stored.session));
  };

/** Carries out the step that follows from an answer. Its effect is committed before the next question is asked. */
async function carryOut(context: DirectorContext, game: LedGame, step: Step, pending: Pending): Promise<void> {
  const { host, table, writer, log } = context;
  const { sessionId } = game;
  const [role = ""] = driverView(sessionOf(context, sessionId)).toAct;
  if (step.rejected) {
    const { stage, attempt, tick } = pending;
    log.info({ session: sessionId, role, tick, stage, attempt, ...step.rejected }, ANSWER_REJECTED);
  }
  if (step.kind === "end") return endGame(context, sessionId);
  if (step.kind === "ask") {
    await writer.commit([table.replacingPending(game, step.pending)]);
    return;
  }
  const acted = await host.submit(sessionId, {
    role,
    action: step.action,
    expectedTick: pending.tick,
    byDriver: true,
    alongside: (next) => [table.settingPending(sessionId, firstPending(publicView(next), next.tick))],
  });
  if (!acted.ok && acted.error.code === "ILLEGAL_ACTION") {
    await carryOut(context, game, illegal(pending, acted.error.message), pending);
  } // Otherwise another caller has acted first or the game is over. The next question shows that.
}

/** The step after an illegal clue or guess. The message may contain the rejected clue, so only its author may read it. */
const illegal = (pending: Pending, problem: string): Step =>
  pending.stage === "clue"
    ? again(pending, "clue", { problem, reason: "illegal_clue" })
    : again(pending, "guess", { problem, reason: "illegal_guess" });

const isAnswerTo = (open: Pending, sessionId: string, state: unknown): boolean => {
  const { game_id, tick, stage, attempt } = (state ?? {}) as Partial<RoundState>;
  return game_id === sessionId && tick === open.tick && stage === open.stage && attempt === open.attempt;
};

const askedAt = (state: unknown): number => (state as Partial<RoundState> | null)?.tick ?? -1;

function reportProgress({ progress }: Caller, tick: number, view: CodenamesView, first = ""): void {
  progress?.(tick, TOTAL, [first, progressText(view)].filter(Boolean).join("; "));
}

/** The parts that a director uses. */
interface DirectorContext {
  readonly host: SessionHost;
  readonly play: Play;
  readonly table: CodenamesTable;
  readonly writer: Writer;
  readonly log: Logger;
}

/** The purpose with which the token of a game is derived from the seed. */
const TOKEN_PURPOSE = "game_token";

const tokenOf = ({ host }: DirectorContext, sessionId: string): string => host.secret(sessionId, TOKEN_PURPOSE) ?? "";

function ledGame({ table }: DirectorContext, sessionId: string): LedGame {
  const game = table.get(sessionId);
  if (!game) throw new Error(`session ${sessionId} is not a game of create_new_game`);
  return game;
}

const isOpen = (context: DirectorContext, { sessionId }: LedGame): boolean =>
  sessionOf(context, sessionId).status === "active";

async function endGame({ host }: DirectorContext, sessionId: string): Promise<void> {
  await host.abort(sessionId, "ended_by_user");
}

/** The public view of the board. After the game the key is public, so it is the view of a spymaster. */
export const publicBoard = (session: Session): SessionView =>
  session.status === "active" ? spectatorView(session) : seatView(session, "red_spymaster");

/** The words, clues and guesses as a spectator may see them. */
export const publicView = (session: Session): CodenamesView => spectatorView(session).state as CodenamesView;

const BEARER = "bearer:";

/** The owner that a caller stands for: its bearer token, or else its MCP session. null if it has neither. */
function ownerOf({ authToken, sessionId }: Caller): string | null {
  if (authToken !== null) return bearerOwner(authToken);
  return sessionId === undefined ? null : `session:${sessionId}`;
}

const bearerOwner = (token: string): string => `${BEARER}${sha256Hex(token)}`;

const isBearerOwner = (owner: string | null): boolean => owner?.startsWith(BEARER) === true;

/** The owner of a game whose caller has neither a bearer token nor a session: the rounds before the game. */
const setupOwner = (setupId: string): string => `setup:${setupId}`;

/** The progress message of a game: the last event and the next step, from the view of a spectator. */
export function progressText({ turns, phase, turn, result }: CodenamesView): string {
  const open = turns.at(-1);
  const hasBegun = open !== undefined && (open.clue !== null || open.skipped !== null);
  const last = hasBegun ? open : turns.at(-2);
  const next = result
    ? `the game is over: ${endInWords(result)}`
    : `${turn} ${phase === "clue" ? "gives a clue" : "guesses"}`;
  return [last && eventIn(last, last !== open), next].filter(Boolean).join("; ");
}

function eventIn({ team, clue, guesses, skipped }: CodenamesTurn, isClosed: boolean): string {
  if (skipped !== null) return `${team} gave up its turn (${skipInWords[skipped]})`;
  const last = guesses.at(-1);
  if (!last) return clue ? `${team}: ${clue.word} ${clue.number}` : "";
  const mayContinue = typeof clue?.number !== "number" || clue.number === 0 || guesses.length <= clue.number;
  if (isClosed && last.identity === team && mayContinue) return `${team} stopped guessing`;
  return `${team} guessed ${last.word}: ${last.identity}`;
}
