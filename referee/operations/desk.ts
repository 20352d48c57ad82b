import { isSignedFor } from "#shared/protocol/signing.ts";
import type { Play } from "../play/play.ts";
import type { Referee } from "../referee.ts";
import type { SessionHost } from "../sessions/host.ts";

/** What the operations of a referee use. */
export interface RefereeDesk {
  readonly host: SessionHost;
  readonly referee: Referee;
  readonly identity: { readonly token: string | null };
  readonly maxConcurrentMatches: number;
  /** Games outside of leagues. They are named by their session's id. */
  readonly play: Play;
}

/** Whether a message is signed by this referee's league manager (PROTOCOL.md, section 3). */
export function isManager({ identity }: RefereeDesk, signature: string, subject: string | null): boolean {
  return identity.token !== null && subject !== null && isSignedFor(identity.token, subject, signature);
}
