import type { Mutation } from "./mutation.ts";

/** Faults in the code of the referee. */
export const REFEREE_FAULTS: readonly Mutation[] = [
  {
    name: "a repeated START_GAME begins a new session",
    file: "referee/match/match-start.ts",
    from: "const isResumed = newest?.epoch === epoch;",
    to: "const isResumed = false;",
  },
  {
    name: "a report is not repeated",
    file: "referee/match/report.ts",
    from: "await driver.clock.pause(pauseMs, signal);",
    to: "return false;",
  },
  {
    name: "the time limit for a move is taken as seconds",
    file: "referee/match/ask-move.ts",
    from: "return { limitMs: moveMs, overFault",
    to: "return { limitMs: moveMs / 1_000, overFault",
  },
  {
    name: "a request for a move shows the clocks at the start of the match",
    file: "referee/match/ask-move.ts",
    from: "return { clock: { ...turnClocks, remaining_ms: { ...turnClocks.remaining_ms, [role]: left } } };",
    to: "return { clock: { ...turnClocks, remaining_ms: { ...turnClocks.remaining_ms, [role]: turnClocks.initial_ms } } };",
  },
  {
    name: "a refused connection to a player is not retried",
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
    name: "a resumed turn requests moves of players that have acted",
    file: "referee/match/play-match.ts",
    from: "rolesToAct(game, state).flatMap((role) =>",
    to: "(game.info.simultaneous ? game.roles : rolesToAct(game, state)).flatMap((role) =>",
  },
  {
    name: "a player sees the view of its opponent",
    file: "referee/match/messages.ts",
    from: "const view = seatView(session, role);",
    to: "const view = seatView(session, session.game.roles.find((one) => one !== role) ?? role);",
  },
  {
    name: "the opponent of a player at fault is charged",
    file: "referee/match/play-match.ts",
    from: "return err(recordedFault(driver, player, answer.error, request));",
    to: "return err(recordedFault(driver, match.players.find((one) => one !== player) ?? player, answer.error, request));",
  },
  {
    name: "a match can be withdrawn without the manager's signature",
    file: "referee/operations/orders.ts",
    from: 'if (!isManager(context, caller.authToken ?? "", matchRef(league_id, match_id))) {',
    to: "if (caller.sender === null) {",
  },
  {
    name: "an answer of another player is accepted",
    file: "referee/match/ask.ts",
    from: "sender === `player:",
    to: "sender || `player:",
  },
  {
    name: "an answer for another tick is accepted",
    file: "referee/match/ask.ts",
    from: "if (tick !== turn.tick) return",
    to: "if (tick < 0) return",
  },
  {
    name: "a player gets the state of another role",
    file: "referee/operations/game-state.ts",
    from: "return ok({ match_id, ...matchState(match.stored.session, match.viewer, context.host.lobby) });",
    to: `const other = match.stored.session.game.roles.find((role) => role !== match.viewer);
      return ok({ match_id, ...matchState(match.stored.session, other ?? match.viewer, context.host.lobby) });`,
  },
  {
    name: "a referee keeps its ended sessions in memory",
    file: "referee/match/match-run.ts",
    from: "      driver.host.forget(sessionId);\n",
    to: "",
  },
  {
    name: "a referee changes a move",
    file: "referee/match/ask-move.ts",
    from: "{ role, action: move, expectedTick",
    to: '{ role, action: typeof move === "number" ? 1 : move, expectedTick',
  },
];
