import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type Check, passed, subjectOf } from "../check.ts";
import { judgeMatches, matchLimitMs } from "./moves.ts";

const PARALLEL_LIMIT_MS = 30_000;
const MAX_MATCHES = 12;
const ONLY_IN_PARALLEL =
  "This happens only with parallel matches: keep the state of each match under league_id and match_id.";

/** Plays matches of all accepted games at the same time, at least two. */
export const parallel: Check = {
  id: "parallel",
  title: "Parallel matches",
  needs: ["moves"],
  async run(context) {
    const subject = subjectOf(context);
    if (subject.dialect !== NATIVE) return passed("not tried: a player of this dialect receives one message at a time");
    // The last options of a game have several rounds, so that more messages of different matches alternate.
    const seats = context.facts.games
      .flatMap((game) => {
        const options = context.matches.settingsOf(subject, game).at(-1) ?? {};
        return game.roles.map((role) => ({ game, role, options }));
      })
      .slice(0, MAX_MATCHES);
    const limitMs = matchLimitMs(PARALLEL_LIMIT_MS, context.moveMs);
    const played = await Promise.all(seats.map((seat) => context.matches.play(subject, seat, limitMs)));
    const verdict = judgeMatches(context, played);
    // A fault that also occurs in single matches is already reported.
    const known = new Set(context.facts.moves.map(({ advice }) => advice));
    const findings = verdict.findings
      .filter(({ advice }) => !known.has(advice))
      .map((finding) => ({ ...finding, advice: `${finding.advice} ${ONLY_IN_PARALLEL}` }));
    return { summary: `${verdict.summary}, all at the same time`, findings };
  },
};
