/** Declares the part of ws that is used here. */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage } from "node:http";
  import type { Duplex } from "node:stream";

  interface Limits {
    readonly perMessageDeflate: false;
    /** The largest accepted message, in bytes. */
    readonly maxPayload: number;
  }

  export class WebSocket extends EventEmitter {
    constructor(
      url: string,
      protocols: readonly string[],
      options: Limits & { readonly handshakeTimeout?: number; readonly headers?: Readonly<Record<string, string>> },
    );
    readonly bufferedAmount: number;
    send(text: string): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code: number, reason: string): void;
    terminate(): void;
  }

  export class WebSocketServer {
    constructor(
      options: Limits & {
        readonly noServer: true;
        readonly clientTracking: false;
        readonly handleProtocols: (offered: ReadonlySet<string>) => string | false;
      },
    );
    handleUpgrade(
      request: IncomingMessage,
      connection: Duplex,
      head: Buffer,
      accepted: (socket: WebSocket) => void,
    ): void;
  }
}
