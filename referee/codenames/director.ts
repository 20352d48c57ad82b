import { type CodenamesView, codenames } from "#shared/games/codenames.ts";
import type { Role } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { InputNeeded } from "#shared/rpc/jsonrpc/input.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Session } from "#shared/session/session.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { Play } from "../play/play.ts";
import { type SessionHost, secretFrom } from "../sessions/host.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import { driverView, type SessionView, seatView, spectatorView } from "../views/session-views.ts";
import { again, firstPending, type Pending, type PlayerType, type Step, stepOf } from "./flow.ts";
import { newsOf } from "./news.ts";
import { questionFor } from "./questions.ts";
import type { CodenamesTable, LedGame } from "./table.ts";

interface DirectorDesk {
  readonly host: SessionHost;
  readonly play: Play;
  readonly table: CodenamesTable;
  readonly writer: Writer;
  readonly log: Logger;
}

/** The log message of a rejected answer; its entry has the reason. */
export const ANSWER_REJECTED = "answer rejected";

/** The public view of the board: a spectator's, and after the game, when the key is public, a spymaster's. */
export const publicBoard = (session: Session): SessionView =>
  session.status === "active" ? spectatorView(session) : seatView(session, "red_spymaster");

/** The words, clues and guesses as a spectator may see them. */
export const publicView = (session: Session): CodenamesView => spectatorView(session).state as CodenamesView;

/** What travels with a question and comes back with its answer; an answer to another question than the open one counts for nothing. */
interface RoundState {
  readonly game_id: string;
  readonly tick: number;
  readonly stage: Pending["stage"];
  readonly attempt: number;
}

export type Players = Readonly<Record<Role, PlayerType>>;

/**
 * Runs games of Codenames: asks the role that is to act, submits the answer to the session host like any other interface, and reports what
 * happened. Whatever is decided is on disk before the next question, so a call may be cut anywhere and another goes on.
 */
export interface Director {
  /** Begins a game for a caller; null while another is being begun for the same one. `setupId` names the rounds that led to it. */
  begin(players: Players, words: readonly string[] | null, setupId: string, caller: Caller): Promise<LedGame | null>;
  /** The game that a token names; without one the caller's own, the open one or else its last. */
  gameOf(token: string | undefined, caller: Caller): LedGame | null;
  /** The game that was begun by these rounds for a caller that only they can tell. */
  begunBy(setupId: string): LedGame | null;
  gameById(sessionId: string): LedGame | null;
  /** Whether a token names a game, or is the bearer token of somebody who has one. */
  knows(token: string): boolean;
  isOpen(game: LedGame): boolean;
  /** Lets a caller that has shown the game's token go on without it, where no bearer token owns the game. */
  adopt(game: LedGame, caller: Caller): Promise<void>;
  /** Takes the answer that the caller brings, if it is to the open question, and asks the next one; null when the game is over. */
  advance(sessionId: string, caller: Caller): Promise<InputNeeded | null>;
  /** Ends a game because its user says so. */
  end(sessionId: string): Promise<void>;
  session(sessionId: string): Session;
  tokenOf(sessionId: string): string;
}

const TOKEN_PURPOSE = "game_token";
/** What is told of the way a game goes is measured in actions. */
const TOTAL = codenames.info.maxActions;

