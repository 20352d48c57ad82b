import { once } from "node:events";
import { createServer } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { freePort } from "../../runtime/process/free-ports.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import {
  addressToward,
  comesFrom,
  isWildcard,
  listenHostFor,
  localUrl,
  machineAddresses,
  nameResolver,
  ownAddresses,
  urlsOf,
  wildcardHost,
} from "./machine-addresses.ts";

const at = (address: string, internal = false): NetworkInterfaceInfo =>
  ({ address, internal, family: address.includes(":") ? "IPv6" : "IPv4" }) as NetworkInterfaceInfo;

const IPV6 = { lo: [at("127.0.0.1", true), at("::1", true)] };

describe("the addresses of a machine", () => {
  it("are sorted with IPv4 first and virtual interfaces last, without loopback and link-local addresses", () => {
    const interfaces = {
      lo: [at("127.0.0.1", true), at("::1", true)],
      docker0: [at("172.17.0.1")],
      wlan0: [at("fe80::1"), at("2001:db8::7"), at("192.168.1.7")],
      eth0: [at("169.254.3.4")],
    };
    expect(ownAddresses(interfaces)).toEqual(["192.168.1.7", "2001:db8::7", "172.17.0.1"]);
  });

  it("include loopback for the machine itself", () => {
    expect(machineAddresses({ ...IPV6, eth0: [at("192.168.1.7")], down: undefined })).toEqual(
      new Set(["127.0.0.1", "::1", "192.168.1.7"]),
    );
  });

  it("are covered by the wildcard address ::, or 0.0.0.0 without IPv6", () => {
    expect(wildcardHost({ lo: [at("127.0.0.1", true)] })).toBe("0.0.0.0");
    expect(wildcardHost(IPV6)).toBe("::");
    expect(["0.0.0.0", "::", "127.0.0.1", "10.0.0.1"].map(isWildcard)).toEqual([true, true, false, false]);
  });
});

test("the local URL of a server has loopback for a wildcard address, otherwise the address of the server", () => {
  expect([localUrl("0.0.0.0", 8000), localUrl("::", 8000)]).toEqual(["http://127.0.0.1:8000", "http://127.0.0.1:8000"]);
  expect([localUrl("10.0.0.1", 8000), localUrl("fd00::1", 8000)]).toEqual([
    "http://10.0.0.1:8000",
    "http://[fd00::1]:8000",
  ]);
  expect(urlsOf("10.0.0.1", 8000, {})).toEqual(["http://10.0.0.1:8000"]);
});

test.each([
  ["http://127.0.0.1:8000/mcp", "127.0.0.1"],
  ["http://localhost:8000/mcp", "127.0.0.1"],
  [null, "127.0.0.1"],
  ["http://192.168.1.7:8000/mcp", "::"],
  ["http://teacher.local:8000/mcp", "::"],
])("an agent whose manager is %s listens on %s", (manager, host) => {
  expect(listenHostFor(manager, IPV6)).toBe(host);
});

describe("addressToward", () => {
  it("resolves with the local address of a connection, and rejects if the connection is refused", async () => {
    const server = createServer();
    const port = await listenOnLoopback(server, await freePort());
    expect(await addressToward(`http://localhost:${port}/mcp`, 5_000, systemClock)).toBe("127.0.0.1");
    server.close();
    await once(server, "close");
    await expect(addressToward(`http://127.0.0.1:${port}/mcp`, 5_000, systemClock)).rejects.toThrow(/ECONNREFUSED/);
  });
});

test.each<[string, string, boolean]>([
  ["http://10.0.0.1:8150/mcp", "10.0.0.1", true],
  ["http://10.0.0.1:8150/mcp", "10.0.0.2", false],
  ["http://[::1]:8150/mcp", "127.0.0.1", true],
  ["http://localhost:8150/mcp", "10.0.0.1", false],
  ["http://unknown.invalid:8150/mcp", "10.0.0.1", false],
  ["http://ann.lan:8150/mcp", "10.0.0.1", true],
  ["http://ann.lan:8150/mcp", "fd00::1", true],
  ["http://ann.lan:8150/mcp", "10.0.0.2", false],
  ["10.0.0.1", "10.0.0.1", false],
])("a request to register %s from %s comes from the address of the endpoint: %s", async (endpoint, caller, verdict) => {
  const resolve = async (name: string) => (name === "ann.lan" ? ["10.0.0.1", "fd00::1"] : []);
  expect(await comesFrom(endpoint, caller, new Set(), resolve)).toBe(verdict);
});

test("an unknown host name has no addresses", async () => {
  expect(await nameResolver(systemClock)("unknown.invalid")).toEqual([]);
});
