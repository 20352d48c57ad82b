import type { DatabaseSync } from "node:sqlite";
import type { Express } from "express";
import { codenames } from "#shared/games/codenames.ts";
import type { Viewer } from "#shared/games/game.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/methods.ts";
import type { Operation } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Session } from "#shared/session/session.ts";
import type { Writer } from "#shared/store/writer.ts";
import { codenamesTable } from "./codenames/codenames-table.ts";
import { codenamesChanged, codenamesOperations, codenamesResources } from "./codenames/codenames-tools.ts";
import { createDirector } from "./codenames/director.ts";
import type { HostedDriver } from "./match/play-match.ts";
import type { Referee } from "./match/referee.ts";
import type { ServiceOptions } from "./options.ts";
import { createBots } from "./play/bots.ts";
import { openBrowser } from "./play/browser.ts";
import { engineOpponents } from "./play/engines.ts";
import { BOARD_URI, type GameToolsContext, gameOperations } from "./play/game-tools.ts";
import { createPlay, type Play, type PlayContext } from "./play/play.ts";
import { createRematches } from "./play/rematch.ts";
import { createTurns, type Turns } from "./play/turns.ts";
import type { Limits } from "./rest/requests.ts";
import type { Streams } from "./rest/streams.ts";
import type { AgentDirectory } from "./sessions/agent-tokens.ts";
import type { StoredSession, Waits } from "./sessions/host.ts";
import type { Replies } from "./sessions/idempotent-replies.ts";
import type { SeatTable } from "./sessions/seats.ts";
import type { SessionLists } from "./sessions/session-store.ts";
import { spectatedMatch } from "./views.ts";

interface PlayRoomContext {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  readonly driver: HostedDriver;
  readonly agents: AgentDirectory;
  readonly seats: SeatTable;
  readonly sessions: SessionLists;
  /** It knows the sessions of league matches and the names of their players. */
  readonly referee: Pick<Referee, "sessionOf" | "names">;
  readonly replies: Replies;
  readonly waits: Waits;
  /** The origins of the pages of the manager. */
  readonly leaguesAt: () => readonly string[];
  /** The URL of the pages. */
  readonly url: string;
  readonly options: ServiceOptions;
  readonly self: AgentProcess;
}

/** The games of people, agents and bots outside of leagues: their tools, resources and pages, with the Codenames games that the server leads. */
export interface PlayRoom {
  readonly play: Play;
  readonly operations: readonly Operation<unknown>[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  /** The URIs of the resources that a commit to a session has changed. */
  changedBy(session: Session): readonly string[];
  /** Whether a token belongs to an agent, a seat or a Codenames game. */
  isSeated(token: string): boolean;
  /** Loads the routes of the pages and their event streams. Called on the first request for a page. */
  pages(): Promise<{ readonly routes: (app: Express, limits: Limits) => void; readonly streams: readonly Streams[] }>;
  /** Resumes unfinished games with bots, and opens the pages in the browser if the host is attended. */
  open(): void;
  /** Stops the bots and the opening of pages. */
  close(): Promise<void>;
}

/** Creates the parts for games outside of leagues with one session host. */
export function openPlayRoom(context: PlayRoomContext): PlayRoom {
  const { agents, seats, driver, writer, url, options, self } = context;
  const { dataFolder, botTimeouts, showAtTerminal, isAttended } = options;
  const bots = createBots({
    driver,
    known: options.bots,
    engines: engineOpponents(process.env.PATH ?? "", options.engines, options.engineFolders),
    dataFolder,
    disk: self.disk,
    log: self.log,
    clock: self.clock,
    timeouts: botTimeouts,
  });
  const playing: PlayContext = {
    host: driver.host,
    agents,
    seats,
    writer,
    bots,
    ids: self.ids,
    clock: self.clock,
    pagesUrl: () => url,
    showAtTerminal,
  };
  const play = createPlay(playing);
  const turns = createTurns(driver.host, play, context.waits, context.replies, self.clock);
  const table = codenamesTable(context.db);
  const director = createDirector({ host: driver.host, play, table, writer, log: self.log });
  const ledGames = codenamesResources(director);
  let onVisit = (): void => {};
  let stopOpening = (): void => {};
  return {
    play,
    operations: [
      ...gameOperations({ play, turns, botNames: bots.names, embeddedBoard }),
      ...codenamesOperations({ director, log: self.log, ids: self.ids }),
    ],
    resources: [boardResource, ...ledGames.resources],
    templates: ledGames.templates,
    changedBy: ({ id, game }) =>
      game.id === codenames.id && table.get(id) ? codenamesChanged(director.tokenOf(id)) : [],
    isSeated: (token) => agents.holderOf(token) !== null || seats.isHolder(token) || director.knows(token),
    pages: () => openPages(context, playing, play, turns, () => onVisit()),
    open() {
      play.resume();
      const { env, platform } = process;
      const browser = openBrowser({ url, env, platform, isAttended }, self);
      onVisit = browser.visited;
      stopOpening = browser.stop;
    },
    async close() {
      stopOpening();
      await bots.close();
    },
  };
}

/** The routes of the pages and their event streams. */
async function openPages(
  context: PlayRoomContext,
  playing: PlayContext,
  play: Play,
  turns: Turns,
  onVisit: () => void,
) {
  const { gamePages, OpenedSeats } = await import("./play/game-pages.ts");
  const { Streams } = await import("./rest/streams.ts");
  const { driver, referee } = context;
  const { names, sessionOf } = referee;
  const { host } = driver;
  const unloggedState = (session: Session): string => host.lobby.waiting(session)?.message ?? "";
  const namedView: Play["viewOf"] = (...view) => names.inView(play.viewOf(...view));
  const stateWithNames = (session: Session): string =>
    JSON.stringify([unloggedState(session), context.seats.of(session.id).map(({ name }) => name)]);
  const streams = new Streams(
    host,
    { event: "game", view: namedView, unloggedState: stateWithNames },
    context.self.clock,
  );
  const matchView = (session: Session, _viewer: Viewer, rows: StoredSession["rows"]): object =>
    spectatedMatch(session, rows, host.lobby, context.self.clock.now());
  const matchStreams = new Streams(host, { event: "match", view: matchView, unloggedState }, context.self.clock);
  const routes = gamePages({
    playing,
    play,
    turns,
    sessions: context.sessions,
    streams,
    onVisit,
    matchStreams,
    names,
    sessionOf,
    leaguesAt: context.leaguesAt,
    opened: new OpenedSeats(),
    rematches: createRematches(context.db, playing),
  });
  return { routes, streams: [streams, matchStreams] };
}

const loadBoard = () => import("#shared/web/bundle.ts");

const embeddedBoard: GameToolsContext["embeddedBoard"] = async (game, seat) =>
  (await loadBoard()).embeddedBoard({ mode: "embed", game, ...(seat && { seat }) });

const boardResource: Resource = {
  uri: BOARD_URI,
  name: "Board",
  description:
    "The board as an MCP App: an MCP host shows it with the tools of a game, and a person makes moves on it.",
  mimeType: "text/html;profile=mcp-app",
  read: async () => (await loadBoard()).embeddedBoard({ mode: "app" }),
};
