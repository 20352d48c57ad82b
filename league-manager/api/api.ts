import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import { trustedProxies } from "#shared/rpc/http/request.ts";
import { CREATIONS_PER_MINUTE, creationLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { webApp } from "#shared/runtime/agent-server.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { VERSION } from "#shared/runtime/program.ts";
import type { AdmissionPolicy } from "../agents/policy.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { OtherManagers } from "../cluster/homes.ts";
import { MANAGER_SENDER } from "../effects/effects-context.ts";
import { playRoutes } from "../hosted/page-routes.ts";
import { playPages } from "../hosted/play-page.ts";
import type { Seats } from "../hosted/seats.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import { inboxRoutes, POLL_BYTES } from "../inbox/routes.ts";
import { inboxSocket } from "../inbox/socket.ts";
import type { CommittedEvent, Ledger } from "../ledger.ts";
import type { ManagerMetrics } from "../metrics/manager-metrics.ts";
import { metricsRoutes } from "../metrics/routes.ts";
import type { DocumentContext } from "../pages/documents/document.ts";
import { leaguePages } from "../pages/pages.ts";
import type { GamePages } from "../pages/servers.ts";
import { changedBy } from "../projections/changes.ts";
import type { StateChange } from "../projections/projections.ts";
import type { Views } from "../projections/views.ts";
import { answerForeignPlayers, registrationRoutes } from "./foreign-messages.ts";
import { managerGate } from "./gate.ts";
import { managerOperations } from "./operations.ts";
import type { Registration } from "./registration.ts";
import { managerResources, managerTemplates } from "./resources.ts";
import { streamRoutes } from "./streams/routes.ts";
import { leagueStreams, type StreamOptions } from "./streams/streams.ts";

const INSTRUCTIONS =
  "This server manages leagues of games between programs. list_leagues gives the league ids; get_standings and get_schedule show one league; the resources league://standings and league://schedule show all leagues. start_league, schedule_match, remove_player and reset_token need the operator token in auth_token. To play in a league yourself, call join_league once, then wait_for_turn and make_move in turn until your leagues are over.";
const BODY_BYTES = 256 * 1024;
/** MATCH_RESULT carries the log of a match. */
const REFEREE_BODY_BYTES = 4 * 1024 * 1024;

export interface ApiOptions extends GamePages {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly views: Views;
  readonly registration: Registration;
  readonly policy: AdmissionPolicy;
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
  const { places, maxPlayers } = policy;
  const operations = managerOperations({
    ...{ ledger, views, registration, operatorToken, places, maxPlayers, ids },
    seats: options.seats,
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
        ...{ ...options, projections, creations: limitCreations },
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
    ...{ seats: options.seats, awaiting: views.awaited, limitCreations },
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
