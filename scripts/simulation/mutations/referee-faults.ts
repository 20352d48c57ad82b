import type { Mutation } from "./mutation.ts";

/** Faults in the code of the referee. */
export const REFEREE_FAULTS: readonly Mutation[] = [
  {
    name: "a repeated START_GAME begins a new session",
    // The store refuses the second session of an epoch.
    rules: ["errors", "end"],
    file: "referee/match/referee.ts",
    from: "const isResumed = newest?.epoch === epoch;",
    to: "const isResumed = false;",
  },
  {
    name: "a report is not repeated",
    rules: ["end"],
    file: "referee/match/report-result.ts",
    from: "await driver.clock.pause(pauseMs, signal);",
    to: "return false;",
  },
  {
    name: "the time limit for a move is taken as seconds",
    rules: ["forfeits"],
    file: "referee/match/play-match.ts",
    from: "return { limitMs: moveMs, overFault",
    to: "return { limitMs: moveMs / 1_000, overFault",
  },
  {
    name: "a request for a move shows the clocks at the start of the match",
    rules: ["clocks"],
    file: "referee/match/play-match.ts",
    from: "return { clock: { ...turnClocks, remaining_ms: { ...turnClocks.remaining_ms, [role]: left } } };",
    to: "return { clock: { ...turnClocks, remaining_ms: { ...turnClocks.remaining_ms, [role]: turnClocks.initial_ms } } };",
  },
  {
    name: "a refused connection to a player is not retried",
    rules: ["forfeits"],
    file: "referee/match/player-messages.ts",
    from: "      retry: true,\n",
    to: "",
  },
  {
    name: "a player that was restarted is not invited again",
    rules: ["forfeits"],
    file: "referee/match/play-match.ts",
    from: 'reply.kind === "unknown_match" && invitations < MAX_INVITATIONS',
    to: 'reply.kind === "unknown_match" && invitations < 0',
  },
  {
    name: "a restarted referee does not resume its matches",
    rules: ["end"],
    file: "referee/registration.ts",
    from: "for (const order of response.matches ?? []) await referee.start(order);",
    to: "",
  },
  {
    name: "a resumed turn requests moves of players that have acted",
    // The repeated request shows the player its own choice.
    rules: ["views", "turns", "moves", "results"],
    file: "referee/match/play-match.ts",
    from: "rolesToAct(game, state).flatMap((role) =>",
    to: "(game.info.simultaneous ? game.roles : rolesToAct(game, state)).flatMap((role) =>",
  },
  {
    name: "a player sees the view of its opponent",
    rules: ["sealed choices", "views"],
    file: "referee/match/play-match.ts",
    from: "const view = seatView(session, role);",
    to: "const view = seatView(session, session.game.roles.find((one) => one !== role) ?? role);",
  },
  {
    name: "the opponent of a player at fault is charged",
    rules: ["forfeits"],
    file: "referee/match/play-match.ts",
    from: "return err(recordedFault(driver, player, answer.error, request));",
    to: "return err(recordedFault(driver, match.players.find((one) => one !== player) ?? player, answer.error, request));",
  },
  {
    name: "a match can be withdrawn without the manager's signature",
    rules: ["forgeries"],
    file: "referee/operations.ts",
    from: 'if (!isManager(context, caller.authToken ?? "", matchRef(league_id, match_id))) {',
    to: "if (caller.sender === null) {",
  },
  {
    name: "an answer of another player is accepted",
    rules: ["turns", "moves"],
    file: "referee/match/player-messages.ts",
    from: "sender === `player:",
    to: "sender || `player:",
  },
  {
    name: "an answer for another tick is accepted",
    rules: ["turns", "moves"],
    file: "referee/match/player-messages.ts",
    from: "if (tick !== turn.tick) return",
    to: "if (tick < 0) return",
  },
  {
    name: "a player gets the state of another role",
    rules: ["sealed choices"],
    file: "referee/operations.ts",
    from: "return ok({ match_id, ...matchState(match.stored.session, match.viewer, context) });",
    to: `const other = match.stored.session.game.roles.find((role) => role !== match.viewer);
      return ok({ match_id, ...matchState(match.stored.session, other ?? match.viewer, context) });`,
  },
  {
    name: "a referee keeps its ended sessions in memory",
    rules: ["memory"],
    file: "referee/match/referee.ts",
    from: "      driver.host.forget(sessionId);\n",
    to: "",
  },
  {
    name: "a referee changes a move",
    rules: ["moves"],
    file: "referee/match/play-match.ts",
    from: "{ role, action: move, expectedTick",
    to: '{ role, action: typeof move === "number" ? 1 : move, expectedTick',
  },
  {
    name: "a withdrawn epoch can be started",
    rules: ["epochs"],
    file: "referee/match/referee.ts",
    from: "epoch > last.epoch) return null;",
    to: "epoch > 0) return null;",
  },
  {
    name: "the end of a run removes the newer epoch from the running matches",
    rules: ["epochs"],
    file: "referee/match/referee.ts",
    from: "if (running.get(ref) === match) running.delete(ref);",
    to: "running.delete(ref);",
  },
  {
    name: "a repeated request has the whole time",
    rules: ["deadlines"],
    file: "referee/match/play-match.ts",
    from: "const reply = await asker.requestMove(player, request, leftMs);",
    to: "const reply = await asker.requestMove(player, { ...request, time_limit_seconds: limitMs / 1000 }, limitMs);",
  },
  {
    name: "the history of a player that was restarted counts as known",
    rules: ["views", "forfeits"],
    file: "referee/match/play-match.ts",
    from: "      match.knownHistory.forget(player.role);\n",
    to: "",
  },
  {
    name: "a choice that arrives while another one is being written is decided without it",
    rules: ["moves", "results", "export"],
    file: "referee/sessions/host.ts",
    from: "const decision = decide(found.pending.session, command, clock.iso());",
    to: "const decision = decide(found.session, command, clock.iso());",
  },
  {
    name: "an illegal action gives a player its whole time limit again",
    rules: ["deadlines"],
    file: "referee/match/play-match.ts",
    from: "deadline += clock.monotonic() - answeredAt;",
    to: "deadline = clock.monotonic() + limitMs;",
  },
  {
    name: "the number of the round stays 1 for players that want no ROUND_RESULT",
    rules: ["turns"],
    file: "referee/match/play-match.ts",
    from: "  match.closedRounds += closed.length;\n",
    to: "  if (listeners.length > 0) match.closedRounds += closed.length;\n",
  },
  {
    name: "the players of a withdrawn match are told that they did not answer in time",
    rules: ["deadlines"],
    file: "referee/match/play-match.ts",
    from: `  stopIfWithdrawn(match);
  const faults = results.flatMap((result) => (result.ok ? [] : [result.error]));
  for (const fault of faults) if (fault.code === "G002") notifyTimeout(driver, match, fault);
`,
    to: `  const faults = results.flatMap((result) => (result.ok ? [] : [result.error]));
  for (const fault of faults) if (fault.code === "G002") notifyTimeout(driver, match, fault);
  stopIfWithdrawn(match);
`,
  },
  {
    name: "a referee continues a match that was withdrawn under its epoch",
    rules: ["epochs"],
    file: "referee/match/referee.ts",
    from: "if (!stored || stored.epoch > epoch) return;",
    to: "if (!stored || stored.epoch >= epoch) return;",
  },
  {
    name: "a referee accepts a START_GAME of the withdrawn epoch that arrives late",
    rules: ["epochs"],
    file: "referee/match/referee.ts",
    from: "if (!last || !isOfRun || epoch > last.epoch) return null;",
    to: "if (!last || !isOfRun || epoch >= last.epoch) return null;",
  },
  {
    name: "a referee with its maximum number of matches rejects a repeated START_GAME of one of them",
    rules: ["release"],
    file: "referee/operations.ts",
    from: "if (active.size >= context.maxConcurrentMatches && !active.has(ref)) {",
    to: "if (active.size >= context.maxConcurrentMatches) {",
  },
  {
    name: "a result that the manager rejects for a moment is not sent again",
    rules: ["results", "end"],
    file: "referee/match/report-result.ts",
    from: "  if (payload.retryable === true) return null;\n",
    to: "",
  },
];

