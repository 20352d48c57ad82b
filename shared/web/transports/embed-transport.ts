import {
  type Claim,
  type FactsOfGames,
  type GameView,
  type Seat,
  USER_SEAT_META,
  type UserSeat,
} from "#shared/web/game-view.ts";
import { resultInWords } from "#shared/web/texts/game-texts.ts";
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

/**
 * The transport of a page in a foreign frame. It can only post the person's action; the host calls the tool with it. A
 * host that keeps the frame may post the next state as `{type: "game", game}`. Most hosts show a new page instead.
 */
export function embedTransport(seat: Seat | null): Transport {
  const post = (turn: object): void => {
    const payload = { ...turn, ...(seat && { seat_token: seat.token }) };
    // The owner of the frame received this page with its token from the server. Its origin is unknown.
    window.parent.postMessage({ type: "action", action: "finishTurn", payload }, "*");
  };
  return {
    open(listener) {
      const onMessage = ({ source, data }: MessageEvent): void => {
        if (source === window.parent && data?.type === "game" && isGameView(data.game)) listener({ game: data.game });
      };
      addEventListener("message", onMessage);
      return () => removeEventListener("message", onMessage);
    },
    roleIn: ({ your_role }) => seat?.role ?? your_role,
    async play({ game_id }, move, claim) {
      post({ game_id, move, ...(claim && { claim }) });
      return "Your move was sent to the chat.";
    },
    async resign({ game_id }) {
      post({ game_id, resign: true });
      return "Your resignation was sent to the chat.";
    },
  };
}

/** JSON-RPC 2.0 with the host of an MCP App (MCP Apps 2026-01-26), by messages between frames. */
interface HostBridge {
  /** Sends a request. Rejects with the host's message, or if the host does not answer in time. */
  request(method: string, params: object, timeoutMs?: number): Promise<unknown>;
  notify(method: string, params: object): void;
  close(): void;
}

/** Handles a request or notification of the host. Returns the result, or undefined for an unknown method. */
type HostListener = (method: string, params: Record<string, unknown>) => object | undefined;

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

const TIMEOUT_MS = 30_000;
const METHOD_NOT_FOUND = -32601;

/** Connects to the host. Calls `listener` for each message of the host. */
function connectHost(listener: HostListener): HostBridge {
  const pending = new Map<string | number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  // The origin of the host is unknown. Only messages of the parent window are accepted.
  const post = (message: object): void => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const onMessage = ({ source, data }: MessageEvent<Message | null>): void => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (typeof data.method === "string") answer(data.method, data);
    else if (data.id !== undefined) settle(data.id, data);
  };
  const settle = (id: string | number, data: Message): void => {
    const request = pending.get(id);
    if (data.error) request?.reject(new Error(String(data.error.message ?? "The host rejected the request.")));
    else request?.resolve(data.result);
  };
  const answer = (method: string, { id, params }: Message): void => {
    const result = listener(method, params ?? {});
    if (id === undefined) return;
    if (result) post({ id, result });
    else post({ id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } });
  };
  addEventListener("message", onMessage);

  return {
    async request(method, params, timeoutMs = TIMEOUT_MS) {
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => reject(new Error("The host has not answered.")), timeoutMs);
      pending.set(id, { resolve, reject });
      post({ id, method, params });
      return promise.finally(() => {
        clearTimeout(timer);
        pending.delete(id);
      });
    },
    notify: (method, params) => post({ method, params }),
    close() {
      removeEventListener("message", onMessage);
      for (const { reject } of pending.values()) reject(new Error("The board was closed."));
    },
  };
}

/** The parts of the host's context that a board uses. The first context is complete, later ones contain changes. */
interface HostContext {
  readonly theme?: unknown;
  readonly styles?: { readonly variables?: Readonly<Record<string, unknown>> };
  readonly containerDimensions?: { readonly height?: number; readonly maxHeight?: number };
}

/** Applies the host's theme, colours and fonts, and limits the board to the host's height. */
function applyHostContext({ theme, styles, containerDimensions }: HostContext): void {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
    root.style.colorScheme = theme;
  }
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
  }
  const height = containerDimensions?.height ?? containerDimensions?.maxHeight;
  if (typeof height === "number") root.style.setProperty("--height", `${height}px`);
}

/**
 * Reports the size of the content to the host, initially and after each change. Returns a function that ends the
 * reports.
 */
function reportSize(host: HostBridge): () => void {
  let reportedSize = "";
  const report = (): void => {
    const root = document.documentElement;
    // The frame may be higher than its content; the height of the content is reported.
    const previousHeight = root.style.height;
    root.style.height = "max-content";
    const height = Math.ceil(root.getBoundingClientRect().height);
    root.style.height = previousHeight;
    const width = Math.ceil(window.innerWidth);
    if (reportedSize === `${width} ${height}`) return;
    reportedSize = `${width} ${height}`;
    host.notify("ui/notifications/size-changed", { width, height });
  };
  // In an animation frame, because the observer would otherwise report each change as a loop.
  const observer = new ResizeObserver(() => requestAnimationFrame(report));
  observer.observe(document.body);
  report();
  return () => observer.disconnect();
}
