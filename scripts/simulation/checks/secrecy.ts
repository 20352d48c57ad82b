import type { Network } from "#shared/rpc/network.ts";
import type { ObservedRequest } from "../machines/network.ts";
import type { BotSeat } from "../machines/observer.ts";
import { type CheckedEnvelope, envelopesIn, turnOf } from "./messages.ts";
import type { Fault } from "./rules.ts";

/** The choice of a player in a simultaneous turn. */
export interface Choice {
  readonly machine: string;
  /** The key of the turn, as `turnOf` returns it. */
  readonly turn: string;
}

/** A choice that was made before another role of the turn had chosen. */
interface Sealed {
  readonly choice: Choice;
  /** The number of messages in the run before the other role chose. */
  readonly before: number;
}

/** The messages between the agents of a run, in order. `at` is the virtual time in ms. */
export interface Correspondence {
  onRequest(at: number, passed: ObservedRequest): void;
  onAnswer(at: number, passed: ObservedRequest, reply: string): void;
  /** Returns the number of messages. */
  length(): number;
  /** Returns the messages to other machines while the choice was sealed, except the answers that contain it. */
  whileSealed(sealed: Sealed): readonly string[];
  /** Returns the sealed choice during which the other role received most messages; null if there is none. */
  sealedChoice(): Sealed | null;
  /** Returns a fault if a message or its time differs in `other`, the same run with another choice. */
  differences(other: Correspondence, sealed: Sealed): readonly Fault[];
}

/** An answer with a choice. */
interface ChosenAnswer extends Choice {
  /** Whether an earlier answer in this turn was rejected. */
  readonly isRepeated: boolean;
  /** The index of the answer in all messages. */
  readonly index: number;
}

/** `isCalled` returns whether a player is called at its endpoint: only the choices of such a player can be replaced. */
export function createCorrespondence(isCalled: (machine: string) => boolean = () => true): Correspondence {
  const sent: { readonly receiver: string; readonly text: string }[] = [];
  const answers: ChosenAnswer[] = [];
  const whileSealed = ({ choice, before }: Sealed): readonly string[] => {
    const ownAnswers = new Set(answers.filter((one) => isOf(one, choice)).map(({ index }) => index));
    const isToOthers = (receiver: string, index: number): boolean =>
      receiver !== choice.machine && !ownAnswers.has(index);
    return sent.slice(0, before).flatMap(({ receiver, text }, index) => (isToOthers(receiver, index) ? [text] : []));
  };
  return {
    length: () => sent.length,
    whileSealed,
    onRequest(at, { from, to, body, isPoll }) {
      // A poll has the answers of the player, also its choice.
      if (isPoll) return;
      sent.push({ receiver: to, text: `${at} ${from} > ${to} ${body}` });
    },
    onAnswer(at, { from, to, body, isPoll }, reply) {
      if (isPoll) return;
      const requests = envelopesIn(body);
      for (const { id, type } of envelopesIn(reply)) {
        const request = requests.find((one) => one.id === id)?.payload;
        if (type !== "MOVE_RESPONSE" || !request) continue;
        answers.push({ machine: to, turn: turnOf(request), isRepeated: request.error != null, index: sent.length });
      }
      sent.push({ receiver: from, text: `${at} ${from} < ${to} ${reply}` });
    },
    differences(other, sealed) {
      const [first, second] = [whileSealed(sealed), other.whileSealed(sealed)];
      const index = first.findIndex((message, at) => message !== second[at]);
      if (index < 0 && first.length === second.length) return [];
      const { machine, turn } = sealed.choice;
      return [
        `sealed choices: the choice of ${machine} in ${turn} shows before the turn closes: ${first[index]} / ${second[index]}`,
      ];
    },
    sealedChoice() {
      const sealed = answers.flatMap(({ machine, turn, index }) => {
        const ofTurn = answers.filter((one) => one.turn === turn);
        const other = ofTurn.find((one) => one.machine !== machine);
        if (!isCalled(machine) || !other || other.index < index || ofTurn.some(({ isRepeated }) => isRepeated))
          return [];
        const messageCount = sent.slice(index, other.index).filter(({ receiver }) => receiver === other.machine).length;
        return [{ choice: { machine, turn }, before: other.index, messageCount }];
      });
      return sealed.sort((a, b) => b.messageCount - a.messageCount)[0] ?? null;
    },
  };
}

const isOf = (one: ChosenAnswer, { machine, turn }: Choice): boolean => one.machine === machine && one.turn === turn;

