import { Client } from "undici";

/** One keep-alive connection with one request in flight: the bare minimum of a REST client, so that the server is what is measured. */
export interface Connection {
  /** The answer's body; throws unless it is a success: a figure with failures in it would be none. */
  post(path: string, token: string | null, body: string): Promise<string>;
}

export function connectTo(url: string): Connection {
  const client = new Client(url, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    post: (path, token, body) =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": "application/json", ...(token !== null && bearer(token)) };
        const chunks: Buffer[] = [];
        let status = 0;
        client.dispatch(
          { path, method: "POST", body, headers },
          {
            onRequestStart() {},
            onResponseStart: (_controller, statusCode) => {
              status = statusCode;
            },
            onResponseData: (_controller, chunk) => void chunks.push(chunk),
            onResponseEnd() {
              const text = (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString();
              if (status < 300) resolve(text);
              else reject(new Error(`POST ${path}: ${status} ${text}`));
            },
            onResponseError: (_controller, error) => reject(error),
          },
        );
      }),
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export interface BenchAgent {
  readonly agent_id: string;
  readonly token: string;
}

export const registerAgent = async (connection: Connection): Promise<BenchAgent> =>
  JSON.parse(await connection.post("/agents", null, "{}"));

/** Milliseconds on a clock that all processes of this machine share. */
export const sharedNow = (): number => performance.timeOrigin + performance.now();
