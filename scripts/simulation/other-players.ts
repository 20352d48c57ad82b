import { createRandom, type Random } from "#shared/lib/rng.ts";
import { DIALECT_PROGRAMS, type DialectProgram } from "./dialect-programs.ts";
import { DISTURBANCES_MS, type Disturbance } from "./disturbance.ts";
import { playerName } from "./machines/names.ts";
import type { Contact, Plan } from "./plan.ts";
import { isDialect } from "./player-plans.ts";

const SHARE_WITH_INBOXES = 0.2;
const SHARE_WITH_DIALECTS = 0.2;
/** The share of the players with another contact, in plans with such players. */
const SHARE_OF_CONTACTS = 0.5;
const SHARE_WITH_HOSTILE = 0.12;
const SHARE_WITH_LATE = 0.1;
const SHARE_WITH_CRASHES = 0.12;
const MAX_LATE_MS = 6_000;
/** A match of even/odd or of a long rock, paper, scissors has a history after its first round. */
const LONG_MATCH = { id: "rps.v1", options: { best_of: 5 } } as const;
/** Requests for moves, in the native protocol and in the dialects. */
const MOVE_CALLS = { native: "MOVE_REQUEST", evenOdd: "CHOOSE_PARITY_CALL", other: "GAME_MOVE_CALL" } as const;

/** The number of the kinds of `rarePlayerOf`, and of plans without one, in a row of seeds. */
const RARE_EVERY = 23;
const RARE_PLAYERS = ["hostile", "makeup", "forfeit", ...DIALECT_PROGRAMS] as const;
type RarePlayer = (typeof RARE_PLAYERS)[number];

/** Returns the player that a plan must have, by the number of its seed: a hostile one, a late one that its league admits, or a program of a dialect. */
const rarePlayerOf = ({ seed }: Plan): RarePlayer | undefined => RARE_PLAYERS[Number(seed) % RARE_EVERY];

/**
 * Adds players with inboxes, players of other dialects, hostile and late players to some plans, and players that crash during a match with a history. A
 * plan that has such players already stays as it is.
 */
export function withOtherPlayers(plan: Plan): Plan {
  if (plan.contacts) return plan;
  const rare = rarePlayerOf(plan);
  const random = createRandom(`${plan.seed}/players`);
  const [contact, hostile, late, crash] = [random.next(), random.next(), random.next(), random.next()];
  const withContacts =
    contact < SHARE_WITH_INBOXES + SHARE_WITH_DIALECTS ? withOtherContacts(plan, contact, random) : plan;
  const withReset = withContactOfReset(isDialect(rare) ? withProgram(withContacts, rare) : withContacts);
  const withHostile =
    rare === "hostile" || hostile < SHARE_WITH_HOSTILE
      ? withHostilePlayer(withReset, random, rare === "hostile")
      : withReset;
  const isAdmitted = rare === "makeup" || rare === "forfeit";
  const withLate =
    isAdmitted || late < SHARE_WITH_LATE
      ? withLatePlayer(isAdmitted ? admitting(withHostile, rare) : withHostile, random, isAdmitted)
      : withHostile;
  return crash < SHARE_WITH_CRASHES ? withCrashesInMatches(withLate, random) : withLate;
}

/** Gives another contact to players that behave well: an inbox, or a program of a dialect. */
function withOtherContacts(plan: Plan, chosen: number, random: Random): Plan {
  const isWithInboxes = chosen < SHARE_WITH_INBOXES;
  // A registration in a dialect does not choose between two leagues.
  if (!isWithInboxes && (hasOtherLeague(plan) || isTooShort(plan))) return plan;
  const contacts = plan.players.map((behaviour, n): Contact => {
    if (behaviour !== "well" || needsEndpoint(plan, n) || random.next() >= SHARE_OF_CONTACTS) return "endpoint";
    return isWithInboxes ? "inbox" : random.pick(DIALECT_PROGRAMS);
  });
  // A copy of a program of a dialect is another player, and two processes with one inbox cannot be distinguished.
  const isOther = (machine: string): boolean =>
    contacts.some((one, n) => one !== "endpoint" && playerName(n) === machine);
  const disturbances = plan.disturbances.filter((one) => one.type !== "copy" || !isOther(one.machine));
  return { ...plan, contacts, disturbances };
}

/** Whether a match may be over before its round is announced to a player of a dialect that does not answer. Its match would begin again and again. */
const isTooShort = ({ matchMs = ANNOUNCEMENT_MS }: Plan): boolean => matchMs < ANNOUNCEMENT_MS;
/** The time limit of an announcement (PROTOCOL.md, section 2). */
const ANNOUNCEMENT_MS = 10_000;

const hasOtherLeague = ({ former, added, visitor, isSecondLeague }: Plan): boolean =>
  isSecondLeague === true || [former, added, visitor].some((index) => index !== undefined);

/** Whether the plan is about the endpoint of a player: another player takes it, or a visitor calls tools at it. */
const needsEndpoint = ({ former, visitor }: Plan, index: number): boolean => index === former || index === visitor;

