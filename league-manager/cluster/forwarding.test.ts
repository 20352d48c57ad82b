import type { IncomingMessage } from "node:http";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { callerSignature, managerForwarding, SIGNATURE_HEADER, sessionPrefix } from "./request-forwarding.ts";

const A = { managerId: "a", url: "http://10.0.0.1:8000" };
const B = { managerId: "b", url: "http://10.0.0.2:8000" };
let clock: ManualClock = manualClock();
let warnings: string[] = [];
beforeEach(() => {
  clock = manualClock();
  warnings = [];
});
const signatureBy = (secret: string) =>
  callerSignature({ secret, clock: { now: () => clock.now() }, warn: (line) => void warnings.push(line) });
const signature = signatureBy("secret of the run");
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
  const request = { managerId: "a", method: "POST", target: "/inbox/P1?after=3" };
  const sign = (more: Partial<typeof request> = {}, by = signature) =>
    by.headersFor(caller, { ...request, ...more })[SIGNATURE_HEADER] ?? "";
  const callerOf = (header: string | undefined) => signature.callerIn(header, request);

  it("is read by the manager that the request is for", () => {
    expect(callerOf(sign())).toEqual(caller);
    const passedOn = { method: "POST", url: "/inbox/P1", headers: {} } as IncomingMessage;
    const headers = rules.headersFor(caller, passedOn, { id: "a", origin: A.url });
    expect(rules.callerIn({ ...passedOn, headers } as IncomingMessage)).toEqual(caller);
  });

  it("is ignored with another signature", () => {
    const forged = Buffer.from(JSON.stringify(["127.0.0.1", "", clock.now()])).toString("base64url");
    expect(callerOf(`${forged}.${sign().split(".")[1]}`)).toBeNull();
    expect(callerOf(forged)).toBeNull();
    expect(callerOf(undefined)).toBeNull();
    expect(callerOf(sign({}, signatureBy("secret of another run")))).toBeNull();
  });

  it.each([{ managerId: "b" }, { method: "GET" }, { target: "/inbox/P1" }, { target: "/mcp" }])(
    "is ignored in another request than that with %j",
    (other) => {
      expect(callerOf(sign(other))).toBeNull();
    },
  );

  it("is ignored when the signature is older than a minute", async () => {
    const header = sign();
    await clock.advance(60_000);
    expect(callerOf(header)).toEqual(caller);
    await clock.advance(1);
    expect(callerOf(header)).toBeNull();
    expect(warnings).toEqual([]);
  });

  it("is ignored with a time of the future, with one warning about the clocks", async () => {
    await clock.advance(75_000);
    const header = sign();
    clock = manualClock();
    expect([callerOf(header), callerOf(header)]).toEqual([null, null]);
    expect(warnings).toEqual([
      "the clock of another manager is 75 s ahead of this one, so the requests that it passes on may be rejected: synchronize both clocks",
    ]);
  });

  it("whose signature does not count is not passed on again", () => {
    expect(destination("/inbox/P2", { [SIGNATURE_HEADER]: "old" })).toBe("here");
  });
});
