import type { Network } from "#shared/rpc/network.ts";
import type { Passed } from "../machines/connection.ts";
import { envelopesIn, turnOf } from "./envelopes.ts";

/** A choice of a player in a turn in which others choose, too. */
export interface Choice {
  readonly machine: string;
  /** The match, its epoch and its tick. */
  readonly turn: string;
}

/** A choice that was made before another role of its turn had chosen, and how many messages were sent before that. */
interface Sealed {
  readonly choice: Choice;
  readonly before: number;
}

/** All that the agents of a run have sent to each other, in order. `at` is the virtual time in ms. */
export interface Correspondence {
  onRequest(at: number, passed: Passed): void;
  onAnswer(at: number, passed: Passed, reply: string): void;
  length(): number;
  /** The messages to others while a choice was sealed, but for the answers with this choice. */
  whileSealed(sealed: Sealed): readonly string[];
  /** The sealed choice during which the other role received most messages; null if there is none. */
  sealedChoice(): Sealed | null;
  /** The fault if another message was sent, or at another time, in the same run with another choice; empty for none. */
  differences(again: Correspondence, sealed: Sealed): readonly string[];
}

interface Chosen extends Choice {
  /** Whether an earlier answer in this turn was rejected. */
  readonly isRepeated: boolean;
  /** The place of the answer among all messages. */
  readonly index: number;
}

export function createCorrespondence(): Correspondence {
  const sent: { readonly receiver: string; readonly text: string }[] = [];
  const chosen: Chosen[] = [];
  const whileSealed = ({ choice, before }: Sealed): readonly string[] => {
    const own = new Set(chosen.filter((one) => isOf(one, choice)).map(({ index }) => index));
    const isOthers = (receiver: string, index: number): boolean => receiver !== choice.machine && !own.has(index);
    return sent.slice(0, before).flatMap(({ receiver, text }, index) => (isOthers(receiver, index) ? [text] : []));
  };
  return {
    length: () => sent.length,
    whileSealed,
    onRequest(at, { from, to, body }) {
      sent.push({ receiver: to, text: `${at} ${from} > ${to} ${body}` });
    },
    onAnswer(at, { from, to, body }, reply) {
      const requests = envelopesIn(body);
      for (const { id, type } of envelopesIn(reply)) {
        const asked = requests.find((request) => request.id === id)?.payload;
        if (type !== "MOVE_RESPONSE" || !asked) continue;
        chosen.push({ machine: to, turn: turnOf(asked), isRepeated: asked.error != null, index: sent.length });
      }
      sent.push({ receiver: from, text: `${at} ${from} < ${to} ${reply}` });
    },
    differences(again, sealed) {
      const [first, second] = [whileSealed(sealed), again.whileSealed(sealed)];
      const index = first.findIndex((message, at) => message !== second[at]);
      if (index < 0 && first.length === second.length) return [];
      const { machine, turn } = sealed.choice;
      return [`the choice of ${machine} in ${turn} shows before the turn closes: ${first[index]} / ${second[index]}`];
    },
    sealedChoice() {
      const sealed = chosen.flatMap(({ machine, turn, index }) => {
        const ofTurn = chosen.filter((one) => one.turn === turn);
        const other = ofTurn.find((one) => one.machine !== machine);
        if (!other || other.index < index || ofTurn.some(({ isRepeated }) => isRepeated)) return [];
        const told = sent.slice(index, other.index).filter(({ receiver }) => receiver === other.machine).length;
        return [{ choice: { machine, turn }, before: other.index, told }];
      });
      return sealed.sort((a, b) => b.told - a.told)[0] ?? null;
    },
  };
}

const isOf = (one: Chosen, { machine, turn }: Choice): boolean => one.machine === machine && one.turn === turn;

/** For each choice of the games of the simulation another one. */
const OTHERWISE: Readonly<Record<string, string>> = {
  ...{ '\\"rock\\"': '\\"paper\\"', '\\"paper\\"': '\\"scissors\\"', '\\"scissors\\"': '\\"rock\\"' },
  ...{ '\\"even\\"': '\\"odd\\"', '\\"odd\\"': '\\"even\\"', 1: "2", 2: "3", 3: "4", 4: "5", 5: "1" },
};

/** The network of a player that answers one turn with another choice. */
export function choosingOtherwise(choice: Choice | null, machine: string, network: Network): Network {
  if (choice?.machine !== machine) return network;
  return {
    ...network,
    listen: (options) =>
      network.listen({
        ...options,
        async handler(body, http) {
          const reply = await options.handler(body, http);
          const asked = envelopesIn(body).find(
            ({ type, payload }) => type === "MOVE_REQUEST" && turnOf(payload) === choice.turn,
          );
          if (!asked) return reply;
          const { match_id, tick } = asked.payload;
          const answer = `\\"match_id\\":\\"${match_id}\\",\\"tick\\":${tick},\\"move\\":`;
          const [before, after = ""] = reply.body.split(answer);
          const move = /^(\\"[a-z]+\\"|\d)/.exec(after)?.[0];
          if (move === undefined) return reply;
          return { ...reply, body: `${before}${answer}${OTHERWISE[move]}${after.slice(move.length)}` };
        },
      }),
  };
}
