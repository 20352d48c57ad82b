import type { Mutation } from "./mutation.ts";

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
