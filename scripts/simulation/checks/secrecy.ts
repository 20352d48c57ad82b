import type { Network } from "#shared/rpc/network.ts";
import type { ObservedRequest } from "../machines/connection.ts";
import { envelopesIn, turnOf } from "./envelopes.ts";
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
interface Answer extends Choice {
  /** Whether an earlier answer in this turn was rejected. */
  readonly isRepeated: boolean;
  /** The index of the answer in all messages. */
  readonly index: number;
}

/** `isCalled` returns whether a player is called at its endpoint: only the choices of such a player can be replaced. */
export function createCorrespondence(isCalled: (machine: string) => boolean = () => true): Correspondence {
  const sent: { readonly receiver: string; readonly text: string }[] = [];
  const answers: Answer[] = [];
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

const isOf = (one: Answer, { machine, turn }: Choice): boolean => one.machine === machine && one.turn === turn;

/** Another choice for each choice in the games of the simulation. */
const OTHER_CHOICES: Readonly<Record<string, string>> = {
  ...{ '\\"rock\\"': '\\"paper\\"', '\\"paper\\"': '\\"scissors\\"', '\\"scissors\\"': '\\"rock\\"' },
  ...{ '\\"even\\"': '\\"odd\\"', '\\"odd\\"': '\\"even\\"', 1: "2", 2: "3", 3: "4", 4: "5", 5: "1" },
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
