/** A deliberate fault in production code: `from` occurs once in the file and is replaced by `to`. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Faults that the simulation must find. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "the manager answers before the commit",
    file: "league-manager/store/ledger.ts",
    from: "return () => resolve({ ok: true, value: reply });",
    to: "resolve({ ok: true, value: reply });\n    return () => {};",
  },
  {
    name: "the ledger does not wait for its append",
    file: "league-manager/store/ledger.ts",
    from: "await store.log.append(appends, batch.statements);",
    to: "store.log.append(appends, batch.statements).catch(() => {});",
  },
  {
    name: "the event log resolves before the commit",
    file: "shared/store/sqlite-event-log.ts",
    from: "    await committed;\n",
    to: "    committed.catch(() => {});\n",
  },
  {
    name: "a result of an earlier epoch is taken",
    file: "league-manager/league/report.ts",
    from: "if (match.refereeId !== refereeId || match.epoch !== epoch) {\n",
    to: `if (match.refereeId !== null && match.epoch !== epoch) {
      const taken = { ...result, epoch: match.epoch };
      return decideReport(league, { type: "report", result: taken, refereeId: match.refereeId, seed });
    } else if (match.refereeId !== refereeId) {\n`,
  },
  {
    name: "a repeated result is refused",
    file: "league-manager/league/report.ts",
    from: "return isRecorded(match, result) ? ok(NOTHING) : err(otherResult(name, match));",
    to: "return err(otherResult(name, match));",
  },
  {
    name: "a repeated result is recorded again",
    file: "league-manager/league/report.ts",
    from: 'if (match.status === "completed") return',
    to: 'if (match.status === "scheduled") return',
  },
  {
    name: "a repeated START_GAME begins a new session",
    file: "referee/referee.ts",
    from: "const isResumed = newest?.epoch === epoch;",
    to: "const isResumed = false;",
  },
  {
    name: "any answer to START_GAME counts as accepted",
    file: "league-manager/effects/dispatch/hand-over.ts",
    from: 'if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {',
    to: "if (reply.ok) {",
  },
  {
    name: "a START_GAME without an answer counts as accepted",
    file: "league-manager/effects/dispatch/hand-over.ts",
    from: 'if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {',
    to: "if (!reply.ok || reply.value.type) {",
  },
  {
    name: "a report is not repeated",
    file: "referee/match/report.ts",
    from: "await driver.clock.pause(pauseMs, signal);",
    to: "return false;",
  },
  {
    name: "a released match is not listed as open work",
    file: "league-manager/league/open-work.ts",
    from: '    case "match_released":\n',
    to: "",
  },
  {
    name: "events of leagues do not change the open work",
    file: "league-manager/effects/reconciler.ts",
    from: 'if (committed.kind !== "league") continue;',
    to: 'if (committed.kind === "league") continue;',
  },
  {
    name: "the time for a move is in seconds",
    file: "referee/match/ask-move.ts",
    from: "const limitMs = match.order.timeouts.move_ms;",
    to: "const limitMs = match.order.timeouts.move_ms / 1_000;",
  },
  {
    name: "the time of a call follows the machine's date",
    file: "shared/rpc/peer/peer.ts",
    from: "  const deadline = clock.monotonic() + options.timeoutMs;\n  let result = await once(options);",
    to: "  const deadline = clock.now() + options.timeoutMs;\n  clock = { ...clock, monotonic: clock.now };\n  let result = await once(options);",
  },
  {
    name: "a refused connection to a player is not tried again",
    file: "referee/match/ask.ts",
    from: "      retry: true,\n",
    to: "",
  },
  {
    name: "a player that was restarted is not invited again",
    file: "referee/match/ask-move.ts",
    from: 'reply.kind === "unknown_match" && invitations < MAX_INVITATIONS',
    to: 'reply.kind === "unknown_match" && invitations < 0',
  },
  {
    name: "a restarted referee does not resume its matches",
    file: "referee/registration.ts",
    from: "for (const order of response.matches ?? []) await referee.start(order);",
    to: "",
  },
  {
    name: "a resumed turn asks players that have acted",
    file: "referee/match/play-match.ts",
    from: "game.toAct(state).flatMap((role) =>",
    to: "(game.info.simultaneous ? game.roles : game.toAct(state)).flatMap((role) =>",
  },
  {
    name: "a player sees the view of its opponent",
    file: "referee/match/messages.ts",
    from: "const view = seatView(session, role);",
    to: "const view = seatView(session, session.game.roles.find((one) => one !== role) ?? role);",
  },
  {
    name: "an open turn shows the choice of the other player",
    file: "shared/games/even-odd.ts",
    from: 'EVEN: viewer === "EVEN" ? choices.EVEN : null,',
    to: "EVEN: choices.EVEN,",
  },
  {
    name: "a loss gives three points in the standings",
    file: "league-manager/league/standings.ts",
    from: "losses * POINTS.loss",
    to: "losses * POINTS.win",
  },
  {
    name: "a draw gives no points",
    file: "shared/session/verdict.ts",
    from: "drawn ? POINTS.draw :",
    to: "drawn ? POINTS.loss :",
  },
  {
    name: "a released match keeps its epoch",
    file: "league-manager/league/evolve-match.ts",
    from: "epoch: match.epoch + 1",
    to: "epoch: match.epoch",
  },
  {
    name: "missed health probes are not counted",
    file: "league-manager/effects/dispatch/health.ts",
    from: "else this.#misses.set(id, (this.#misses.get(id) ?? 0) + 1);",
    to: "",
  },
  {
    name: "a referee that is down keeps its matches",
    file: "league-manager/effects/dispatch/dispatch.ts",
    from: "if (lost.length > 0) this.#release(league.leagueId, lost);",
    to: "",
  },
  {
    name: "a forfeit names the opponent",
    file: "referee/match/play-match.ts",
    from: "return err(chargedTo(driver, player, answer.error, request));",
    to: "return err(chargedTo(driver, match.players.find((one) => one !== player) ?? player, answer.error, request));",
  },
  {
    name: "a round opens before the earlier one is completed",
    file: "league-manager/league/evolve-match.ts",
    from: "currentRound: firstOpenRound(rounds, index) }",
    to: "currentRound: firstOpenRound(rounds, index + 1) }",
  },
  {
    name: "a match may last as long as one move",
    file: "league-manager/effects/deadlines.ts",
    from: "return Math.min(Math.max(ofMatch, ofStart, 0), timeouts.match_ms);",
    to: "return Math.min(Math.max(ofMatch, ofStart, 0), timeouts.move_ms);",
  },
  {
    name: "a player answers a repeated request with another move",
    file: "player/matches/player.ts",
    from: "request.error == null ? playing.answers.get(request.tick) : undefined",
    to: "request.error === null ? playing.answers.get(request.tick) : undefined",
  },
  {
    name: "a turn of both players closes with the first choice",
    file: "shared/session/session.ts",
    from: "turnTick: closesTurn ? tick : session.turnTick,",
    to: "turnTick: tick,",
  },
  {
    name: "a league starts before its players are complete",
    file: "league-manager/effects/league-start.ts",
    from: "return entered >= needed;",
    to: "return entered >= league.roles.length;",
  },
  {
    name: "a failed append leaves its head in memory",
    file: "shared/store/sqlite-event-log.ts",
    from: "    heads.drop(held);\n",
    to: "",
  },
  {
    name: "a result may come from anyone",
    file: "league-manager/api/agent-operations.ts",
    from: "  return isSelf ? agent : null;",
    to: "  return isSelf ? agent : projections.agent(String(caller.sender).slice(8));",
  },
  {
    name: "anyone may withdraw a match",
    file: "referee/operations/orders.ts",
    from: 'if (!isManager(desk, caller.authToken ?? "", matchRef(league_id, match_id))) {',
    to: "if (caller.sender === null) {",
  },
  {
    name: "an answer in the name of another player counts",
    file: "referee/match/ask.ts",
    from: "sender === `player:",
    to: "sender || `player:",
  },
  {
    name: "an answer for another tick counts",
    file: "referee/match/ask.ts",
    from: "if (tick !== asked.tick) return",
    to: "if (tick < 0) return",
  },
  {
    name: "a player may ask for the state of another role",
    file: "referee/operations/game-state.ts",
    from: "return ok({ match_id, ...matchState(match.kept.session, match.viewer, desk.host.lobby) });",
    to: `const other = match.kept.session.game.roles.find((role) => role !== match.viewer);
      return ok({ match_id, ...matchState(match.kept.session, other ?? match.viewer, desk.host.lobby) });`,
  },
  {
    name: "a referee keeps its ended sessions in memory",
    file: "referee/referee.ts",
    from: "        host.forget(sessionId);\n",
    to: "",
  },
  {
    name: "a player keeps its ended matches",
    file: "player/matches/player.ts",
    from: "  matches.delete(key);\n",
    to: "",
  },
  {
    name: "the timer of a call is not cancelled",
    file: "shared/rpc/peer/pending.ts",
    from: "    this.#cancelTimer();\n",
    to: "",
  },
  {
    name: "a referee changes a move",
    file: "referee/match/ask-move.ts",
    from: "{ role, action: move, expectedTick",
    to: '{ role, action: typeof move === "number" ? 1 : move, expectedTick',
  },
];