export function createDirector({ host, play, table, writer, log }: DirectorDesk): Director {
  const session = (sessionId: string): Session => {
    const kept = host.read(sessionId);
    if (!kept) throw new Error(`session ${sessionId} is not in the log`);
    return kept.session;
  };
  const led = (sessionId: string): LedGame => {
    const game = table.get(sessionId);
    if (!game) throw new Error(`session ${sessionId} is not led here`);
    return game;
  };
  const tokenOf = (sessionId: string): string => host.secret(sessionId, TOKEN_PURPOSE) ?? "";
  /** Owners whose game is being created. */
  const beginning = new Set<string>();
  const isOpen = ({ sessionId }: LedGame): boolean => session(sessionId).status === "active";

  /** The open question. Another caller may have acted through another interface since it was written. */
  const pendingIn = (game: LedGame): Pending => {
    const now = session(game.sessionId);
    return game.pending.tick === now.tick ? game.pending : firstPending(publicView(now), now.tick);
  };

  const typeToAct = ({ sessionId, players }: LedGame): PlayerType =>
    players[driverView(session(sessionId)).toAct[0] ?? ""] ?? "llm";

  /** A question is moot when another caller has acted through another interface, or the game is over. */
  const whenMoot =
    (sessionId: string, tick: number): NonNullable<InputNeeded["watchMoot"]> =>
    (tell) => {
      const look = (now: Session): void => {
        if (now.tick !== tick || now.status === "completed") tell();
      };
      look(session(sessionId));
      return host.watch(sessionId, (kept) => look(kept.session));
    };

  const carryOut = async (game: LedGame, step: Step, pending: Pending): Promise<void> => {
    const { sessionId } = game;
    const [role = ""] = driverView(session(sessionId)).toAct;
    if (step.rejected) {
      const { stage, attempt, tick } = pending;
      log.info({ session: sessionId, role, tick, stage, attempt, ...step.rejected }, ANSWER_REJECTED);
    }
    if (step.kind === "end") return end(sessionId);
    if (step.kind === "ask") {
      await writer.commit([table.waitingInstead(game, step.pending)]);
      return;
    }
    const acted = await host.submit(sessionId, {
      role,
      action: step.action,
      expectedTick: pending.tick,
      byDriver: true,
      alongside: (next) => [table.waitingFor(sessionId, firstPending(publicView(next), next.tick))],
    });
    if (!acted.ok && acted.error.code === "ILLEGAL_ACTION") {
      await carryOut(game, illegal(pending, acted.error.message), pending);
    } // else somebody was faster, or the game is over: what is asked next says so
  };

  const end = async (sessionId: string): Promise<void> => {
    await host.abort(sessionId, "ended_by_user");
  };

  return {
    session,
    tokenOf,
    end,
    async begin(players, words, setupId, caller) {
      const owner = ownerOf(caller) ?? ofSetup(setupId);
      if (beginning.has(owner)) return null;
      const options = codenames.options.parse(words ? { words } : {});
      const placed = codenames.roles.map((role): PlaySeat => {
        const type = players[role] ?? "llm";
        const kind = type === "user" ? "human" : "agent";
        return { role, kind, name: type, joined: true, isCreator: false, holder: null };
      });
      const pending = { tick: 0, stage: "clue", attempt: 1, problem: null } as const;
      const alongside = (sessionId: string, seed: string) => [
        table.adding({ sessionId, owner, players, pending }, secretFrom(seed, TOKEN_PURPOSE)),
      ];
      beginning.add(owner);
      try {
        const { id } = await play.open({ game: codenames, options, placed, alongside });
        return led(id);
      } finally {
        beginning.delete(owner);
      }
    },
    gameOf(token, caller) {
      if (token !== undefined) return table.byToken(token);
      const own = ownerOf(caller);
      return own === null ? null : table.of(own);
    },
    begunBy: (setupId) => table.of(ofSetup(setupId)),
    gameById: table.get,
    knows: (token) => (table.byToken(token) ?? table.of(`${BEARER}${sha256Hex(token)}`)) !== null,
    isOpen,
    async adopt({ sessionId, owner }, caller) {
      const own = ownerOf(caller);
      if (own === null || own === owner || owner?.startsWith(BEARER)) return;
      await writer.commit([table.owning(sessionId, own)]);
    },
    async advance(sessionId, caller) {
      const { input } = caller;
      if (!input) throw new Error("a game is led for callers that can be asked");
      const before = led(sessionId);
      const open = pendingIn(before);
      if (input.said && isOpen(before) && answers(input.state, sessionId, open)) {
        await carryOut(before, stepOf(open, input.said, typeToAct(before)), open);
      }
      const now = session(sessionId);
      if (!input.said) tell(caller, now.tick, publicView(now), `game_token ${tokenOf(sessionId)}`);
      else if (now.tick > askedAt(input.state)) tell(caller, now.tick, publicView(now));
      if (now.status === "completed") return null;
      const game = led(sessionId);
      const pending = pendingIn(game);
      const role = driverView(now).toAct[0] ?? "";
      const type = typeToAct(game);
      const view = seatView(now, role).state as CodenamesView;
      const link = type === "user" ? play.link(sessionId, role) : null;
      const round: RoundState = {
        game_id: sessionId,
        tick: pending.tick,
        stage: pending.stage,
        attempt: pending.attempt,
      };
      const _meta = { "agent-league/game_token": tokenOf(sessionId) };
      return {
        asks: questionFor(view, role, type, pending, link),
        state: round,
        _meta,
        watchMoot: whenMoot(sessionId, pending.tick),
      };
    },
  };
}

/** The rules' own words may name a clue that was never given: they are for the role that gave it. */
const illegal = (pending: Pending, problem: string): Step =>
  pending.stage === "clue"
    ? again(pending, "clue", { problem, reason: "illegal_clue" })
    : again(pending, "guess", { problem, reason: "illegal_guess" });

const answers = (state: unknown, sessionId: string, open: Pending): boolean => {
  const { game_id, tick, stage, attempt } = (state ?? {}) as Partial<RoundState>;
  return game_id === sessionId && tick === open.tick && stage === open.stage && attempt === open.attempt;
};

const askedAt = (state: unknown): number => (state as Partial<RoundState> | null)?.tick ?? -1;

const BEARER = "bearer:";
/** A caller that neither a bearer token nor a session tells from others: the rounds that it began with do. */
const ofSetup = (setupId: string): string => `setup:${setupId}`;

/** Who a game belongs to: whoever holds a bearer token, else an MCP session; null where only its token can tell. */
function ownerOf({ authToken, sessionId }: Caller): string | null {
  if (authToken !== null) return `${BEARER}${sha256Hex(authToken)}`;
  return sessionId === undefined ? null : `session:${sessionId}`;
}

function tell({ progress }: Caller, tick: number, view: CodenamesView, first = ""): void {
  progress?.(tick, TOTAL, [first, newsOf(view)].filter(Boolean).join("; "));
}
