import { WebSocket } from "ws";

/** The answer to a registration. */
interface Registered {
  readonly inbox: string;
  readonly auth_token: string;
  readonly player_id: string;
}

/** A player of rock, paper, scissors with an inbox, which it reads over a WebSocket. It connects again whenever the connection is lost. */
export class SocketPlayer {
  readonly #url: string;
  readonly #token: string;
  readonly #playerId: string;
  #socket: WebSocket | null = null;
  #isStopped = false;
  /** The number of connections that were opened. */
  connections = 0;
  moves = 0;

  constructor({ inbox, auth_token: token, player_id: playerId }: Registered) {
    this.#playerId = playerId;
    this.#url = inbox.replace(/^http/, "ws");
    this.#token = token;
    this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#isStopped) return;
    const options = { perMessageDeflate: false, maxPayload: 2_000_000 } as const;
    const socket = new WebSocket(this.#url, ["league.v2", `bearer.${this.#token}`], options);
    this.#socket = socket;
    socket.on("open", () => this.connections++);
    socket.on("error", () => {}); // a connection that fails closes
    socket.on("close", () => setTimeout(() => this.#connect(), 100));
    socket.on("message", (data: Buffer) => socket.send(JSON.stringify(this.#answerTo(JSON.parse(data.toString())))));
  }

  // biome-ignore lint/suspicious/noExplicitAny: the messages of the manager and of the referees
  #answerTo({ id, params: { arguments: envelope } }: any): object {
    const { type, payload, message_id } = envelope;
    const { match_id, tick } = payload;
    const reply = { protocol: "league.v2", sender: `player:${this.#playerId}`, timestamp: new Date().toISOString() };
    const answer = (kind: string, content: object): object => {
      const about = { message_id: crypto.randomUUID(), correlation_id: message_id, type: kind, payload: content };
      return {
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: JSON.stringify({ ...reply, ...about }) }] },
      };
    };
    if (type === "GAME_INVITE") return answer("GAME_INVITE_RESPONSE", { match_id, accept: true });
    if (type !== "MOVE_REQUEST") return answer("ACK", {});
    this.moves++;
    return answer("MOVE_RESPONSE", { match_id, tick, move: ["rock", "paper", "scissors"][tick % 3] });
  }
}