/** Lets the first player play in a dialect. */
function withProgram(plan: Plan, program: DialectProgram): Plan {
  const { players, contacts = players.map((): Contact => "endpoint"), disturbances } = plan;
  if (hasOtherLeague(plan) || isTooShort(plan)) return plan;
  const kept = disturbances.filter((one) => one.type !== "copy" || one.machine !== playerName(0));
  return { ...plan, players: players.with(0, "well"), contacts: contacts.with(0, program), disturbances: kept };
}

/** Gives the player whose token an operator resets an inbox, or lets it play in a dialect, in two of three plans. */
function withContactOfReset(plan: Plan): Plan {
  const { calls = [], players, contacts = players.map((): Contact => "endpoint") } = plan;
  const reset = calls.find(({ tool, isForged }) => tool === "reset_token" && !isForged)?.players?.[0];
  const index = Number(reset?.slice(1)) - 1;
  const number = Number(plan.seed);
  const contact = [undefined, "inbox", DIALECT_PROGRAMS[number % DIALECT_PROGRAMS.length]][number % 3] as
    | Contact
    | undefined;
  if (!players[index] || contact === undefined || hasOtherLeague(plan)) return plan;
  return { ...plan, players: players.with(index, "well"), contacts: contacts.with(index, contact) };
}

/** `isForced`: any player may become hostile, and no player lies. */
function withHostilePlayer(plan: Plan, random: Random, isForced: boolean): Plan {
  const { contacts, calls = [] } = plan;
  const players = plan.players.map((behaviour) => (isForced && behaviour === "lying" ? "well" : behaviour));
  const candidates = players.flatMap((behaviour, n) =>
    (behaviour === "well" || isForced) &&
    (contacts?.[n] ?? "endpoint") === "endpoint" &&
    n !== plan.visitor &&
    n !== plan.former
      ? [n]
      : [],
  );
  // A lying player sends others its own tokens, which they could then use. The name and the endpoint of an erased player are free.
  const isErasing = calls.some(({ tool, isForged }) => tool === "forget_player" && !isForged);
  if (candidates.length === 0 || players.includes("lying") || isErasing) return plan;
  const hostile = random.pick(candidates);
  const attacked = players.map((behaviour, n) => (n === hostile ? "hostile" : behaviour));
  if (!isForced || contacts || hasOtherLeague(plan)) return { ...plan, players: attacked };
  // The hostile player also answers for these programs, whose answers come in separate requests.
  const disturbances = plan.disturbances.filter(({ type }) => type !== "copy");
  return {
    ...plan,
    players: attacked,
    disturbances,
    contacts: attacked.map((behaviour) => (behaviour === "well" ? "later answers" : "endpoint")),
  };
}

/** Returns a plan whose league can admit a late player in a way, with at least three players. */
function admitting(plan: Plan, lateEntry: "makeup" | "forfeit"): Plan {
  const { players, format, calls = [] } = plan;
  // Only the format of the plan has the options that an operator changes.
  if (hasOtherLeague(plan) || calls.some(({ extended }) => extended)) return plan;
  const enough = players.length < 3 ? [...players, "well" as const] : players;
  if (lateEntry === "makeup") return { ...plan, players: enough, format: undefined };
  return { ...plan, players: enough, format: format?.id === "match" ? format : { id: "swiss", options: {} } };
}

/** Lets the last of three or more players come late. The rules of the league admit it, or not; always if `isAdmitted`. */
function withLatePlayer(plan: Plan, random: Random, isAdmitted: boolean): Plan {
  const { players, format } = plan;
  // The players that enter another league first are those of their kind of plan.
  if (players.length < 3 || hasOtherLeague(plan)) return plan;
  const lateMs = players.map((_, n) => (n === players.length - 1 ? random.int(1_000, MAX_LATE_MS) : 0));
  const accepting =
    format === undefined ? "makeup" : format.id === "swiss" || format.id === "match" ? "forfeit" : "closed";
  return { ...plan, lateMs, lateEntry: random.next() < 0.75 || isAdmitted ? accepting : "closed" };
}

/** Kills players when they are asked for a move in the middle of a match. */
function withCrashesInMatches(plan: Plan, random: Random): Plan {
  const game = plan.game.id === "tic_tac_toe.v1" ? plan.game : plan.game.id === "rps.v1" ? LONG_MATCH : plan.game;
  const crashes = plan.players.flatMap((_, n): readonly Disturbance[] => {
    if (random.next() >= 0.5) return [];
    const isClassroom = isDialect(plan.contacts?.[n]) && plan.contacts?.[n] !== "league.v1";
    const call = isClassroom ? (game.id === "even_odd.v1" ? MOVE_CALLS.evenOdd : MOVE_CALLS.other) : MOVE_CALLS.native;
    return [
      {
        ...{ type: "crash at message", at: random.int(0, DISTURBANCES_MS / 2), machine: playerName(n), message: call },
        ...{
          count: random.int(2, 6),
          afterMs: random.next() < 0.5 ? 0 : random.int(1, 80),
          downMs: random.int(0, 2_000),
        },
      },
    ];
  });
  return { ...plan, game, disturbances: sorted([...plan.disturbances, ...crashes]) };
}

const sorted = (disturbances: readonly Disturbance[]): readonly Disturbance[] =>
  disturbances.toSorted((a, b) => a.at - b.at);