/** Another choice for each choice in the games of the simulation. */
const OTHER_CHOICES: Readonly<Record<string, string>> = {
  '\\"rock\\"': '\\"paper\\"',
  '\\"paper\\"': '\\"scissors\\"',
  '\\"scissors\\"': '\\"rock\\"',
  '\\"even\\"': '\\"odd\\"',
  '\\"odd\\"': '\\"even\\"',
  1: "2",
  2: "3",
  3: "4",
  4: "5",
  5: "1",
};

/** Returns the network of a player. If the choice is that of this machine, it answers this turn with another choice. */
export function withOtherChoice(choice: Choice | null, machine: string, network: Network): Network {
  if (choice?.machine !== machine) return network;
  return {
    ...network,
    listen: (options) =>
      network.listen({
        ...options,
        async handler(body, http) {
          const reply = await options.handler(body, http);
          const request = envelopesIn(body).find(
            ({ type, payload }) => type === "MOVE_REQUEST" && turnOf(payload) === choice.turn,
          );
          if (!request) return reply;
          const { match_id, tick } = request.payload;
          const answer = `\\"match_id\\":\\"${match_id}\\",\\"tick\\":${tick},\\"move\\":`;
          const [before, after = ""] = reply.body.split(answer);
          const move = /^(\\"[a-z]+\\"|\d)/.exec(after)?.[0];
          if (move === undefined) return reply;
          return { ...reply, body: `${before}${answer}${OTHER_CHOICES[move]}${after.slice(move.length)}` };
        },
      }),
  };
}

/** Checks the views in the requests for moves, and those that the bots receive. */
interface Views {
  /** Returns the faults of a request of a referee to the process of a player. */
  onRequest(to: string, request: CheckedEnvelope): readonly Fault[];
  /** Returns a fault if the bot of a process receives another view than the complete one of its last request for the turn. */
  onView(machine: string, seat: BotSeat, view: string): readonly Fault[];
}

type Json = Readonly<Record<string, unknown>>;

/** What the requests to one seat have shown. */
interface Shown {
  tick: number;
  view: unknown;
  /** The complete view of each turn, as JSON. */
  readonly views: Map<number, string>;
  /** The last invitation. After a further one the referee assumes no view to be known. */
  invitation: unknown;
}

/**
 * Completes the views with its own computation, and keeps only copies that it has parsed itself: code that it shared with the program would make the
 * same mistakes.
 */
export function createViews(): Views {
  const seats = new Map<string, Shown>();
  const shownTo = (seat: string): Shown => {
    const shown = seats.get(seat) ?? { tick: -1, view: undefined, views: new Map(), invitation: undefined };
    seats.set(seat, shown);
    return shown;
  };
  return {
    onRequest(to, { type, message_id, payload }) {
      const seat = `${to} ${payload.match_id}/${payload.epoch}/${payload.your_role}`;
      const shown = shownTo(seat);
      if (type === "GAME_INVITE" && shown.invitation !== message_id)
        Object.assign(shown, { tick: -1, view: undefined, invitation: message_id });
      if (type !== "MOVE_REQUEST") return [];
      const { game_state, omitted_history: omitted } = payload as unknown as Request;
      const tick = Number(payload.tick);
      const view = omitted ? completed(game_state, omitted.list, omitted.from, shown.view) : game_state;
      if (view === null)
        return [
          `views: ${seat}: the request at tick ${tick} leaves out what no earlier one since the invitation has shown`,
        ];
      const [text, before] = [JSON.stringify(view), shown.views.get(tick)];
      shown.views.set(tick, text);
      if (tick >= shown.tick) Object.assign(shown, { tick, view });
      return before === undefined || before === text
        ? []
        : [`views: ${seat}: the state changed while the turn of tick ${tick} was open`];
    },
    onView(machine, { matchId, epoch, role, tick }, view) {
      const seat = `${machine} ${matchId}/${epoch}/${role}`;
      const expected = seats.get(seat)?.views.get(tick);
      return expected === view
        ? []
        : [`views: ${seat}: the bot receives ${view} at tick ${tick}, not the complete view ${expected}`];
    },
  };
}

interface Request {
  readonly game_state: unknown;
  readonly omitted_history?: { readonly list: readonly string[]; readonly from: number };
}

/** Returns a view whose list at a path begins with the first elements of the same list in an earlier view; null if they are missing. */
function completed(view: unknown, path: readonly string[], from: number, earlier: unknown): unknown {
  const [field, ...rest] = path;
  if (field !== undefined) {
    const inner = completed((view as Json | null)?.[field], rest, from, (earlier as Json | null | undefined)?.[field]);
    return inner === null ? null : { ...(view as Json), [field]: inner };
  }
  const isKnown = Array.isArray(view) && Array.isArray(earlier) && earlier.length >= from;
  return isKnown ? earlier.slice(0, from).concat(view) : null;
}
