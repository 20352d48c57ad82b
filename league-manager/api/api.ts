import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import { trustedProxies } from "#shared/rpc/http/request.ts";
import type { Gate } from "#shared/rpc/jsonrpc/http-context.ts";
import {
  CREATIONS_PER_MINUTE,
  type Creation,
  type CreationLimit,
  creationLimit,
  REQUESTS_PER_MINUTE,
  rateLimit,
} from "#shared/rpc/jsonrpc/rate-limit.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { type Operation, toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { webApp } from "#shared/runtime/agent-server.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { VERSION } from "#shared/runtime/program.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import type { Agent } from "../agents/registered-agent.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type OtherManagers, withNewTokens } from "../cluster/other-managers.ts";
import { MANAGER_SENDER } from "../effects/effects-context.ts";
import { hostedOperations } from "../hosted/hosted-operations.ts";
import type { Seats } from "../hosted/hosting.ts";
import { playPages, playRoutes } from "../hosted/play-page.ts";
import { inboxRoutes, inboxSocket, POLL_BYTES } from "../inbox/inbox-routes.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import type { CommittedEvent, Ledger } from "../ledger.ts";
import { type ManagerMetrics, metricsRoutes } from "../metrics/manager-metrics.ts";
import type { DocumentContext } from "../pages/documents/document.ts";
import type { GamePages } from "../pages/game-links.ts";
import { leaguePages } from "../pages/league-pages.ts";
import type { Projections, StateChange, Views } from "../projections/projections.ts";
import { agentOperations } from "./agent-operations.ts";
import type { Registration } from "./agent-registration.ts";
import { leagueStreams, type StreamOptions, streamRoutes } from "./event-streams.ts";
import { answerForeignPlayers, registrationRoutes } from "./foreign-players.ts";
import { changedBy, managerResources, managerTemplates } from "./league-resources.ts";
import { operatorOperations } from "./operator-operations.ts";
import { readOperations } from "./read-operations.ts";

const INSTRUCTIONS =
  "This server manages leagues of games between programs. list_leagues gives the league ids; get_standings and get_schedule show one league; the resources league://standings and league://schedule show all leagues. open_league, start_league, schedule_match, remove_player and reset_token need the operator token in auth_token. To play in a league yourself, call join_league once, then wait_for_turn and make_move in turn until your leagues are over.";
const BODY_BYTES = 256 * 1024;
/** MATCH_RESULT carries the log of a match. */
const REFEREE_BODY_BYTES = 4 * 1024 * 1024;

export interface ApiOptions extends GamePages {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly views: Views;
  readonly registration: Registration;
  readonly policy: AdmissionPolicy;
  readonly settingsLike: OperationsContext["settingsLike"];
  readonly operatorToken: string;
  readonly readEvents: StreamOptions["read"];
  readonly joining: DocumentContext["joining"];
  readonly network: Pick<Network, "openEventStream" | "comesFrom">;
  readonly inboxes: Inboxes;
  /** Posts to another agent. */
  readonly post: Peers["post"];
  /** The origin at which the other managers reach this one; absent for the address on which it listens. */
  readonly url?: string | undefined;
  /** The other managers of the run; the optional parts are absent for a manager that works alone. */
  readonly others: OtherManagers & Partial<Pick<Cluster, "forwarding" | "mcp">>;
  /** Whether the manager can answer every request. */
  readonly isReady: () => boolean;
  readonly whyNotReady: () => string | null;
  readonly seats: Seats;
  readonly silentReferees: () => readonly string[];
  readonly metrics: Pick<ManagerMetrics, "families">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}

/** The interface of the manager: tools, resources, pages and event streams. */
interface Api {
  readonly serving: Omit<ListenOptions, "log" | "host" | "ports">;
  /** Notifies subscribers of the resources that a committed event has changed. */
  notifyChanged(committed: CommittedEvent, change: StateChange | null): void;
  close(): Promise<void>;
}

