import { equalSecrets } from "../../lib/hash.ts";
import type { Reading } from "../../protocol/dialects/answers.ts";
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

/** The open requests to players whose answers may arrive in separate requests. They are matched by sender and match. */
export class LateAnswers {
  readonly #comesFrom: Network["comesFrom"];
  readonly #waiting = new Set<Waiting>();

  constructor(comesFrom: Network["comesFrom"]) {
    this.#comesFrom = comesFrom;
  }

  /** Expects an answer. `answer` resolves with it; `close` ends the expectation. */
  expect(expected: Expected): { readonly answer: Promise<Reading>; close(): void } {
    const { promise, resolve } = Promise.withResolvers<Reading>();
    const waiting = { ...expected, resolve };
    this.#waiting.add(waiting);
    return { answer: promise, close: () => void this.#waiting.delete(waiting) };
  }

  /**
   * Delivers an answer to the request that waits for it. A token in the message must be the dialect token of the player. A message without a token, as
   * some programs send it, must come from the address of the player's endpoint. `forbidden`: neither is the case. `unexpected`: no request waits for it.
   */
  async deliver(answer: LateAnswer): Promise<"delivered" | "unexpected" | "forbidden"> {
    const open = [...this.#waiting].filter(
      ({ kind, matchId, contact }) =>
        kind === answer.kind &&
        (answer.matchId === null || answer.matchId === matchId) &&
        answer.playerIds.includes(contact.playerId),
    );
    const [first] = open;
    if (!first) return "unexpected";
    if (!(await this.#isAllowed(first, answer))) return "forbidden";
    if (!this.#waiting.delete(first)) return "unexpected";
    first.resolve(answer.reading);
    return "delivered";
  }

  async #isAllowed({ contact, endpoint }: Expected, { token, remoteAddress }: LateAnswer): Promise<boolean> {
    return token === null ? this.#comesFrom(endpoint, remoteAddress) : equalSecrets(token, contact.token);
  }
}
