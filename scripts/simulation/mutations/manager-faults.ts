import type { Mutation } from "./mutation.ts";

/** Faults in the code of the league manager. */
export const MANAGER_FAULTS: readonly Mutation[] = [
  {
    name: "the manager answers before the commit",
    rules: ["commit order", "results"],
    file: "league-manager/store/ledger-core.ts",
    from: "return () => resolve({ ok: true, value: reply });",
    to: "resolve({ ok: true, value: reply });\n    return () => {};",
  },
  {
    name: "the ledger does not wait for its append",
    rules: ["commit order", "results"],
    file: "league-manager/store/store-ledger.ts",
    from: "await store.commit(appends, batch.writes, batch.at);",
    to: "store.commit(appends, batch.writes, batch.at).catch(() => {});",
  },
  {
    name: "a result of an earlier epoch is accepted",
    rules: ["results", "export"],
    file: "league-manager/league/decide.ts",
    from: "if (match.refereeId !== refereeId || match.epoch !== epoch) {\n",
    to: `if (match.refereeId !== null && match.epoch !== epoch) {
      const taken = { ...result, epoch: match.epoch };
      return decideReport(league, { type: "report", result: taken, refereeId: match.refereeId, seed });
    } else if (match.refereeId !== refereeId) {\n`,
  },
  {
    name: "a repeated result is rejected",
    rules: ["results"],
    file: "league-manager/league/decide.ts",
    from: "return isRecorded(match, result) ? ok(NO_EVENTS) : err(conflictError(name, match));",
    to: "return err(conflictError(name, match));",
  },
  {
    name: "a repeated result is recorded again",
    // The store refuses the second record, so that the manager answers an internal error.
    rules: ["results", "errors"],
    file: "league-manager/league/decide.ts",
    from: 'if (match.status === "completed") return',
    to: 'if (match.status === "scheduled") return',
  },
  {
    name: "any answer to START_GAME counts as accepted",
    rules: ["end"],
    file: "league-manager/effects/dispatch/start-game-delivery.ts",
    from: 'if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {',
    to: "if (reply.ok) {",
  },
  {
    name: "a START_GAME without an answer counts as accepted",
    rules: ["end"],
    file: "league-manager/effects/dispatch/start-game-delivery.ts",
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
    file: "league-manager/league/evolve.ts",
    from: "const epoch = match.epoch + 1;",
    to: "const epoch = match.epoch;",
  },
  {
    name: "missed health probes are not counted",
    rules: ["end", "release"],
    file: "league-manager/effects/dispatch/referee-health.ts",
    from: "{ all: all + 1,",
    to: "{ all,",
  },
  {
    name: "a referee that does not answer keeps its matches",
    rules: ["end", "release"],
    file: "league-manager/effects/dispatch/match-assignment.ts",
    from: "this.#release(league.leagueId, lost);",
    to: ";",
  },
  {
    name: "a round opens before the earlier one is completed",
    rules: ["schedule"],
    file: "league-manager/league/evolve.ts",
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
  {
    name: "a referee that cannot be reached is never lost",
    rules: ["release"],
    file: "league-manager/effects/dispatch/referee-health.ts",
    from: "return refused >= this.#maxMisses(refereeId) || all >= SILENT_PROBES[patience];",
    to: "return refused < 0 || all < 0 || patience === undefined;",
  },
  {
    name: "the opponent of a player that has timed out is counted, too",
    rules: ["timeouts"],
    file: "league-manager/commands/match-commands.ts",
    from: "const isTimeout = hasTimedOut(faults, playerId);",
    to: "const isTimeout = players.some((id) => hasTimedOut(faults, id));",
  },
  {
    name: "an answer does not end the count of timeouts",
    rules: ["timeouts"],
    file: "league-manager/agents/registered-agent.ts",
    from: 'return { fails: 0, state: agent.state === "SUSPENDED"',
    to: 'return { fails: agent.fails, state: agent.state === "SUSPENDED"',
  },
  {
    name: "the matches of an opened round are lost at a restart",
    rules: ["end"],
    file: "league-manager/league/open-work.ts",
    from: "if (round.isOpened && round.open > 0) for",
    to: "if (round.isOpened && round.open < 0) for",
  },
  {
    name: "the time of a match begins again with the manager",
    rules: ["release"],
    file: "league-manager/effects/deadlines.ts",
    from: "Math.max(matchMs, afterStartMs, 0)",
    to: "Math.max(timeouts.match_ms, matchMs, afterStartMs, 0)",
  },
  {
    name: "a referee is not told that a match that it plays was cancelled",
    rules: ["capacity"],
    file: "league-manager/league/evolve.ts",
    from: `      : event.type === "match_cancelled" ||
        event.type === "match_annulled" ||`,
    to: '      : event.type === "match_annulled" ||',
  },
  {
    name: "the players of a format are kept although one of them has left",
    rules: ["export", "schedule"],
    file: "league-manager/league/format-view.ts",
    from: "if (kept?.departed === departed && kept.format === format) return kept.players;",
    to: "if (kept?.format === format) return kept.players;",
  },
  {
    name: "a player that is shut down by a timeout is paired in later rounds",
    rules: ["timeouts"],
    file: "league-manager/commands/match-commands.ts",
    from: `    draft.agent(playerId, { type: isTimeout ? "time_out" : "answer", leagueId, matchId, epoch });
    if (isTimeout) leaveRunningLeagues(draft, playerId);`,
    to: `    if (isTimeout) leaveRunningLeagues(draft, playerId);
    draft.agent(playerId, { type: isTimeout ? "time_out" : "answer", leagueId, matchId, epoch });`,
  },
  {
    name: "three timeouts that do not follow each other shut a player down",
    rules: ["timeouts"],
    file: "league-manager/agents/registered-agent.ts",
    from: 'return isPlaying && agent.fails > 0 ? { type: "answered", ...keyOf(command) } : null;',
    to: 'return agent.state === "SUSPENDED" ? { type: "answered", ...keyOf(command) } : null;',
  },
  {
    name: "a format is not asked again when more referees can start matches",
    rules: ["end"],
    file: "league-manager/effects/round-effects.ts",
    from: "if (answered && slots <= answered.slots && isUnchanged(answered, league)) return;",
    to: "if (answered && isUnchanged(answered, league)) return;",
  },
  {
    name: "the time limit of a match runs on after the match is completed or released",
    rules: ["resources"],
    file: "league-manager/effects/deadlines.ts",
    from: "    for (const cancel of before.values()) cancel();\n",
    to: "",
  },
  {
    name: "a match of a person and a program is taken from a silent referee as early as one of programs",
    rules: ["release"],
    file: "league-manager/effects/dispatch/match-assignment.ts",
    from: "players.some((id) => agents.get(id)?.isPlayedByHand === true)",
    to: "players.every((id) => agents.get(id)?.isPlayedByHand === true)",
  },
  {
    name: "a manager that starts again takes matches from referees that start more slowly",
    rules: ["release"],
    file: "league-manager/effects/dispatch/referee-health.ts",
    from: "return refused >= this.#maxMisses(refereeId) || all >= SILENT_PROBES[patience];",
    to: "return refused >= MAX_MISSES || all >= SILENT_PROBES[patience];",
  },
  {
    name: "a match is handed over as soon as the first of its players may be invited",
    rules: ["schedule"],
    file: "league-manager/effects/dispatch/start-game-delivery.ts",
    from: "await Promise.all(match.players.map((id) => this.#options.mayInvite(leagueId, match.roundId, id)));",
    to: "await Promise.race(match.players.map((id) => this.#options.mayInvite(leagueId, match.roundId, id)));",
  },
  {
    name: "the last ROUND_END of a league that the operator ends is that of a round that was not opened",
    rules: ["schedule"],
    file: "league-manager/effects/announcements.ts",
    from: "?.rounds.findLast(({ isOpened }) => isOpened)?.roundId ?? 0;",
    to: "?.rounds.at(-1)?.roundId ?? 0;",
  },
  {
    name: "the announcements of two leagues share their lists",
    rules: ["schedule"],
    file: "league-manager/effects/announcement-queues.ts",
    from: `const key = \`\${leagueId}/\${type}\`;`,
    to: "const key = type;",
  },
  {
    name: "announced standings count a match that was annulled after an earlier announcement",
    rules: ["standings"],
    file: "league-manager/effects/announcement-queues.ts",
    from: "if (!progress || progress.rounds > roundId || progress.annulled !== annulled) {",
    to: "if (!progress || progress.rounds > roundId) {",
  },
  {
    name: "a request that the store cannot take now is finally rejected",
    rules: ["results", "end"],
    file: "league-manager/start/compose.ts",
    from: "try again later`, {}, true)",
    to: "try again later`)",
  },
  {
    name: "a bracket pairs a player that has left if its opponent has not left",
    rules: ["schedule"],
    file: "shared/formats/elimination.ts",
    from: "if (!reader.hasLeft.has(one) && !reader.hasLeft.has(two)) return open;",
    to: "if (!reader.hasLeft.has(one) || !reader.hasLeft.has(two)) return open;",
  },
  {
    name: "the end of the last league dismisses no agent",
    rules: ["end"],
    file: "league-manager/commands/league-commands.ts",
    from: "const { leagues, formerLeagues } = draft.state;",
    to: "const { leagues, formerLeagues } = state;",
  },
];

/** Faults in the code for players with inboxes and for players of other dialects. */
export const CONTACT_FAULTS: readonly Mutation[] = [
  {
    name: "the expectation of a separate answer ends only with an error",
    rules: ["memory"],
    file: "shared/rpc/dialects/dialect-peers.ts",
    from: `  } finally {
    expected.close();
  }`,
    to: `  } catch (thrown) {
    expected.close();
    throw thrown;
  }`,
  },
  {
    name: "a separate answer without a token is accepted from every address",
    rules: ["forgeries"],
    file: "shared/rpc/dialects/late-answers.ts",
    from: "const near = open.filter((_, index) => isNear[index]);",
    to: "const near = open.filter((_, index) => isNear[index] || token === null);",
  },
  {
    name: "a player of a dialect is told after each round that all earlier rounds are completed",
    rules: ["dialects"],
    file: "shared/protocol/dialects/dialect.ts",
    from: "  memory.delete(leagueId);\n",
    to: "",
  },
  {
    name: "a player of a dialect may receive its result after the manager if its opponent is a native player",
    rules: ["dialects"],
    file: "referee/match/report-result.ts",
    from: "Object.values(roles).some(({ dialect }) => dialect !== NATIVE)",
    to: "Object.values(roles).every(({ dialect }) => dialect !== NATIVE)",
  },
  {
    name: "after a restart of the manager, the requests of an inbox have lower numbers than its player waits for",
    rules: ["forfeits", "end"],
    file: "league-manager/inbox/inbox.ts",
    from: "const known = after >= firstNumber && after < nextNumber ? after : 0;",
    to: "const known = after >= firstNumber ? after : 0;",
  },
  {
    name: "a player with an inbox sends each answer in one poll only, even if that poll is interrupted",
    rules: ["forfeits"],
    file: "player/inbox-client.ts",
    from: "  const sent = answersToSend(state);\n",
    to: `  const sent = answersToSend(state);
  for (const id of sent.keys()) state.answers.delete(id);
`,
  },
];

/** Faults in what the manager does for operators. */
export const OPERATOR_FAULTS: readonly Mutation[] = [
  {
    name: "a paused league goes on",
    file: "league-manager/league/evolve.ts",
    from: "isPaused: true",
    to: "isPaused: false",
    rules: ["operators"],
  },
  {
    name: "an annulled match keeps its points",
    file: "league-manager/league/evolve.ts",
    from: 'completed({ ...match, refereeId: null }, abortedOutcome(ANNULLED), "")',
    to: 'completed({ ...match, refereeId: null }, match.outcome ?? abortedOutcome(ANNULLED), "")',
    rules: ["operators", "standings"],
  },
  {
    name: "every caller is an operator",
    file: "league-manager/api/operator-operations.ts",
    from: "authToken !== null && equalSecrets(authToken, operatorToken)",
    to: 'equalSecrets(authToken ?? "", operatorToken) || operatorToken !== ""',
    rules: ["operators"],
  },
  {
    name: "a token stays valid after its reset",
    file: "league-manager/commands/agent-commands.ts",
    from: "tokenHash: sha256Hex(newToken) }",
    to: 'tokenHash: newToken === "" ? sha256Hex(newToken) : player.value.tokenHash }',
    rules: ["operators"],
  },
  {
    name: "a removed player plays the following rounds",
    file: "league-manager/commands/league-commands.ts",
    from: 'if (player?.state !== "SHUTDOWN") continue;',
    to: 'if (player?.state !== "SHUTDOWN" || player.isRemoved) continue;',
    rules: ["operators"],
  },
  {
    name: "a round ends before its time",
    file: "league-manager/effects/round-effects.ts",
    from: "this.#context.clock.now() < endMs)",
    to: "this.#context.clock.now() < endMs - 500)",
    rules: ["operators"],
  },
  {
    name: "a league starts before its time",
    file: "league-manager/effects/league-start.ts",
    from: "clock.now() < Date.parse(league.startsAt)",
    to: "clock.now() < Date.parse(league.startsAt) - 500",
    rules: ["operators"],
  },
  {
    name: "an ended league assigns its open matches",
    file: "league-manager/league/decide.ts",
    from: "...league.rounds.flatMap(({ matches }) => cancellationsOf(matches)),",
    to: "...league.rounds.slice(0, 1).flatMap(({ matches }) => cancellationsOf(matches)),",
    rules: ["operators", "end"],
  },
  {
    name: "a paused league that the operator ends stays paused",
    rules: ["operators"],
    file: "league-manager/league/evolve.ts",
    from: "return { isPairingComplete: true, isEnded: true, isPaused: false };",
    to: "return { isPairingComplete: true, isEnded: true };",
  },
  {
    name: "a match that is added to a round that has begun is not assigned before the manager starts again",
    rules: ["end", "schedule"],
    file: "league-manager/league/open-work.ts",
    from: `    case "match_scheduled":
    case "match_assigned":`,
    to: '    case "match_assigned":',
  },
  {
    name: "a match that was annulled before its round is also forfeited when the round opens",
    rules: ["operators", "end"],
    file: "league-manager/league/decide.ts",
    from: '({ status, players: seated }) => status !== "completed" && seated.some((playerId) => shutDown.has(playerId)),',
    to: "({ players: seated }) => seated.some((playerId) => shutDown.has(playerId)),",
  },
  {
    name: "a match is annulled although the pairings of the next round depend on it",
    rules: ["operators", "export"],
    file: "league-manager/league/decide.ts",
    from: "roundOf(league, roundId + 1)?.roundId",
    to: "roundOf(league, roundId + 2)?.roundId",
  },
];

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
    file: "league-manager/effects/dispatch/match-assignment.ts",
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
