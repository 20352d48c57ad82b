import type { Mutation } from "./mutation.ts";

/** Faults in the code of several managers that share a run. */
export const SHARED_RUN_FAULTS: readonly Mutation[] = [
  {
    name: "a commit whose end is unknown counts as made",
    rules: ["commit order", "results", "managers"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "if (!(await database.hasCommit(id))) break;",
    to: "await database.hasCommit(id);",
  },
  {
    name: "a commit whose end is unknown is not made again",
    rules: ["commit order", "results", "end"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "return this.#findOut(commit.id, decided);",
    to: "for (const { answer } of decided) answer();\n      return;",
  },
  {
    name: "a manager answers before its transaction ends",
    rules: ["commit order"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "if (isEmpty(batch)) return null;",
    to: "for (const answer of answers) answer();\n  if (isEmpty(batch)) return null;",
  },
  {
    name: "commands are decided on the state before the later commits",
    rules: ["results", "managers", "schedule"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "  known.state = state;\n",
    to: "",
  },
  {
    name: "later commits are not read without a command",
    rules: ["managers", "end"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: "if (this.#isReadDue) this.#core.wake();",
    to: "",
  },
  {
    name: "the capacity of a referee is not part of the decision",
    rules: ["capacity"],
    file: "league-manager/commands/match-commands.ts",
    from: "if (occupiedIn(state, refereeId) >= referee.maxConcurrent) {",
    to: "if (occupiedIn(state, refereeId) < 0) {",
  },
  {
    name: "an opened round has no jobs",
    rules: ["end"],
    file: "league-manager/match-queue.ts",
    from: '      case "round_opened":\n',
    to: "",
  },
  {
    name: "a released match has no job",
    rules: ["end"],
    file: "league-manager/match-queue.ts",
    from: "        add({ leagueId, matchId: event.match_id, epoch: event.epoch + 1 });\n",
    to: "",
  },
  {
    name: "a manager drops the job of the next attempt when it reads that the last attempt has ended",
    rules: ["end"],
    file: "league-manager/effects/held-jobs.ts",
    from: "return this.#held.get(leagueId)?.get(matchId)?.epoch === epoch;",
    to: "return this.#held.get(leagueId)?.has(matchId) === true;",
  },
  {
    name: "a manager that no referee answers keeps the jobs of the matches that it has assigned",
    rules: ["end"],
    file: "league-manager/effects/dispatch/dispatch.ts",
    from: "      if (up.length === 0) return false;\n",
    to: "",
  },
  {
    name: "a manager that starts misses the commits that others make while it loads the state",
    rules: ["managers", "errors"],
    file: "league-manager/shared-run/shared-ledger.ts",
    from: `  const { number } = await database.commitsAfter(AFTER_ALL);
  return { ...(await loadState(database, leagueIds)), number };`,
    to: `  const loaded = await loadState(database, leagueIds);
  const { number } = await database.commitsAfter(AFTER_ALL);
  return { ...loaded, number };`,
  },
  {
    name: "the events of a run with several managers have the times of the machines",
    rules: ["managers"],
    file: "league-manager/shared-run/run-clock.ts",
    from: "iso: () => isoAt(now())",
    to: "iso: () => isoAt(clock.now())",
  },
];