/** Faults in the code of the player. */
export const PLAYER_FAULTS: readonly Mutation[] = [
  {
    name: "a player answers a repeated request with another move",
    rules: ["repeated requests"],
    file: "player/matches/player.ts",
    from: "request.error == null ? match.answers.get(request.tick) : undefined",
    to: "request.error === null ? match.answers.get(request.tick) : undefined",
  },
  {
    name: "a player keeps its ended matches in memory",
    rules: ["memory"],
    file: "player/matches/player.ts",
    from: "    this.#matches.delete(key);\n    this.#rememberEnd(",
    to: "    this.#rememberEnd(",
  },
  {
    name: "a player answers a request of an older epoch",
    rules: ["epochs"],
    file: "player/matches/player.ts",
    from: 'if (epoch !== null && epoch < match.invite.epoch) return "old_epoch";',
    to: "",
  },
  {
    name: "the bot receives a view without the omitted history",
    rules: ["views"],
    file: "player/matches/player.ts",
    from: "return { ...request, game_state: view };",
    to: "return request;",
  },
  {
    name: "a player asks its bot again when a request is doubled after its answer",
    rules: ["repeated requests"],
    file: "player/matches/player.ts",
    from: "      return { move: await answer };\n",
    to: `      const move = await answer;
      match.answers.delete(request.tick);
      return { move };
`,
  },
  {
    name: "a player begins a match again when its invitation arrives once more after the result",
    rules: ["epochs"],
    file: "player/matches/player.ts",
    from: `    if (messageId !== null && this.#envelopes.has(messageId)) return { accept: false, reason: "this match is over" };
`,
    to: "",
  },
];
