import { isToken } from "#shared/lib/ids.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret } from "#shared/runtime/secret-file.ts";
import type { PlayerOptions } from "./options.ts";
import type { Registered } from "./token-notice.ts";
import { acceptNothing, acceptSigned, acceptThisMachine, type Trust } from "./trust.ts";

/** The identity of a player in its league. Registration sets it. */
export interface Identity {
  /** "new" until the player is registered. */
  id: string;
  /** The display name in the league; the name of the bot until registration begins. */
  name: string;
  /** null until the player is registered. */
  registered: Registered | null;
  /** The token of the player, or the secret of a player that does not register itself. */
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

/**
 * Sets the trust of a player that does not register itself: it verifies messages with its secret, or, without a secret, accepts programs
 * on its own machine only. Throws StartError if the file does not contain a secret.
 */
export function takeSecret(identity: Identity, { secretFile, host }: PlayerOptions, self: AgentProcess): void {
  if (secretFile === null) {
    identity.trust = acceptThisMachine;
    if (host !== null && !isLoopback(host))
      self.say("without --secret-file this player accepts matches from programs on this machine only");
    return;
  }
  const secret = readOrCreateSecret(self, secretFile);
  if (!isToken(secret)) {
    throw new StartError(
      `${secretFile}: a secret has 43 characters; delete the file to have a new one created`,
      EXIT.config,
    );
  }
  self.say(
    `the secret of this player is in ${secretFile}: enter it as "secret" of this player in the config of the league`,
  );
  setToken(identity, secret);
}
