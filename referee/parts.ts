import { join } from "node:path";
import { flat } from "#shared/lib/text.ts";
import { type DialectClient, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import { foreignMessages } from "#shared/rpc/dialects/incoming.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { type McpEndpoint, mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { AgentStore } from "#shared/runtime/files/disk.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { readOrCreateSecret } from "#shared/runtime/secret-file.ts";
import type { Session } from "#shared/session/session.ts";
import { type AgentDirectory, agentDirectory } from "./agents.ts";
import { hostInstructions, LEAGUE_TOOLS, refereeInstructions } from "./listing.ts";
import { createAsker } from "./match/ask.ts";
import type { HostedDriver } from "./match/driven-match.ts";
import { answerHandlers } from "./match/late-answers.ts";
import { matchTable } from "./match/match-table.ts";
import type { RefereeContext } from "./operations/context.ts";
import { rejectingNotLoaded, rejectingNotLoadedTemplate } from "./operations/not-loaded.ts";
import { notificationOperations, refereeOperations } from "./operations/operations.ts";
import type { ServiceOptions } from "./options.ts";
import { openPlayRoom, type PlayRoom } from "./play-room.ts";
import { createReferee, type Referee } from "./referee.ts";
import type { Identity } from "./registration.ts";
import { changedBy, gameRules, refereeTemplates } from "./resources.ts";
import { createHost, type SessionHost } from "./sessions/host.ts";
import { type Replies, sqliteReplies } from "./sessions/replies.ts";
import { seatTable } from "./sessions/seats.ts";
import { sessionStore } from "./sessions/session-store.ts";
import { type SessionTable, sessionTable } from "./sessions/session-table.ts";
import { createWaits, type Waits } from "./sessions/waits.ts";

/** The parts of a referee. */
export interface Parts {
  readonly peers: DialectClient;
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly sessions: SessionTable;
  readonly replies: Replies;
  readonly waits: Waits;
  readonly referee: Referee;
  readonly room: PlayRoom;
  readonly context: RefereeContext;
  readonly mcp: McpEndpoint;
  /** The URL of its pages. */
  readonly pagesUrl: string;
}

/** Creates the parts of a referee with its open store and the server that passes them requests. */
export function composeParts(
  options: ServiceOptions,
  { db, writer }: AgentStore,
  server: Listening,
  identity: Identity,
  self: AgentProcess,
): Parts {
  const { clock, ids, log } = self;
  const peers = withDialects(self.network.createPeers(), self.network.comesFrom, clock, ids);
  const seats = seatTable(db);
  const onListenerError = (err: unknown, session: string) =>
    log.error({ err, session }, "a listener threw an error after a commit");
  const host = createHost(
    sessionStore(db, writer),
    clock,
    ids,
    (session) => onCommit(session),
    onListenerError,
    seats.open,
  );
  const tables = {
    agents: agentDirectory(db, writer, clock, ids),
    sessions: sessionTable(db, clock),
    replies: sqliteReplies(db, writer, clock),
    waits: createWaits(host, clock),
  };
  const driver = driverOf(host, peers, server, identity, self);
  const { manager, reportTimeoutMs, maxConcurrentMatches } = options;
  const referee = createReferee({
    ...{ driver, peers, log, identity, reportTimeoutMs },
    matches: matchTable(db, writer),
    manager: manager ?? "",
    onTokensChanged: tables.agents.forgetHolders,
  });
  const pagesUrl = options.endpoint?.replace(/\/mcp$/, "") ?? server.urls[0] ?? server.url;
  const room = openPlayRoom({
    ...{ db, writer, seats, ...tables, driver, self, sessionOf: referee.sessionOf, names: referee.names },
    leaguesAt: () => identity.managerPages ?? [],
    url: pagesUrl,
    bots: options.bots,
    engines: options.engines,
    engineFolders: options.engineFolders,
    botTimeouts: options.botTimeouts,
    dataFolder: options.dataFolder,
    isAttended: options.isAttended,
    showAtTerminal: options.showAtTerminal,
  });
  const context = { host, referee, identity, maxConcurrentMatches, play: room.play };
  const mcp = endpointOf(options, context, room, server, self, peers);
  const onCommit = (session: Session): void =>
    mcp.notifyChanged(() => [...changedBy(context, session), ...room.changedBy(session)]);
  return { ...{ peers, host, referee, room, context, mcp, pagesUrl }, ...tables };
}

/** Creates the driver of matches. It writes the faults of players to the log of this process. */
const driverOf = (
  host: SessionHost,
  peers: DialectClient,
  { rejections }: Listening,
  identity: Identity,
  { clock, ids }: AgentProcess,
): HostedDriver => ({
  host,
  asker: createAsker(peers, () => flat("referee:", identity.id), clock, ids),
  clock,
  ids,
  onFault: ({ playerId, endpoint }, { code, cause, detail, systemMessage }, request) =>
    rejections.write(endpoint.split("?", 1)[0] ?? "", {
      code,
      reason: `${cause}: ${detail}${systemMessage ? ` (${systemMessage})` : ""}`,
      agent: `player:${playerId}`,
      request,
    }),
});

function endpointOf(
  { manager, storeName, dataFolder, answerWithinMs }: ServiceOptions,
  context: RefereeContext & { readonly identity: Identity },
  room: PlayRoom,
  { port }: Listening,
  self: AgentProcess,
  { lateAnswers }: Pick<DialectClient, "lateAnswers">,
): McpEndpoint {
  const { clock, ids, log } = self;
  const listing =
    manager === null
      ? { instructions: hostInstructions(), unlisted: LEAGUE_TOOLS }
      : { instructions: refereeInstructions() };
  const surface = {
    // `league mcp` and a host of games without a league are no referees to their clients.
    serverInfo: { name: manager === null ? "session-host" : "referee", version: VERSION },
    tools: toolsOf(
      [...refereeOperations(context), ...room.operations, ...notificationOperations(context)].map(rejectingNotLoaded),
      () => flat("referee:", context.identity.id),
      clock,
      ids,
    ),
    resources: [...room.resources, ...gameRules()],
    templates: [...room.templates, ...refereeTemplates(context)].map(rejectingNotLoadedTemplate),
    answerForeign: foreignMessages(
      answerHandlers(lateAnswers),
      () => flat("referee:", context.identity.id),
      clock,
      ids,
    ),
    stateKey: readOrCreateSecret(self, join(dataFolder, "tokens", `rounds-${storeName ?? port}`)),
    answerWithinMs,
    ...listing,
  };
  return mcpEndpoint(surface, (error) => log.error({ err: error }, "internal error"), clock, ids);
}
