import type { Mutation } from "./mutation.ts";

/** Faults in the code of the league manager. */
export const MANAGER_FAULTS: readonly Mutation[] = [
  {
    name: "the manager answers before the commit",
    rules: ["commit order", "results"],
    file: "league-manager/store/decide-commands.ts",
    from: "return () => resolve({ ok: true, value: reply });",
    to: "resolve({ ok: true, value: reply });\n    return () => {};",
  },
  {
    name: "the ledger does not wait for its append",
    rules: ["commit order", "results"],
    file: "league-manager/store/ledger.ts",
    from: "await store.commit(appends, batch.writes, batch.at);",
    to: "store.commit(appends, batch.writes, batch.at).catch(() => {});",
  },
  {
    name: "a result of an earlier epoch is accepted",
    rules: ["results", "export"],
    file: "league-manager/league/decisions/report.ts",
    from: "if (match.refereeId !== refereeId || match.epoch !== epoch) {\n",
    to: `if (match.refereeId !== null && match.epoch !== epoch) {
      const taken = { ...result, epoch: match.epoch };
      return decideReport(league, { type: "report", result: taken, refereeId: match.refereeId, seed });
    } else if (match.refereeId !== refereeId) {\n`,
  },
  {
    name: "a repeated result is rejected",
    rules: ["results"],
    file: "league-manager/league/decisions/report.ts",
    from: "return isRecorded(match, result) ? ok(UNCHANGED) : err(conflictError(name, match));",
    to: "return err(conflictError(name, match));",
  },
  {
    name: "a repeated result is recorded again",
    rules: ["results"],
    file: "league-manager/league/decisions/report.ts",
    from: 'if (match.status === "completed") return',
    to: 'if (match.status === "scheduled") return',
  },
  {
    name: "any answer to START_GAME counts as accepted",
    rules: ["end"],
    file: "league-manager/effects/dispatch/hand-over.ts",
    from: 'if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {',
    to: "if (reply.ok) {",
  },
  {
    name: "a START_GAME without an answer counts as accepted",
    rules: ["end"],
    file: "league-manager/effects/dispatch/hand-over.ts",
    from: 'if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {',
    to: "if (!reply.ok || reply.value.type) {",
  },
  {
    name: "a released match is not listed as open work",
    rules: ["end"],
    file: "league-manager/league/open-work.ts",
    from: '    case "match_released":\n',
    to: "",
  },
  {
    name: "events of leagues do not change the open work",
    rules: ["end"],
    file: "league-manager/effects/reconciler.ts",
    from: 'if (committed.kind !== "league") continue;',
    to: 'if (committed.kind === "league") continue;',
  },
  {
    name: "a loss gives three points in the standings",
    rules: ["standings"],
    file: "shared/standings/standings.ts",
    from: "losses * POINTS.loss",
    to: "losses * POINTS.win",
  },
  {
    name: "a released match keeps its epoch",
    rules: ["results", "export", "schedule"],
    file: "league-manager/league/evolve-match.ts",
    from: "const epoch = match.epoch + 1;",
    to: "const epoch = match.epoch;",
  },
  {
    name: "missed health probes are not counted",
    rules: ["end"],
    file: "league-manager/effects/dispatch/health.ts",
    from: "{ all: all + 1,",
    to: "{ all,",
  },
  {
    name: "a referee that does not answer keeps its matches",
    rules: ["end"],
    file: "league-manager/effects/dispatch/dispatch.ts",
    from: "this.#release(league.leagueId, lost);",
    to: ";",
  },
  {
    name: "a round opens before the earlier one is completed",
    rules: ["schedule"],
    file: "league-manager/league/evolve-match.ts",
    from: "currentRound: firstOpenRound(rounds, league.currentRound),",
    to: "currentRound: firstOpenRound(rounds, (league.currentRound ?? 0) + 1),",
  },
  {
    name: "the time limit of a match is that of a move",
    rules: ["results"],
    file: "league-manager/effects/deadlines.ts",
    from: "return Math.min(Math.max(matchMs, afterStartMs, 0), timeouts.match_ms);",
    to: "return Math.min(Math.max(matchMs, afterStartMs, 0), timeouts.move_ms);",
  },
  {
    name: "a league starts before all players are registered",
    rules: ["schedule"],
    file: "league-manager/effects/league-start.ts",
    from: "return entered >= needed;",
    to: "return entered >= league.roles.length;",
  },
  {
    name: "a result in the name of a referee is accepted with any token",
    rules: ["forgeries"],
    file: "league-manager/api/agent-operations.ts",
    from: "  return isSelf ? agent : null;",
    to: "  return isSelf ? agent : projections.agent(String(caller.sender).slice(8));",
  },
];
