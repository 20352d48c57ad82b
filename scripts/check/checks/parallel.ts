import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type Check, passed, subjectOf } from "../check.ts";
import { judgeMatches } from "./moves.ts";

const MATCH_LIMIT_MS = 30_000;
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
    const seats = context.facts.games
      .flatMap((game) => game.roles.map((role) => ({ game, role })))
      .slice(0, MAX_MATCHES);
    const played = await Promise.all(
      seats.map(({ game, role }) => context.matches.play(subject, game, role, MATCH_LIMIT_MS)),
    );
    const verdict = judgeMatches(context, played);
    // A fault that also occurs in single matches is already reported.
    const known = new Set(context.facts.moves.map(({ advice }) => advice));
    const findings = verdict.findings
      .filter(({ advice }) => !known.has(advice))
      .map((finding) => ({ ...finding, advice: `${finding.advice} ${ONLY_IN_PARALLEL}` }));
    return { summary: `${verdict.summary}, all at the same time`, findings };
  },
};
