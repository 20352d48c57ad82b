import type { IncomingMessage } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CallerSignature, callerSignature, HEADER } from "./caller-signature.ts";
import { managerForwarding, sessionPrefix } from "./forwarding.ts";

const A = { managerId: "a", url: "http://10.0.0.1:8000" };
const B = { managerId: "b", url: "http://10.0.0.2:8000" };
const signature = callerSignature("secret of the run");
const gone: string[] = [];
let members = [A, B];
/** The rules of manager a: P1 is at home here, P2 at b, P3 nowhere. `page` requests belong to the player whose token they have. */
const rules = managerForwarding({
  self: A,
  members: () => members,
  homeOf: (playerId) => ({ P1: A, P2: B })[playerId] ?? null,
  playerOf: (path, bearer) => /^\/inbox\/(P\d)$/.exec(path)?.[1] ?? (path === "/page" ? bearer : null),
  signature,
  onGone: ({ managerId }) => void gone.push(managerId),
  onChange: () => () => {},
});
const requestOf = (url: string, headers: Record<string, string> = {}) =>
  ({ url, headers }) as unknown as IncomingMessage;
const destination = (url: string, headers: Record<string, string> = {}) =>
  rules.destinationOf(requestOf(url, headers))?.origin ?? "here";

describe("the manager to which a request belongs", () => {
  it("is the home of the inbox or of the player in the browser", () => {
    expect(["/inbox/P1", "/inbox/P2?after=3", "/inbox/P3", "/standings"].map((url) => destination(url))).toEqual([
      "here",
      B.url,
      "here",
      "here",
    ]);
    expect(destination("/page", { authorization: "Bearer P2" })).toBe(B.url);
    expect(destination("/page")).toBe("here");
  });

  it("is the manager that has opened the MCP session; a manager that has ended has none", () => {
    const inSession = (managerId: string, path = "/mcp") =>
      destination(path, { "mcp-session-id": `${sessionPrefix({ managerId })}01234` });
    expect([inSession("a"), inSession("b"), inSession("c"), inSession("b", "/other")]).toEqual([
      "here",
      B.url,
      "here",
      "here",
    ]);
    const session = rules.destinationOf(requestOf("/mcp", { "mcp-session-id": "b.1" }));
    expect(session?.whenGone?.status).toBe(404);
  });

  it("is reported if it has ended", () => {
    rules.onGone({ id: B.managerId, origin: B.url });
    expect(gone).toEqual(["b"]);
  });

  it("is unknown when it is no longer a member, even if another manager has its address", () => {
    const { managerId: id, url: origin } = B;
    expect(rules.isKnown({ id, origin })).toBe(true);
    onTestFinished(() => {
      members = [A, B];
    });
    members = [A, { ...B, managerId: "b2" }];
    expect(rules.isKnown({ id, origin })).toBe(false);
  });

  it("knows the addresses of the other managers", () => {
    expect(["10.0.0.2", "::ffff:10.0.0.1", "10.0.0.3"].map(rules.isServer)).toEqual([true, true, false]);
  });
});

describe("the signed caller of a request", () => {
  const caller = { remoteAddress: "2001:db8::1", origin: "https://league.example" };
  const callerIn = (headers: Record<string, string>, by: CallerSignature = signature) => by.callerIn(headers[HEADER]);

  it("is read by the managers of the run", () => {
    expect(rules.callerIn(requestOf("/", signature.headersFor(caller)))).toEqual(caller);
  });

  it("is ignored with another signature", () => {
    const signed = signature.headersFor(caller)[HEADER] ?? "";
    const forged = Buffer.from(JSON.stringify(["127.0.0.1", ""])).toString("base64url");
    expect(callerIn({ [HEADER]: `${forged}.${signed.split(".")[1]}` })).toBeNull();
    expect(callerIn({ [HEADER]: forged })).toBeNull();
    expect(callerIn({})).toBeNull();
    expect(callerIn({ [HEADER]: signed }, callerSignature("secret of another run"))).toBeNull();
    expect(callerIn({ [HEADER]: signed })).toEqual(caller);
  });
});
