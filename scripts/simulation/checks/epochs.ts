import type { Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import type { Fault } from "./rules.ts";

/** Checks that referees and players send nothing about an epoch that they know to be over. */
interface Epochs {
  /** The process of a machine has started or ended. */
  onProcess(machine: string): void;
  /** Returns the faults of a message of a referee that was sent at the virtual time `sentAt`. */
  onRequest(from: string, to: string, request: CheckedEnvelope, sentAt: number): readonly Fault[];
  onAnswer(from: string, to: string, request: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[];
}

interface Withdrawn {
  readonly epoch: number;
  /** The virtual time of the acknowledgement. */
  readonly at: number;
}

/** The messages of a referee that belong to an epoch. */
const ABOUT_EPOCH: ReadonlySet<string> = new Set(["GAME_INVITE", "MOVE_REQUEST", "GAME_RESULT", "MATCH_RESULT"]);

/** A referee keeps the withdrawn epochs, and a player the accepted ones, in the memory of its process. */
export function createEpochs({ players }: Plan, now: () => number): Epochs {
  const withdrawn = new Map<string, Map<unknown, Withdrawn>>();
  const accepted = new Map<string, Map<unknown, number>>();
  /** The requests for moves that arrived after a newer epoch was accepted. */
  const outdated = new Set<string>();
  const seeds = createSeeds();
  const invitations = createInvitations();
  /** A player that misbehaves may hold back an answer that it has given before it accepted a newer epoch. */
  const answersAtOnce = (machine: string): boolean =>
    players[Number(/^player (\d+)/.exec(machine)?.[1]) - 1] === "well";

  const valuesOf = <T>(maps: Map<string, Map<unknown, T>>, machine: string): Map<unknown, T> => {
    const values = maps.get(machine) ?? new Map<unknown, T>();
    maps.set(machine, values);
    return values;
  };
  const keyOf = (to: string, { id, message_id }: CheckedEnvelope): string => `${to} ${id} ${message_id}`;

  return {
    onProcess(machine) {
      withdrawn.delete(machine);
      accepted.delete(machine);
      invitations.onProcess(machine);
    },
    onRequest(from, to, request, sentAt) {
      const { type, payload } = request;
      const epoch = Number(payload.epoch);
      const newer = valuesOf(accepted, to).get(payload.match_id) ?? 0;
      if (type === "MOVE_REQUEST" && epoch < newer) outdated.add(keyOf(to, request));
      invitations.onRequest(to, request);
      if (type === "START_GAME") return seeds(request);
      if (!ABOUT_EPOCH.has(type)) return [];
      const last = valuesOf(withdrawn, from).get(payload.match_id);
      if (!last || epoch > last.epoch || sentAt <= last.at) return [];
      return [
        `epochs: ${from} sent ${type} of ${payload.match_id}, epoch ${epoch}, after epoch ${last.epoch} was withdrawn`,
      ];
    },
    onAnswer(from, to, request, answer) {
      const { match_id, epoch } = request.payload;
      if (request.type === "MATCH_WITHDRAWN" && answer.type === "ACK") {
        const ofReferee = valuesOf(withdrawn, to);
        const last = ofReferee.get(match_id);
        if (!last || Number(epoch) > last.epoch) ofReferee.set(match_id, { epoch: Number(epoch), at: now() });
      }
      if (request.type === "START_GAME" && answer.type === "START_GAME_RESPONSE") {
        const last = valuesOf(withdrawn, to).get(match_id);
        if (last && Number(epoch) <= last.epoch)
          return [
            `epochs: ${to} accepted ${match_id}, epoch ${epoch}, of ${from} after epoch ${last.epoch} was withdrawn`,
          ];
      }
      if (request.type === "GAME_INVITE" && answer.payload.accept === true) {
        const ofPlayer = valuesOf(accepted, to);
        ofPlayer.set(match_id, Math.max(Number(epoch), ofPlayer.get(match_id) ?? 0));
      }
      const again = invitations.onAnswer(to, request, answer);
      if (again.length > 0) return again;
      if (answer.type !== "MOVE_RESPONSE" || !outdated.has(keyOf(to, request)) || !answersAtOnce(to)) return [];
      return [`epochs: ${to} sent a move for ${match_id}, epoch ${epoch}, after it had accepted a newer epoch`];
    },
  };
}

/** Returns a check that each attempt at a match has its own seed. */
function createSeeds(): (order: CheckedEnvelope) => readonly Fault[] {
  const epochs = new Map<string, number>();
  return ({ payload }) => {
    const { match_id, seed } = payload;
    const key = `${match_id} ${seed}`;
    const epoch = Number(payload.epoch);
    const first = epochs.get(key) ?? epoch;
    epochs.set(key, first);
    return first === epoch ? [] : [`epochs: ${match_id} has the same seed in the epochs ${first} and ${epoch}`];
  };
}

/** Checks that players do not accept an invitation again after the result of its match. A process keeps its invitations in memory. */
function createInvitations() {
  const accepted = new Set<string>();
  const over = new Set<string>();
  const belated = new Set<string>();
  const keyOf = (machine: string, { message_id, payload }: CheckedEnvelope): string =>
    `${machine} ${matchOf(payload)} ${message_id}`;
  return {
    onProcess(machine: string): void {
      for (const set of [accepted, over, belated])
        for (const key of set) if (key.startsWith(`${machine} `)) set.delete(key);
    },
    onRequest(to: string, request: CheckedEnvelope): void {
      if (request.type !== "GAME_INVITE" || !over.has(`${to} ${matchOf(request.payload)}`)) return;
      if (accepted.has(keyOf(to, request))) belated.add(`${keyOf(to, request)} ${request.id}`);
    },
    onAnswer(to: string, request: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[] {
      if (request.type === "GAME_RESULT" && answer.type === "ACK") over.add(`${to} ${matchOf(request.payload)}`);
      if (request.type !== "GAME_INVITE" || answer.payload.accept !== true) return [];
      const { match_id, epoch } = request.payload;
      accepted.add(keyOf(to, request));
      return belated.has(`${keyOf(to, request)} ${request.id}`)
        ? [`epochs: ${to} accepted the invitation to ${match_id}, epoch ${epoch}, again after the result`]
        : [];
    },
  };
}

const matchOf = ({ match_id, epoch }: CheckedEnvelope["payload"]): string => `${match_id}/${epoch}`;
