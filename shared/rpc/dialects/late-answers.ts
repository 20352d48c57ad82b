import { equalSecrets } from "../../lib/hash.ts";
import { mayContact, parseEndpoint } from "../../protocol/addresses.ts";
import type { Reading } from "../../protocol/dialects/answers.ts";
import type { Contact } from "../../protocol/dialects/dialect.ts";

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
  readonly #waiting = new Set<Waiting>();

  /** Expects an answer. `answer` resolves with it; `close` ends the expectation. */
  expect(expected: Expected): { readonly answer: Promise<Reading>; close(): void } {
    const { promise, resolve } = Promise.withResolvers<Reading>();
    const waiting = { ...expected, resolve };
    this.#waiting.add(waiting);
    return { answer: promise, close: () => void this.#waiting.delete(waiting) };
  }

  /**
   * Delivers an answer to the request that waits for it. The sender must have the dialect token of the player or the address of its endpoint, because some
   * programs send no token. `forbidden`: neither is the case. `unexpected`: no request waits for it.
   */
  deliver(answer: LateAnswer): "delivered" | "unexpected" | "forbidden" {
    const open = [...this.#waiting].filter(
      ({ kind, matchId, contact }) =>
        kind === answer.kind &&
        (answer.matchId === null || answer.matchId === matchId) &&
        answer.playerIds.includes(contact.playerId),
    );
    const [first] = open;
    if (!first) return "unexpected";
    if (!isFrom(first, answer)) return "forbidden";
    this.#waiting.delete(first);
    first.resolve(answer.reading);
    return "delivered";
  }
}

function isFrom({ contact, endpoint }: Expected, { token, remoteAddress }: LateAnswer): boolean {
  if (token !== null && equalSecrets(token, contact.token)) return true;
  const url = parseEndpoint(endpoint);
  return url !== null && mayContact(url, remoteAddress, { hosts: [], endpoints: [] });
}
