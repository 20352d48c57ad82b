import type { Mutation } from "./mutation.ts";

/** Faults in the code that all agents share. */
export const SHARED_FAULTS: readonly Mutation[] = [
  {
    name: "the time of an action is charged twice",
    rules: ["clocks"],
    file: "shared/session/clock.ts",
    from: "const left = timeLeft(clocks, role) - spentMs;",
    to: "const left = timeLeft(clocks, role) - 2 * spentMs;",
  },
  {
    name: "the event log resolves before the commit",
    rules: ["commit order"],
    file: "shared/store/sqlite-event-log.ts",
    from: "    await committed;\n",
    to: "    committed.catch(() => {});\n",
  },
  {
    name: "the timeout of a call is measured by the machine's date",
    rules: ["forfeits", "end"],
    file: "shared/rpc/peer/retry.ts",
    from: "  const deadline = clock.monotonic() + options.timeoutMs;\n",
    to: "  const deadline = clock.now() + options.timeoutMs;\n  clock = { ...clock, monotonic: clock.now };\n",
  },
  {
    name: "an open turn shows the choice of the other player",
    rules: ["sealed choices", "views"],
    file: "shared/games/even-odd.ts",
    from: 'EVEN: viewer === "EVEN" ? choices.EVEN : null,',
    to: "EVEN: choices.EVEN,",
  },
  {
    name: "a draw gives no points",
    rules: ["standings"],
    file: "shared/session/verdict.ts",
    from: "isDraw ? POINTS.draw :",
    to: "isDraw ? POINTS.loss :",
  },
  {
    name: "a simultaneous turn closes with the first choice",
    rules: ["turns", "moves"],
    file: "shared/session/session.ts",
    from: "turnTick: closesTurn ? tick : session.turnTick,",
    to: "turnTick: tick,",
  },
  {
    name: "the head of a failed append stays in memory",
    rules: ["errors", "export", "results"],
    file: "shared/store/sqlite-event-log.ts",
    from: "    heads.drop(pinned);\n",
    to: "",
  },
  {
    name: "the calls of a lost WebSocket wait for their time limit",
    rules: ["end", "forfeits"],
    file: "shared/rpc/peer/call-socket.ts",
    from: "    const calls = [...this.#calls.values()];\n",
    to: "    const calls: Call[] = [];\n",
  },
  {
    name: "a lost WebSocket takes further calls",
    rules: ["end", "forfeits"],
    file: "shared/rpc/peer/endpoint-socket.ts",
    from: 'if (this.#state.name === "open" && this.#state.socket === socket) this.#pause();',
    to: "",
  },
  {
    name: "an answer over a WebSocket ends the oldest call",
    // The answer of another call is invalid: the referee repeats a request to a player that has not answered yet.
    rules: ["deadlines", "turns", "moves", "repeated requests", "end"],
    file: "shared/rpc/peer/call-socket.ts",
    from: "this.#calls.get(id as number) ?? this.#onlyCall(id)",
    to: "this.#calls.values().next().value",
  },
  {
    name: "the timer of a call is not cancelled",
    rules: ["resources"],
    file: "shared/rpc/peer/call.ts",
    from: "    this.#cancelTimer();\n",
    to: "",
  },
  {
    name: "the bot receives the list of views that is kept, not a copy",
    rules: ["views"],
    file: "shared/games/view-history.ts",
    from: "return list ? withHistory(view, path, [...list]) : view;",
    to: "return list ? view : null;",
  },
];
