import { isDeepStrictEqual } from "node:util";
import type { Game } from "#shared/games/game.ts";
import { cutTo, jsonOf } from "#shared/lib/text.ts";
import { type Check, type CheckContext, type Finding, subjectOf } from "../check.ts";
import { explainCall } from "../judge/call-fault.ts";
import { joined } from "../judge/match-faults.ts";
import type { Call } from "../league/caller.ts";

/** Several repetitions are sent, because a bot that moves at random may give the same answer twice by chance. */
const REPETITIONS = 4;

/** Sends the same MOVE_REQUEST several times, as a referee does whose connection is lost before the answer. */
export const repeated: Check = {
  id: "repeated",
  title: "Repeated request answered alike",
  needs: ["moves"],
  async run(context) {
    const findings: Finding[] = [];
    for (const game of context.facts.games) {
      const finding = judgeRepeated(game, await callsWith(context, game));
      if (finding) findings.push(finding);
    }
    return { summary: "the same request has the same answer in every game", findings: joined(findings, "match") };
  },
};

/** Sends one MOVE_REQUEST several times; resolves with the calls. */
async function callsWith(context: CheckContext, game: Game): Promise<readonly Call[]> {
  const { matches, caller, moveMs } = context;
  const subject = subjectOf(context);
  const match = await matches.beginFirst(subject, game);
  const { fault } = await matches.invite(match);
  if (fault) return [];
  const message = caller.matchMessage(subject, "MOVE_REQUEST", match.moveRequest());
  const calls: Call[] = [];
  for (let count = 0; count < REPETITIONS; count++) calls.push(await caller.call(match.self, message, moveMs));
  await matches.abort(match);
  return calls;
}

/** Judges the answers to one request. Returns null if they are the same move. */
function judgeRepeated(game: Game, calls: readonly Call[]): Finding | null {
  const [first, ...others] = calls;
  if (!first) return null;
  const faulty = others.find(({ answer }) => !(answer.ok && answer.value?.type === "MOVE_RESPONSE"));
  if (faulty) {
    const answer = faulty.answer.ok ? faulty.answer.value : null;
    const detail = explainCall(faulty)?.summary ?? `it is answered with ${answer?.type}`;
    return {
      severity: "fail",
      summary: `${game.id}: the second time, the same request is not answered with a move: ${detail}`,
      advice:
        "Answer a repeated request with the move of the first answer: the referee repeats a request whose answer it has not received.",
      exchanges: [...first.exchanges.slice(-1), ...faulty.exchanges.slice(-1)],
    };
  }
  const different = others.find((call) => !isDeepStrictEqual(moveIn(call), moveIn(first)));
  if (!different) return null;
  return {
    severity: "warn",
    summary: `${game.id}: the same request is answered with ${shown(first)} and then with ${shown(different)}`,
    advice: "Remember the move of each match and tick, and return it again unless the request has the field error.",
    exchanges: [...first.exchanges.slice(-1), ...different.exchanges.slice(-1)],
  };
}

const moveIn = ({ answer }: Call): unknown => (answer.ok ? answer.value?.payload.move : undefined);
const shown = (call: Call): string => cutTo(60, jsonOf(moveIn(call)));
