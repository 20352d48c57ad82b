import type { Reading } from "#shared/protocol/dialects/incoming-answers.ts";
import { equalSecrets } from "../../lib/hash.ts";
import type { Contact } from "../../protocol/dialects/dialect.ts";
import type { Network } from "../network.ts";

/** The answers that a player may send in a separate request. */
export type AnswerKind = "join_ack" | "move";

/** An answer that a player has sent in a separate request. */
interface LateAnswer {
  readonly kind: AnswerKind;
  /** The ids under which the message names its sender. */
  readonly playerIds: readonly string[];
  /** null: the message names no match. */
  readonly matchId: string | null;
  readonly token: string | null;
  readonly remoteAddress: string;
  readonly reading: Reading;
}

/** A request whose answer may be sent later. */
interface Expected {
  readonly contact: Contact;
  readonly endpoint: string;
  readonly kind: AnswerKind;
  readonly matchId: string;
}

interface Waiting extends Expected {
  readonly resolve: (reading: Reading) => void;
}

/** A player of another dialect in a match. */
interface Seat {
  readonly playerId: string;
  readonly token: string;
  readonly endpoint: string;
}

/** The number of matches whose seats are remembered: at least those that a referee plays at the same time by default. */
const MAX_MATCHES = 128;

/**
 * The open requests to players whose answers may arrive in separate requests. The token in an answer shows whose it is. Without the right token the
 * address of the sender shows it: some programs have no token, or keep an id and a token of an earlier league in their files. If both players of a match have
 * this address, the id in the answer decides, and an answer with an unknown id is ignored.
 */
export class LateAnswers {
  readonly #comesFrom: Network["comesFrom"];
  readonly #waiting = new Set<Waiting>();
  /** The players of other dialects in the latest matches. */
  readonly #seats = new Map<string, readonly Seat[]>();

  constructor(comesFrom: Network["comesFrom"]) {
    this.#comesFrom = comesFrom;
  }

  /** Expects an answer. `answer` resolves with it; `close` ends the expectation. */
  expect(expected: Expected): { readonly answer: Promise<Reading>; close(): void } {
    const { promise, resolve } = Promise.withResolvers<Reading>();
    const waiting = { ...expected, resolve };
    this.#waiting.add(waiting);
    const key = keyOf(expected);
    const { endpoint, contact } = expected;
    const seats = [...this.#othersOf(expected), { endpoint, playerId: contact.playerId, token: contact.token }];
    this.#seats.delete(key);
    this.#seats.set(key, seats);
    const [oldest] = this.#seats.keys();
    if (this.#seats.size > MAX_MATCHES && oldest !== undefined) this.#seats.delete(oldest);
    return { answer: promise, close: () => void this.#waiting.delete(waiting) };
  }

  /**
   * Delivers an answer to the request that waits for it. `forbidden`: it does not have the token of a player that is asked, and does not come from
   * the address of such a player. `unexpected`: no request waits for it, or it is not clear which one.
   */
  async deliver(answer: LateAnswer): Promise<"delivered" | "unexpected" | "forbidden"> {
    const { kind, matchId, token, remoteAddress, playerIds } = answer;
    const open = [...this.#waiting].filter(
      (one) => one.kind === kind && (matchId === null || one.matchId === matchId) && !this.#isOfOther(one, answer),
    );
    if (open.length === 0) return "unexpected";
    const owner = open.find(({ contact }) => token !== null && equalSecrets(token, contact.token));
    if (owner) return this.#resolve(owner, answer);
    const isNear = await Promise.all(open.map(({ endpoint }) => this.#comesFrom(endpoint, remoteAddress)));
    const near = open.filter((_, index) => isNear[index]);
    const [only] = near;
    if (!only) return "forbidden";
    const named = near.find(({ contact }) => playerIds.includes(contact.playerId));
    if (named) return this.#resolve(named, answer);
    const isClear = near.length === 1 && !(await this.#sharesAddress(only, remoteAddress));
    return isClear ? this.#resolve(only, answer) : "unexpected";
  }

  #resolve(waiting: Waiting, { reading }: LateAnswer): "delivered" | "unexpected" {
    if (!this.#waiting.delete(waiting)) return "unexpected";
    waiting.resolve(reading);
    return "delivered";
  }

  #othersOf(expected: Expected): readonly Seat[] {
    const seats = this.#seats.get(keyOf(expected)) ?? [];
    return seats.filter(({ playerId }) => playerId !== expected.contact.playerId);
  }

  /** Whether an answer has the token or the id of another player of the match. */
  #isOfOther(waiting: Expected, { token, playerIds }: LateAnswer): boolean {
    const { playerId, seat } = waiting.contact;
    const others = this.#othersOf(waiting);
    if (token !== null && others.some((other) => equalSecrets(token, other.token))) return true;
    const otherIds = [...Object.values(seat?.roles ?? {}), ...others.map((other) => other.playerId)];
    return !playerIds.includes(playerId) && otherIds.some((id) => id !== playerId && playerIds.includes(id));
  }

  async #sharesAddress(waiting: Expected, remoteAddress: string): Promise<boolean> {
    const others = this.#othersOf(waiting).map(({ endpoint }) => this.#comesFrom(endpoint, remoteAddress));
    return (await Promise.all(others)).some(Boolean);
  }
}

/** The match of a request: matches of several leagues may have the same id. */
const keyOf = ({ matchId, contact }: Expected): string =>
  [matchId, ...Object.values(contact.seat?.roles ?? {})].join(" ");
