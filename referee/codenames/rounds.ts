import { codenames } from "#shared/games/codenames.ts";
import type { CodenamesView } from "#shared/games/codenames-view.ts";
import type { InputNeeded } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import type { Session } from "#shared/session/session.ts";
import { driverView, seatView } from "../views/session-views.ts";
import { again, firstPending, type Pending, type PlayerType, type Step, stepOf } from "./flow.ts";
import { type DirectorContext, endGame, isOpen, ledGame, publicView, sessionOf, tokenOf } from "./led-games.ts";
import { progressText } from "./progress-text.ts";
import { questionFor } from "./questions.ts";
import type { LedGame } from "./table.ts";

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
export async function advance(
  context: DirectorContext,
  sessionId: string,
  caller: Caller,
): Promise<InputNeeded | null> {
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
