import { isToken } from "#shared/lib/ids.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { ownSecret } from "#shared/runtime/secret-file.ts";
import type { PlayerOptions } from "./options.ts";
import type { Registered } from "./token-notice.ts";
import { acceptNothing, acceptSigned, acceptThisMachine, type Trust } from "./trust.ts";

/** The identity of a player in its league. The player learns it while it registers. */
export interface Identity {
  /** "new" until the player is registered. */
  id: string;
  /** Its name in the league; the bot's name until that is known. */
  name: string;
  /** null until it is registered. */
  registered: Registered | null;
  /** Its token, or the secret of a player that does not register itself. */
  token: string | null;
  trust: Trust;
}

export const newIdentity = (name: string): Identity => ({
  ...{ id: "new", name, registered: null, token: null },
  trust: acceptNothing,
});

export function setToken(identity: Identity, token: string): void {
  identity.token = token;
  identity.trust = acceptSigned(token);
}

/** A player that does not register itself verifies messages with its secret; without a secret it accepts only its own machine. */
export function takeSecret(identity: Identity, { secretFile, host }: PlayerOptions, self: AgentProcess): void {
  if (secretFile === null) {
    identity.trust = acceptThisMachine;
    if (host !== null && !isLoopback(host))
      self.say("without --secret-file it accepts matches from programs on this machine only");
    return;
  }
  const secret = ownSecret(self, secretFile);
  if (!isToken(secret)) {
    throw new StartError(
      `${secretFile}: a secret has 43 characters; delete the file, and a new one is created`,
      EXIT.config,
    );
  }
  self.say(`its secret is in ${secretFile}: enter it as this player's "secret" in the config of the league`);
  setToken(identity, secret);
}
