import type { Database } from "#shared/store/sqlite.ts";
import type { ObservedRequest } from "./network.ts";

/** The seat and the turn for which a bot is asked. */
export interface BotSeat {
  readonly leagueId: string;
  readonly matchId: string;
  readonly epoch: number;
  readonly role: string;
  readonly tick: number;
}

/** Receives the messages, commits and trace lines of a run. */
export interface Observer {
  /** Called when a request has arrived. `sentAt` is the virtual time at which it was sent, in ms. */
  onRequest(request: ObservedRequest, sentAt: number): void;
  onAnswer(request: ObservedRequest, reply: string): void;
  /** Called after a commit to a database of a machine, before the process is notified. */
  onCommitted(machine: string, db: Database): void;
  /** Called when the process of a machine has started or has ended. */
  onProcess(machine: string, isRunning: boolean): void;
  /** Called when the bot of a player is asked. `view` is the view that it receives, as JSON. */
  onView(machine: string, seat: BotSeat, view: string): void;
  trace(line: string): void;
}
