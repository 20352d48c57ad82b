import { isSignedFor } from "#shared/protocol/signing.ts";
import type { Play } from "../play/play.ts";
import type { Referee } from "../referee.ts";
import type { SessionHost } from "../sessions/host.ts";

/** The parts of a referee that its operations use. */
export interface RefereeContext {
  readonly host: SessionHost;
  readonly referee: Referee;
  readonly identity: { readonly token: string | null };
  readonly maxConcurrentMatches: number;
  /** The games outside of leagues, which are named by the ids of their sessions. */
  readonly play: Play;
}

/** Whether a message is signed by this referee's league manager (PROTOCOL.md, section 3). */
export function isManager({ identity }: RefereeContext, signature: string, subject: string | null): boolean {
  return identity.token !== null && subject !== null && isSignedFor(identity.token, subject, signature);
}
