import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { identifyCaller, isAddressOrNetwork, originOf, remoteAddressOf, trustedProxies } from "./request.ts";

const isTrusted = trustedProxies(["10.1.0.0/16", "192.0.2.7", "2001:db8::/32"]);

/** The address and the origin of the caller of a request that arrives from an address with `X-Forwarded-For`. */
function callerOf(from: string, forwarded?: string) {
  const headers = {
    host: "league.example",
    "x-forwarded-proto": "https",
    ...(forwarded !== undefined && { "x-forwarded-for": forwarded }),
  };
  const request = { headers, socket: { remoteAddress: from } } as unknown as IncomingMessage;
  identifyCaller(request, isTrusted, null);
  return [remoteAddressOf(request), originOf(request)];
}

describe("trusted proxies", () => {
  it("are addresses and networks", () => {
    expect(["10.1.255.1", "::ffff:10.1.0.9", "192.0.2.7", "2001:db8:5::1"].map(isTrusted)).toEqual(Array(4).fill(true));
    expect(["10.2.0.1", "192.0.2.8", "2001:db9::1", "unknown", ""].map(isTrusted)).toEqual(Array(5).fill(false));
    expect(["10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"].map(isAddressOrNetwork)).toEqual(Array(4).fill(true));
    const wrong = ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "fd00::/129", ""];
    expect(wrong.map(isAddressOrNetwork)).toEqual(Array(6).fill(false));
  });

  it("tell the address and the scheme of a caller", () => {
    const secure = "https://league.example";
    expect(callerOf("10.1.0.5", "203.0.113.9")).toEqual(["203.0.113.9", secure]);
    expect(callerOf("127.0.0.1", "203.0.113.9")).toEqual(["203.0.113.9", secure]);
    expect(callerOf("10.1.0.5", "evil, 203.0.113.9, 192.0.2.7")).toEqual(["203.0.113.9", secure]);
    expect(callerOf("10.1.0.5", "nonsense")).toEqual(["unknown", secure]);
    expect(callerOf("10.1.0.5")).toEqual(["10.1.0.5", secure]);
  });

  it("are the only ones that do", () => {
    expect(callerOf("10.2.0.5", "203.0.113.9")).toEqual(["10.2.0.5", "http://league.example"]);
    expect(callerOf("10.1.0.5", "10.1.0.6")).toEqual(["10.1.0.6", "https://league.example"]);
  });
});
