import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { chained, GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { err, invariant, ok } from "#shared/lib/result.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { type Entry, eventOf } from "#shared/session/entry.ts";
import { participantsOf } from "#shared/session/match-result.ts";
import { type Command, create, decide, type Session } from "#shared/session/session.ts";
import type { MatchHost } from "../../../referee/match/driven-match.ts";
import type { Committed, StoredSession } from "../../../referee/sessions/live-sessions.ts";
import { rejected } from "../../../referee/sessions/rejections.ts";
import { explained, parsedSubmission, type Submission } from "../../../referee/sessions/submission.ts";
import type { MatchSystem } from "../system.ts";

/** A session in memory. The rows of its log are hashed when they are read, at its end. */
class LocalSession implements StoredSession {
  readonly access = { actedBy: "driver", spectators: "none" } as const;
  readonly #entries: Entry[];
  readonly #clock: Clock;
  session: Session;

  constructor(entry: Entry, session: Session, clock: Clock) {
    this.#entries = [entry];
    this.#clock = clock;
    this.session = session;
  }

  get rows(): readonly RecordedEvent[] {
    let head = GENESIS;
    return this.#entries.map((entry, seq) => {
      const row = chained(this.session.id, seq, head, eventOf(entry));
      head = row.hash;
      return row;
    });
  }

  run(command: Command): Committed {
    const decision = decide(this.session, command, this.#clock.iso());
    if (!decision.ok) return err({ ...decision.error, reason: this.session.reason });
    this.#entries.push(decision.value.entry);
    this.session = decision.value.next;
    return ok(this.session);
  }
}

/** The sessions of local matches. The result of a match is stored with its log at its end, so that nothing waits for the disk during a match. */
export class LocalSessions implements MatchHost {
  readonly #sessions = new Map<string, LocalSession>();
  /** No other interface acts in these sessions. */
  readonly lobby: MatchHost["lobby"] = { inviting: () => () => {} };
  readonly #system: Pick<MatchSystem, "clock" | "ids">;

  constructor(system: Pick<MatchSystem, "clock" | "ids">) {
    this.#system = system;
  }

  /** Creates the session of an order. Returns its id. */
  create(order: StartGame): string {
    const { clock, ids } = this.#system;
    const game = findGame(order.game);
    invariant(game, `unknown game ${order.game}`);
    const roles = Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));
    const { entry, next } = create({
      id: ids.uuid(),
      game,
      options: game.options.parse(order.options ?? {}),
      participants: participantsOf({ league_id: order.league_id, match_id: order.match_id, roles }),
      seed: order.seed,
      clock: order.clock ?? null,
      at: clock.iso(),
    });
    this.#sessions.set(next.id, new LocalSession(entry, next, clock));
    return next.id;
  }

  read(sessionId: string): StoredSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  async submit(sessionId: string, submission: Submission): Promise<Committed> {
    const found = this.#sessions.get(sessionId);
    if (!found) return rejected("UNKNOWN_SESSION");
    const parsed = parsedSubmission(found.session.game, submission);
    return explained(found.run(parsed.command), parsed);
  }

  async forfeit(sessionId: string, faults: Parameters<MatchHost["forfeit"]>[1]): Promise<Committed> {
    return this.#sessions.get(sessionId)?.run({ type: "forfeit", faults }) ?? rejected("UNKNOWN_SESSION");
  }

  /** Removes a session when its match is over. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
