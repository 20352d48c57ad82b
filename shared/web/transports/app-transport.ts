import type { FactsOfGames } from "../game-facts.ts";
import { type GameView, type Seat, USER_SEAT_META, type UserSeat } from "../game-view.ts";
import { resultInWords } from "../texts/words.ts";
import { connectHost, type HostBridge } from "./host-bridge.ts";
import { applyHostContext, type HostContext, reportSize } from "./host-context.ts";
import { isGameView, messageOf, type News, type Transport } from "./transport.ts";

const PROTOCOL_VERSION = "2026-01-26";
const WAIT_S = 25;
const WAIT_TIMEOUT_MS = 60_000;
/** The host may ask the person whether the tool may be called. */
const MOVE_TIMEOUT_MS = 300_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

interface ToolResult {
  readonly content?: readonly { readonly type?: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** An MCP App: everything goes through the host, which calls our tools for us. */
export function appTransport(games: FactsOfGames): Transport {
  let tell: (news: News) => void = () => {};
  let seat: Seat | null = null;
  let latest: GameView | null = null;
  let isOpen = true;
  const host = connectHost((method, params) => {
    if (method === "ui/notifications/tool-result") take(params);
    else if (method === "ui/notifications/host-context-changed") applyHostContext(params);
    else if (method === "ui/notifications/tool-cancelled") tell({ trouble: "The tool call was cancelled." });
    else if (method === "ui/resource-teardown") close();
    else if (method !== "ping") return undefined;
    return {};
  });

  /** What a tool answered, to the model or to us. */
  const take = (result: ToolResult): void => {
    if (result.isError) tell({ trouble: textOf(result) });
    const found = result._meta?.[USER_SEAT_META] as UserSeat | undefined;
    if (typeof found?.token === "string") seat = found;
    const game = found?.view ?? result.structuredContent;
    if (!isGameView(game)) return;
    const isNew = latest === null || game.game_id !== latest.game_id || game.tick >= latest.tick;
    if (isNew) latest = game;
    // What the model may know of its own hand is not for the person's eyes.
    const isOurs = seat === null || game.your_role === seat.role || game.your_role === "spectator";
    if (isNew && isOurs) tell({ game, trouble: null });
    void follow();
  };

  const mustWait = (): boolean =>
    isOpen &&
    seat !== null &&
    latest !== null &&
    latest.status !== "completed" &&
    !(latest.your_role === seat.role && latest.to_act.includes(seat.role));

  let isFollowing = false;
  /** Asks for the next turn again and again while it is not the person's. */
  const follow = async (): Promise<void> => {
    if (isFollowing) return;
    isFollowing = true;
    for (let pauseMs = FIRST_PAUSE_MS; mustWait(); ) {
      const before = latest;
      try {
        const args = { game_id: latest?.game_id, seat_token: seat?.token, timeout_s: WAIT_S };
        const asked = performance.now();
        take(await callTool(host, "waitForNextTurn", args, WAIT_TIMEOUT_MS));
        // An answer at once that brings nothing must not become a storm.
        const isIdle = latest?.tick === before?.tick && performance.now() - asked < FIRST_PAUSE_MS;
        pauseMs = isIdle ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
        if (isIdle && mustWait()) await pause(pauseMs);
      } catch (error) {
        if (!isOpen) break;
        tell({ trouble: `No news of the game: ${messageOf(error)}` });
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    isFollowing = false;
  };

  let stopReporting = (): void => {};
  const close = (): void => {
    isOpen = false;
    stopReporting();
    // Behind the answer to the host that asks for it.
    setTimeout(() => host.close());
  };
  const greet = async (): Promise<void> => {
    const { hostContext } = (await host.request("ui/initialize", {
      appInfo: { name: "agent-league-board", version: "1.0.0" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL_VERSION,
    })) as { hostContext?: HostContext };
    applyHostContext(hostContext ?? {});
    host.notify("ui/notifications/initialized", {});
    stopReporting = reportSize(host);
  };

  /** Sends a turn, then a message about it to the model. False if the host takes no messages: then the person tells the model. */
  const finish = (game: GameView, turn: object, said: string): Promise<boolean> =>
    callTool(host, "finishTurn", { game_id: game.game_id, ...turn, seat_token: seat?.token }, MOVE_TIMEOUT_MS)
      .then(take)
      .then(() => {
        const text = messageFor(game, latest, said, games);
        return host.request("ui/message", { role: "user", content: [{ type: "text", text }] }).then(
          (result) => !(result as { isError?: boolean } | undefined)?.isError,
          () => false,
        );
      });

  return {
    open(listener) {
      tell = listener;
      greet().catch((error) => tell({ trouble: messageOf(error) }));
      return close;
    },
    roleIn: () => seat?.role ?? "spectator",
    async play(game, move, claim) {
      const played = `I played ${typeof move === "string" ? move : JSON.stringify(move)}`;
      return (await finish(game, { move, ...(claim && { claim }) }, played))
        ? ""
        : "Tell the chat that you have moved.";
    },
    async resign(game) {
      return (await finish(game, { resign: true }, "I resigned")) ? "" : "Tell the chat that you have resigned.";
    },
  };
}

/** Rejects with the tool's own words when it refuses. */
async function callTool(host: HostBridge, name: string, args: object, timeoutMs: number): Promise<ToolResult> {
  const result = (await host.request("tools/call", { name, arguments: args }, timeoutMs)) as ToolResult;
  if (result.isError) throw new Error(textOf(result));
  return result;
}

const textOf = ({ content }: ToolResult): string =>
  content?.flatMap(({ text }) => text ?? []).join("\n") || "The tool failed without a word.";

/** What the model is told, so that it goes on. */
function messageFor(
  { game_id, your_role }: GameView,
  after: GameView | null,
  said: string,
  games: FactsOfGames,
): string {
  const played = `${said} as ${your_role} in game ${game_id}.`;
  const result = after?.game_id === game_id ? resultInWords(after, games[after.template]) : "";
  return `${played} ${result ? `The game is over. ${result}.` : "Call waitForNextTurn to see the board and go on."}`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