export function createApi(options: ApiOptions): Api {
  const { config, ledger, views, registration, policy, operatorToken, others, clock, ids, log } = options;
  const { projections } = views;
  const limitCreations = creationLimit(CREATIONS_PER_MINUTE.manager, config.limits.loopback);
  const operations = managerOperations({
    ledger,
    views,
    registration,
    operatorToken,
    policy,
    ids,
    maxPlayers: policy.maxPlayers,
    seats: options.seats,
    settingsLike: options.settingsLike,
    silentReferees: options.silentReferees,
  });
  const mcp = mcpEndpoint(
    {
      serverInfo: { name: "league-manager", version: VERSION },
      instructions: INSTRUCTIONS,
      tools: toolsOf(operations, () => MANAGER_SENDER, clock, ids),
      resources: managerResources(views),
      templates: managerTemplates(views),
      answerForeign: answerForeignPlayers({
        ...options,
        projections,
        creations: limitCreations,
        takesPlayers(leagueId) {
          const league = projections.league(leagueId);
          return league !== null && options.joining.takesPlayers(league);
        },
      }),
      ...others.mcp,
    },
    (thrown) => log.error({ err: thrown }, "internal error"),
    clock,
    ids,
  );
  const inboxContext = { ...others, inboxes: options.inboxes, projections };
  const inbox = inboxRoutes(inboxContext);
  const gate = managerGate({ config, projections, operatorToken, limitCreations, inbox, others });
  const play = playRoutes({
    seats: options.seats,
    awaiting: views.awaited,
    limitCreations,
    needsJoinCode: options.joining.needsJoinCode,
    takesPlayers: options.joining.takesPlayers,
  });
  const streams = leagueStreams({ ledger, read: options.readEvents, clock });
  const pages = leaguePages(options);
  return {
    serving: {
      handler: mcp.handler,
      sessions: mcp.sessions,
      posts: eitherOf(play, eitherOf(inbox, registrationRoutes(mcp.handler))),
      upgrade: inboxSocket(inboxContext),
      gate,
      ...(others.forwarding && { forwarding: others.forwarding }),
      isReady: options.isReady,
      whyNotReady: options.whyNotReady,
      isTrustedProxy: trustedProxies(config.manager.trusted_proxies),
      web: webApp(log, (app) => {
        metricsRoutes(options.metrics, operatorToken)(app);
        playPages(options)(app);
        streamRoutes(projections, streams)(app);
        pages.routes(app);
      }),
      bodyLimit: ({ bearer, target = "" }) => {
        const kind = projections.authenticate(bearer)?.kind;
        if (kind === "referee") return REFEREE_BODY_BYTES;
        return kind === "player" && inbox.isAt(target.split("?", 1)[0] ?? "") ? POLL_BYTES : BODY_BYTES;
      },
      allowedHosts: [...config.allowed_hosts, ...hostsOf(config.manager.endpoint), ...hostsOf(options.url)],
      allowedOrigins: config.allowed_origins,
    },
    notifyChanged: (committed, change) => mcp.notifyChanged(() => changedBy(committed, change, projections)),
    async close() {
      await streams.close();
      pages.close();
      await mcp.close();
    },
  };
}

type Posts = NonNullable<ListenOptions["posts"]>;

/** Answers the paths of both. */
const eitherOf = (one: Posts, other: Posts): Posts => ({
  isAt: (path) => one.isAt(path) || other.isAt(path),
  handler: (body, http) => (one.isAt(http.target ?? "") ? one : other).handler(body, http),
});

interface GateOptions {
  readonly config: Pick<Config, "limits">;
  readonly projections: Pick<Projections, "authenticate">;
  readonly operatorToken: string;
  readonly limitCreations: CreationLimit;
  readonly inbox: Pick<ReturnType<typeof inboxRoutes>, "isAt" | "isSigned" | "isOfManager">;
  /** Whether other managers of the run issue tokens too, and the function that waits for them. */
  readonly others: Pick<OtherManagers, "catchUp"> & { readonly forwarding?: unknown };
}

/** Returns the rate limits of a manager. */
export function managerGate(options: GateOptions): Gate {
  const { config, projections, operatorToken, limitCreations, inbox, others } = options;
  const isToken = (token: string): boolean =>
    projections.authenticate(token) !== null || equalSecrets(token, operatorToken);
  const limited = rateLimit({
    perMinute: REQUESTS_PER_MINUTE.manager,
    loopback: config.limits.loopback,
    isTrusted: ({ token, subject }, { target = "" }) => isToken(token) || inbox.isSigned(target, token, subject),
    creations: {
      limit: limitCreations,
      requests: new Set(Object.keys(REGISTRATIONS)),
      isReturn: (token, creation) => isReturn(projections.authenticate(token), creation),
    },
  });
  const gate: Gate = async (body, http) => (inbox.isOfManager(http) ? null : limited(body, http));
  return others.forwarding ? withNewTokens(gate, { isToken, isInbox: inbox.isAt, catchUp: others.catchUp }) : gate;
}

/** The context that the operations need. */
type OperationsContext = Parameters<typeof agentOperations>[0] &
  Parameters<typeof operatorOperations>[0] &
  Parameters<typeof readOperations>[0] & { readonly seats: Seats };

/** The tools and message types that register an agent, with the kind of the agent. */
const REGISTRATIONS: Readonly<Record<string, Agent["kind"]>> = {
  PLAYER_REGISTER_REQUEST: "player",
  register_player: "player",
  JOIN_LEAGUE: "player",
  join_league: "player",
  REFEREE_REGISTER_REQUEST: "referee",
  register_referee: "referee",
};

/** Whether the registrations of a request all name the agent whose token the request carries. Such a request is not rate-limited. */
const isReturn = (agent: Agent | null, { requests, names }: Creation): boolean =>
  agent !== null &&
  requests.every((request) => REGISTRATIONS[request] === agent.kind) &&
  names.length > 0 &&
  names.every((name) => name === agent.name);

/** The operations of the league manager (PROTOCOL.md, sections 2 and 4). */
const managerOperations = (context: OperationsContext): readonly Operation<unknown>[] => [
  ...agentOperations(context),
  ...readOperations(context),
  ...hostedOperations(context.seats),
  ...operatorOperations(context),
];
