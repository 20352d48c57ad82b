import type { Pool } from "undici";
import { lazily } from "../../lib/lazy.ts";

/** The HTTP response of an endpoint. */
export interface Reply {
  readonly status: number;
  /** The content of the header Retry-After; null if the response does not have it. */
  readonly retryAfter: string | null;
  readonly text: string;
}

const MAX_REPLY_BYTES = 1024 * 1024;

/** Sends JSON to one URL over the connections of one pool, which is opened with the first request. */
export class JsonPost {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #pool: Pool | null = null;
  #isClosed = false;
  readonly #opened = lazily("the HTTP client", () => this.#open());

  constructor(url: string, bearer: string | null) {
    this.#url = new URL(url);
    this.#headers = {
      "content-type": "application/json",
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
    };
  }

  /**
   * Resolves with the response. Does not follow redirects, because the bearer token is for this URL only. Rejects if there is no complete
   * response before `signal` is aborted, or if it is too long.
   */
  async send(body: object, signal: AbortSignal): Promise<Reply> {
    const pool = await this.#opened();
    const response = await pool.request({
      path: this.#url.pathname,
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
      signal,
    });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of response.body) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_REPLY_BYTES) throw new Error(`the answer has more than ${MAX_REPLY_BYTES} bytes`);
      chunks.push(chunk);
    }
    const retryAfter = response.headers["retry-after"];
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === "string" ? retryAfter : null,
      text: Buffer.concat(chunks).toString("utf8"),
    };
  }

  /** Closes the connections. Requests under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  /** The caller limits the time of a request, which undici would otherwise end after five minutes. */
  async #open(): Promise<Pool> {
    const { Pool } = await import("undici");
    this.#pool ??= new Pool(this.#url.origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
    if (this.#isClosed) await this.#pool.destroy();
    return this.#pool;
  }
}
