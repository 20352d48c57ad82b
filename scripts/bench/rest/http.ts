import { Client } from "undici";

/** A keep-alive connection with one request in flight. The client is minimal, so that it uses little processor time. */
export interface Connection {
  /** Resolves with the body of the answer. Rejects if the status is 300 or higher, so that failures are never counted as requests. */
  post(path: string, token: string | null, body: string): Promise<string>;
}

/** Creates a connection to a server. It is opened by its first request. */
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

/** Returns the header of a request with a bearer token. */
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** An agent that is registered at a session host. */
export interface BenchAgent {
  readonly agent_id: string;
  readonly token: string;
}

/** Registers a new agent at a session host. */
export const registerAgent = async (connection: Connection): Promise<BenchAgent> =>
  JSON.parse(await connection.post("/agents", null, "{}"));

/** Returns the time in milliseconds of a clock that all processes of this machine share. */
export const sharedNow = (): number => performance.timeOrigin + performance.now();
