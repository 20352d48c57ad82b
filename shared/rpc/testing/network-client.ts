/** Runs on a host of a test network: sends the HTTP requests that it receives over IPC. */
import { request } from "node:http";

export interface HostRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, any other value as JSON with its content type; the default method is then POST. */
  readonly body?: unknown;
  /** The address that the request is sent from. */
  readonly from?: string;
}

export interface HostReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function send(url: string, { method, headers = {}, body, from }: HostRequest): Promise<HostReply> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "object" ? { "content-type": "application/json" } : {};
  const options = {
    method: method ?? (text === undefined ? "GET" : "POST"),
    headers: { ...type, ...headers },
    ...(from && { localAddress: from }),
    timeout: 30_000,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (reply) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk));
      reply.once("error", reject);
      reply.once("end", () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.once("error", reject);
    sent.once("timeout", () => sent.destroy(new Error("no answer within 30 s")));
    sent.end(text);
  });
}

process.on("message", ({ id, url, request }: { id: number; url: string; request: HostRequest }) => {
  send(url, request)
    .catch((thrown: Error) => ({ error: thrown.message }))
    .then((reply) => process.send?.({ id, reply }));
});
process.on("disconnect", () => process.exit());
