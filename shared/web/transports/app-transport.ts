import type { FactsOfGames } from "../game-facts.ts";
import { type Claim, type GameView, type Seat, USER_SEAT_META, type UserSeat } from "../game-view.ts";
import { resultInWords } from "../texts/game-texts.ts";
import { connectHost, type HostBridge } from "./host-bridge.ts";
import { applyHostContext, type HostContext, reportSize } from "./host-context.ts";
import { type GameUpdate, isGameView, messageOf, type Transport } from "./transport.ts";

const PROTOCOL_VERSION = "2026-01-26";
const WAIT_S = 25;
const WAIT_TIMEOUT_MS = 60_000;
/** The limit is long, because the host may ask the person whether the tool may be called. */
const MOVE_TIMEOUT_MS = 300_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

interface ToolResult {
  readonly content?: readonly { readonly type?: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The transport of an MCP App: the host calls the tools for the page. */
export class AppTransport implements Transport {
  #notify: (update: GameUpdate) => void = () => {};
  #seat: Seat | null = null;
  #latest: GameView | null = null;
  #isOpen = true;
  #isFollowing = false;
  #stopReporting = (): void => {};
  readonly #games: FactsOfGames;
  readonly #host: HostBridge = connectHost((method, params) => {
    if (method === "ui/notifications/tool-result") this.#applyResult(params);
    else if (method === "ui/notifications/host-context-changed") applyHostContext(params);
    else if (method === "ui/notifications/tool-cancelled") this.#notify({ problem: "The tool call was cancelled." });
    else if (method === "ui/resource-teardown") this.#close();
    else if (method !== "ping") return undefined;
    return {};
  });

  constructor(games: FactsOfGames) {
    this.#games = games;
  }

  open(listener: (update: GameUpdate) => void): () => void {
    this.#notify = listener;
    this.#initialize().catch((error) => this.#notify({ problem: messageOf(error) }));
    return () => this.#close();
  }

  roleIn(): string {
    return this.#seat?.role ?? "spectator";
  }

  async play(game: GameView, move: unknown, claim: Claim | null): Promise<string> {
    const played = `I played ${typeof move === "string" ? move : JSON.stringify(move)}`;
    const isDelivered = await this.#submit(game, { move, ...(claim && { claim }) }, played);
    return isDelivered ? "" : "Tell the chat that you have moved.";
  }

  async resign(game: GameView): Promise<string> {
    const isDelivered = await this.#submit(game, { resign: true }, "I resigned");
    return isDelivered ? "" : "Tell the chat that you have resigned.";
  }

  async #initialize(): Promise<void> {
    const { hostContext } = (await this.#host.request("ui/initialize", {
      appInfo: { name: "agent-league-board", version: "1.0.0" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL_VERSION,
    })) as { hostContext?: HostContext };
    applyHostContext(hostContext ?? {});
    this.#host.notify("ui/notifications/initialized", {});
    this.#stopReporting = reportSize(this.#host);
  }

  /** Applies the result of a tool that the model or the page has called. */
  #applyResult(result: ToolResult): void {
    if (result.isError) this.#notify({ problem: textOf(result) });
    const found = result._meta?.[USER_SEAT_META] as UserSeat | undefined;
    if (typeof found?.token === "string") this.#seat = found;
    const game = found?.view ?? result.structuredContent;
    if (!isGameView(game)) return;
    const [latest, seat] = [this.#latest, this.#seat];
    const isNew = latest === null || game.game_id !== latest.game_id || game.tick >= latest.tick;
    if (isNew) this.#latest = game;
    // The person must not see the hidden information of the model's role.
    const isOurs = seat === null || game.your_role === seat.role || game.your_role === "spectator";
    if (isNew && isOurs) this.#notify({ game, problem: null });
    void this.#follow();
  }

  get #mustWait(): boolean {
    const [latest, seat] = [this.#latest, this.#seat];
    if (!this.#isOpen || seat === null || latest === null || latest.status === "completed") return false;
    return !(latest.your_role === seat.role && latest.to_act.includes(seat.role));
  }

  /** Waits for the next turn, repeatedly, while it is not the person's turn. */
  async #follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    for (let pauseMs = FIRST_PAUSE_MS; this.#mustWait; ) {
      const before = this.#latest;
      try {
        const args = { game_id: before?.game_id, seat_token: this.#seat?.token, timeout_s: WAIT_S };
        const askedAt = performance.now();
        this.#applyResult(await callTool(this.#host, "waitForNextTurn", args, WAIT_TIMEOUT_MS));
        // An immediate answer without a new turn must not cause a burst of calls.
        const isIdle = this.#latest?.tick === before?.tick && performance.now() - askedAt < FIRST_PAUSE_MS;
        pauseMs = isIdle ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
        if (isIdle && this.#mustWait) await pause(pauseMs);
      } catch (error) {
        if (!this.#isOpen) break;
        this.#notify({ problem: `The game cannot be updated: ${messageOf(error)}` });
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    this.#isFollowing = false;
  }

  /**
   * Sends a turn and then a message about it to the model. Returns false if the host does not accept messages; the
   * person must then tell the model.
   */
  async #submit(game: GameView, turn: object, summary: string): Promise<boolean> {
    const args = { game_id: game.game_id, ...turn, seat_token: this.#seat?.token };
    this.#applyResult(await callTool(this.#host, "finishTurn", args, MOVE_TIMEOUT_MS));
    const content = [{ type: "text", text: messageFor(game, this.#latest, summary, this.#games) }];
    return this.#host.request("ui/message", { role: "user", content }).then(
      (result) => !(result as { isError?: boolean } | undefined)?.isError,
      () => false,
    );
  }

  #close(): void {
    this.#isOpen = false;
    this.#stopReporting();
    // Closed after the answer to the host's request.
    setTimeout(() => this.#host.close());
  }
}

/** Calls a tool. Rejects with the text of the tool's error. */
async function callTool(host: HostBridge, name: string, args: object, timeoutMs: number): Promise<ToolResult> {
  const result = (await host.request("tools/call", { name, arguments: args }, timeoutMs)) as ToolResult;
  if (result.isError) throw new Error(textOf(result));
  return result;
}

const textOf = ({ content }: ToolResult): string =>
  content?.flatMap(({ text }) => text ?? []).join("\n") || "The tool failed without a message.";

/** Returns the message to the model, which then continues the game. */
function messageFor(
  { game_id, your_role }: GameView,
  after: GameView | null,
  summary: string,
  games: FactsOfGames,
): string {
  const played = `${summary} as ${your_role} in game ${game_id}.`;
  const result = after?.game_id === game_id ? resultInWords(after, games[after.template]) : "";
  return `${played} ${result ? `The game is over. ${result}.` : "Call waitForNextTurn to see the board and to continue."}`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
