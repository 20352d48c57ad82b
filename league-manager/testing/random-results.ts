import { findGame } from "#shared/games/registry.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { type Command, create, decide, type Session } from "#shared/session/session.ts";
import { resultOf } from "./results.ts";

const AT = "2026-01-01T00:00:00.000Z";
/** One of this number of matches is lost because a player does not answer. */
const MATCHES_PER_FORFEIT = 25;
/** The number of times that a match is played until the favourite does not lose. */
const TRIES = 3;

/** The result of a match with random actions, the same for the same order. Players with lower numbers win more often, so that the standings differ. */
export function randomResult(order: StartGame): MatchResult {
  const random = createRandom(`${order.seed}/actions`);
  if (random.int(1, MATCHES_PER_FORFEIT) === 1) return resultOf(order, forfeit(order, random));
  const [favourite] = Object.values(order.roles)
    .map(({ player_id }) => player_id)
    .sort((one, other) => numberOf(one) - numberOf(other));
  let result = resultOf(order, randomCommands(order, random));
  for (let tried = 1; tried < TRIES && result.winner !== favourite; tried++)
    result = resultOf(order, randomCommands(order, random));
  return result;
}

const numberOf = (playerId: string): number => Number(playerId.slice(1));

/** Plays the start of a match, until a player does not answer. */
function forfeit(order: StartGame, random: Random): readonly Command[] {
  const role = random.pick(Object.keys(order.roles));
  const detail = "no answer within 30000 ms";
  const raw = 'HTTP/1.1 200 OK\n\n{"move": "<b>rock</b>"';
  return [{ type: "forfeit", faults: [{ role, code: "G002", cause: "timeout", detail, raw }] }];
}

/** Random actions up to the end of the game. */
function randomCommands(order: StartGame, random: Random): readonly Command[] {
  const game = findGame(order.game);
  if (!game) throw new Error(`no game ${order.game}`);
  const options = game.options.parse(order.options);
  const participants = Object.fromEntries(Object.keys(order.roles).map((role) => [role, role]));
  const commands: Command[] = [];
  let session: Session = create({ id: "s", game, options, participants, seed: order.seed, at: AT }).next;
  while (session.status === "active") {
    const role = random.pick(game.toAct(session.state));
    const action = random.pick(game.legalActions(session.state, role));
    const command: Command = { type: "act", role, action, expectedTick: null };
    const decided = decide(session, command, AT);
    if (!decided.ok) throw new Error(decided.error.message);
    commands.push(command);
    session = decided.value.next;
  }
  return commands;
}
