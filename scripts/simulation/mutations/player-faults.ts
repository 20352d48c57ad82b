import type { Mutation } from "./mutation.ts";

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
    file: "player/matches/last-view.ts",
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
