import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { gameIds } from "#shared/games/registry.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { playerId, refereeId } from "#shared/lib/ids.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import { type AllowedContacts, bareHost, hostsOf, isLoopback } from "#shared/rpc/addresses.ts";
import { mcpEndpoint } from "#shared/rpc/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/operations.ts";
import { CREATIONS_PER_MINUTE, creationLimit, REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/rate-limit.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { type Config, OPERATOR_TOKEN_LENGTH } from "#shared/runtime/config.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import { listen } from "#shared/runtime/listen.ts";
import { ownStore } from "#shared/runtime/own-store.ts";
import { ownSecret, tokenFileOf, writeSecret } from "#shared/runtime/secret-file.ts";
import { readingStore } from "#shared/runtime/store-file.ts";
import { VERSION } from "#shared/runtime/version.ts";
import { webApp } from "#shared/runtime/web.ts";
import type { Agent } from "./agents.ts";
import { createEntry, type Entry } from "./entry.ts";
import type { LeagueEvent } from "./events.ts";
import { createManager, MANAGER_SENDER } from "./manager.ts";
import { isReturn, managerOperations, REGISTRATIONS } from "./operations.ts";
import { leaguePages } from "./pages.ts";
import { hasLeft } from "./presence.ts";
import { watchSuspended } from "./recovery.ts";
import { type AgentRegistry, createRegistry, type Place } from "./registry.ts";
import { changedBy, managerResources, managerTemplates } from "./resources.ts";
import { openRun } from "./run-identity.ts";
import { MANAGER_SCHEMA, managerStore } from "./tables.ts";

export interface ManagerServiceOptions {
  readonly config: Config;
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  /** The run's seed; random when null. A run that goes on keeps the one it began with. */
  readonly seed: string | null;
  readonly startWhen: "roster" | "count";
  readonly onEvent: (event: LeagueEvent) => void;
}

const INSTRUCTIONS =
  "This server manages leagues of games between programs. list_leagues gives the league ids; get_standings and get_schedule show one league; the resources league://standings and league://schedule show all leagues. start_league, schedule_match, remove_player and reset_token need the operator token in auth_token. Games are played at the referees and players, not here.";
const BODY_BYTES = 256 * 1024;
/** MATCH_RESULT carries a whole log. */
const REFEREE_BODY_BYTES = 4 * 1024 * 1024;

/** Starts the league manager: its store, its endpoint, then whatever was going on when it last stopped. */
export function startManager(options: ManagerServiceOptions, self: AgentProcess): Promise<RunningAgent> {
  mkdirSync(options.dataFolder, { recursive: true });
  const file = join(options.dataFolder, "league-manager.sqlite");
  return readingStore(file, () => startOn(file, options, self));
}

async function startOn(file: string, options: ManagerServiceOptions, self: AgentProcess): Promise<RunningAgent> {
  const { config, dataFolder } = options;
  const own = ownStore(file, MANAGER_SCHEMA, self.clock);
  const store = await managerStore(own.db, (error) => {
    // What is in memory is ahead of the file now: whoever starts again reads the file.
    setImmediate(() => {
      throw new StartError(`cannot write to ${file}: ${error.message}`);
    });
  });
  const kept = await store.load();
  const run = await openRun(store, kept, options.seed);

  const places = placesOf(config, options.startWhen === "roster" ? dataFolder : null);
  const operator = operatorToken(config, dataFolder);
  const peers = self.network.createPeers();
  const onState = ({ id: agent_id, name, kind, state }: Agent, was: AgentState): void => {
    self.log.info({ agent: agent_id, was, state }, "an agent's state has changed");
    if (kind !== "player") return;
    const entered = [...manager.leagues.values()].filter((league) => league.entrants.has(agent_id));
    const league_ids = entered.map(({ config }) => config.league_id);
    emit({ type: "player_state", agent_id, name, was, state, league_ids });
  };
  const registry = createRegistry({
    onState,
    store,
    places,
    keepPlaces: options.startWhen === "roster",
    rows: kept.agents,
    allowedContacts: allowedContacts(config),
    operatorToken: operator.token,
    hasLeft: hasLeft(peers, MANAGER_SENDER, config.leagues[0]?.league_id ?? ""),
    meta: kept.meta,
  });
  const emit = (event: LeagueEvent): void => {
    options.onEvent(event);
    mcp.changed(() => changedBy(event));
  };
  const manager = createManager({ config, store, kept, registry, peers, log: self.log, run, emit });
  const onError = (thrown: unknown): void => self.log.error({ err: thrown }, "internal error");
  const entry = createEntry({
    manager,
    registry,
    places,
    startWhen: options.startWhen,
    registrationMs: config.timeouts.registration_ms,
    joinCode: config.manager.join_code ?? null,
    emit,
    onError,
  });
  const mcp = mcpEndpoint(
    {
      serverInfo: { name: "league-manager", version: VERSION },
      instructions: INSTRUCTIONS,
      tools: toolsOf(
        managerOperations({ manager, registry, entry, operatorToken: operator.token }),
        () => MANAGER_SENDER,
        self.clock,
      ),
      resources: managerResources(manager),
      templates: managerTemplates(manager, store.logOf),
    },
    onError,
    self.clock,
  );
  const server = await listen(self.network, {
    log: self.log,
    host: options.host,
    ports: [options.port],
    door: mcp.door,
    sessions: mcp.sessions,
    gate: rateLimit({
      perMinute: REQUESTS_PER_MINUTE.manager,
      loopback: config.limits.loopback,
      isTrusted: ({ token }) => registry.authenticate(token) !== null || equalSecrets(token, operator.token),
      creations: {
        limit: creationLimit(CREATIONS_PER_MINUTE.manager, config.limits.loopback),
        requests: new Set(Object.keys(REGISTRATIONS)),
        isReturn: (token, creation) => isReturn(registry.authenticate(token), creation),
      },
    }),
    isReady: () => true,
    web: webApp(self.log, leaguePages(manager)),
    bodyLimit: ({ bearer }) => (registry.authenticate(bearer)?.kind === "referee" ? REFEREE_BODY_BYTES : BODY_BYTES),
    allowedHosts: [...config.allowed_hosts, ...hostsOf(config.manager.endpoint)],
  });
  for (const url of server.urls) self.say(`league manager at ${url}/mcp, page at ${url}/`);
  self.say(`the operator token is in ${operator.file}`);
  self.say(`seed commitment ${sha256Hex(run.seed)}`);
  self.report({ type: "ready", url: server.url });

  const stopWatching = watchSuspended(registry, peers, onError);
  await registerOnBehalf(config, entry, registry, self);
  manager.resume().then(entry.startComplete, onError);
  return {
    async stop() {
      entry.stop();
      stopWatching();
      manager.stop();
      await mcp.close();
      await server.close();
      await peers.close();
      own.close();
    },
  };
}

/**
 * The places that the config keeps: the nth player is P0n, the nth referee REF0n, whoever registers first. In the data folder of a run
 * its own agents find the tokens by which they are known from the start.
 */
function placesOf(config: Config, runFolder: string | null): readonly Place[] {
  const ownAt = (port: number, kind: Place["kind"], name: string): Place["own"] =>
    runFolder === null
      ? null
      : { endpoint: localEndpoint(port), tokenHash: sha256Hex(ownSecret(tokenFileOf(runFolder, kind, name))) };
  const players = config.players.map(
    (player, index): Place => ({
      id: playerId(index + 1),
      kind: "player",
      name: player.name,
      endpoint: "endpoint" in player ? player.endpoint : null,
      own: "bot" in player || "uci" in player ? ownAt(config.playersFirstPort + index, "player", player.name) : null,
    }),
  );
  const referees = Array.from({ length: config.referees.count }, (_, index): Place => {
    const port = config.referees.firstPort + index;
    const place = { id: refereeId(index + 1), kind: "referee", name: null, endpoint: localEndpoint(port) } as const;
    return { ...place, own: ownAt(port, "referee", String(port)) };
  });
  return [...players, ...referees];
}

const localEndpoint = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/** A listed endpoint allows itself only, and no other port or path of its host. */
const allowedContacts = (config: Config): AllowedContacts => ({
  hosts: config.allowed_hosts,
  endpoints: config.players.flatMap((player) => ("endpoint" in player ? [player.endpoint] : [])),
});

/** Players that the config lists by endpoint need no registration code of their own. */
async function registerOnBehalf(
  config: Config,
  entry: Entry,
  registry: AgentRegistry,
  self: AgentProcess,
): Promise<void> {
  for (const [index, player] of config.players.entries()) {
    if (!("endpoint" in player)) continue;
    const id = playerId(index + 1);
    const { secret } = player;
    if (!registry.get(id)) {
      const host = bareHost(new URL(player.endpoint));
      const answer = await entry.player(
        {
          display_name: player.name,
          version: "1.0.0",
          game_types: [...gameIds],
          contact_endpoint: player.endpoint,
          join_code: config.manager.join_code,
        },
        { sender: null, authToken: secret ?? null, remoteAddress: isLoopback(host) ? "127.0.0.1" : host },
      );
      const reason = answer.ok ? (answer.value as { reason: string | null }).reason : answer.error.message;
      if (reason !== null) self.warn(`${player.name} could not be registered: ${reason}`);
    }
    if (registry.get(id) && secret !== undefined && registry.authenticate(secret)?.id !== id) {
      self.warn(
        `${player.name} is registered with another secret than the config's, and refuses what is signed with it`,
      );
    }
  }
}

/** The operator's token from the config, else one that is kept in a file of mode 0600. */
function operatorToken(config: Config, dataFolder: string): { token: string; file: string } {
  const file = join(dataFolder, "operator-token");
  const given = config.manager.operator_token;
  if (given !== undefined) writeSecret(file, given);
  const token = given ?? ownSecret(file);
  if (token.length < OPERATOR_TOKEN_LENGTH) {
    throw new StartError(
      `${file}: an operator token has at least ${OPERATOR_TOKEN_LENGTH} characters; delete the file, and a new one is created`,
      EXIT.config,
    );
  }
  chmodSync(file, 0o600);
  return { token, file };
}
