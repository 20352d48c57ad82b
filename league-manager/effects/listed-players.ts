import { knownGameIds } from "#shared/games/registry.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { playerId } from "#shared/lib/ids.ts";
import { bareHost, isLoopback } from "#shared/protocol/addresses.ts";
import { NATIVE, speechText } from "#shared/protocol/dialects/dialect.ts";
import { DEFAULT_FORM } from "#shared/protocol/dialects/forms.ts";
import type { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import type { Answer, Caller } from "#shared/rpc/mcp/operations.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { Ledger } from "../ledger.ts";

interface ListedPlayersOptions {
  readonly config: Pick<Config, "players" | "manager">;
  readonly ledger: Ledger;
  /** Registers a player as if it had sent the request. */
  readonly register: (
    request: PlayerRegisterRequest,
    caller: Caller,
    more: { readonly dialect: string; readonly isListing: true },
  ) => Promise<Answer>;
  /** Prints a line on the terminal. */
  readonly warn: (line: string) => void;
}

/** Registers the players that the config lists by endpoint, because they do not register themselves. Warns about rejected registrations. */
export async function registerListedPlayers({ config, ledger, register, warn }: ListedPlayersOptions): Promise<void> {
  for (const [index, player] of config.players.entries()) {
    if (!("endpoint" in player)) continue;
    const id = playerId(index + 1);
    const { name, endpoint, secret, dialect = NATIVE, transports } = player;
    const known = ledger.state.agents.get(id);
    const hasChanged = known !== undefined && isOtherDialect(known.dialect, dialect);
    if (!known || hasChanged) {
      const host = bareHost(new URL(endpoint));
      const answer = await register(
        {
          display_name: name,
          version: "1.0.0",
          game_types: [...knownGameIds()],
          contact_endpoint: endpoint,
          transports,
          join_code: config.manager.join_code,
        },
        { sender: null, authToken: secret ?? null, remoteAddress: isLoopback(host) ? "127.0.0.1" : host },
        {
          dialect: dialect === NATIVE ? NATIVE : speechText({ id: dialect, form: DEFAULT_FORM }),
          isListing: true,
        },
      );
      const reason = answer.ok ? (answer.value as { reason: string | null }).reason : answer.error.message;
      if (reason !== null) warn(`${name} could not be registered: ${reason}`);
    }
    const registered = ledger.state.agents.get(id);
    if (registered && secret !== undefined && !equalSecrets(registered.tokenHash, sha256Hex(secret))) {
      warn(
        `${name} is registered with another secret than the config's, and rejects messages that are signed with the config's secret`,
      );
    }
  }
}

/** Whether the config names another dialect than the stored one. A native player is not changed, because it may have a token. */
const isOtherDialect = (stored: string, listed: string): boolean =>
  stored !== NATIVE && listed !== NATIVE && stored.split(":", 1)[0] !== listed;
