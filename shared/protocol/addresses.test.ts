import { describe, expect, test } from "vitest";
import {
  endpointKey,
  isOnLoopback,
  isOnThisMachine,
  mayContact,
  networkOf,
  parseEndpoint,
  remoteNetworkOf,
} from "./addresses.ts";

const MACHINE = new Set(["127.0.0.1", "::1", "203.0.113.50", "fd00::50"]);

const sameEndpoint = (a: string, b: string): boolean => endpointKey(a, MACHINE) === endpointKey(b, MACHINE);

const STRANGER = "203.0.113.7";
const ALLOWED = {
  hosts: ["league.example", "198.51.100.1", "fd00::5"],
  endpoints: ["http://listed.example:9000/mcp", "http://127.0.0.1:9000/mcp"],
};

test.each([
  ["http://127.0.0.1:8001/mcp", true],
  ["http://localhost:8001/mcp", true],
  ["http://[::1]:8001/mcp", true],
  ["http://203.0.113.7:8001/mcp", false],
  ["", false],
])("an endpoint at %j is at loopback, and so on this machine: %j", (endpoint, isHere) => {
  expect(isOnLoopback(endpoint)).toBe(isHere);
  expect(isOnThisMachine(endpoint, new Set())).toBe(isHere);
});

test("an endpoint at an address of this machine's interfaces is on this machine", () => {
  for (const host of ["203.0.113.50", "[fd00::50]"]) {
    expect(isOnThisMachine(`http://${host}:8001/mcp`, MACHINE)).toBe(true);
    expect(isOnThisMachine(`http://${host}:8001/mcp`, new Set())).toBe(false);
  }
});

test.each([
  ["http://127.0.0.1:8101/mcp", "127.0.0.1", true],
  ["http://localhost:8101/mcp", "::1", true],
  ["http://[::1]:8101/mcp", "127.0.0.1", true],
  ["http://127.9.9.9:8101/mcp", "::ffff:127.0.0.1", true],
  ["http://127.0.0.1:8101/mcp", STRANGER, false],
  ["http://127.1:8101/mcp", STRANGER, false],
  ["http://2130706433:8101/mcp", STRANGER, false],
  ["http://localhost:8101/mcp", STRANGER, false],
  ["http://[::1]:8101/mcp", STRANGER, false],
  ["http://[::ffff:127.0.0.1]:8101/mcp", STRANGER, false],
  ["http://0.0.0.0:8101/mcp", STRANGER, false],
  ["http://127.0.0.1:8101/mcp", `::ffff:${STRANGER}`, false],
  [`http://${STRANGER}:8101/mcp`, STRANGER, true],
  [`http://${STRANGER}:8101/mcp`, `::ffff:${STRANGER}`, true],
  ["http://[2001:db8::1]:8101/mcp", "2001:db8::1", true],
  ["http://203.0.113.8:8101/mcp", STRANGER, false],
  ["http://203.0.113.70:8101/mcp", STRANGER, false],
  ["http://third.example:8101/mcp", STRANGER, false],
  [`http://${STRANGER}.third.example/mcp`, STRANGER, false],
  [`http://${STRANGER}:8101/mcp`, "127.0.0.1", false],
  ["http://league.example:8101/mcp", STRANGER, true],
  ["http://League.Example/mcp", "127.0.0.1", true],
  ["http://198.51.100.1/mcp", STRANGER, true],
  ["http://[fd00::5]/mcp", STRANGER, true],
  ["http://listed.example:9000/mcp", STRANGER, true],
  ["http://Listed.example:9000/mcp", STRANGER, true],
  ["http://listed.example:9001/mcp", STRANGER, false],
  ["http://listed.example:9000/admin", STRANGER, false],
  ["http://listed.example:9000/mcp?delete=all", STRANGER, false],
  ["https://listed.example:9000/mcp", STRANGER, false],
  ["http://127.0.0.1:9000/mcp", STRANGER, false],
  ["http://sub.league.example/mcp", STRANGER, false],
  ["http://league.example.third.example/mcp", STRANGER, false],
])("an agent may be reached at %s when it registers from %s: %s", (endpoint, from, verdict) => {
  expect(mayContact(new URL(endpoint), from, ALLOWED)).toBe(verdict);
});

test.each(["http://127.0.0.1:8101/mcp", "https://league.example/mcp", "HTTP://localhost"])(
  "%s is an endpoint",
  (text) => {
    expect(parseEndpoint(text)?.href).toBe(new URL(text).href);
  },
);

test.each([
  "http://me:secret@127.0.0.1/mcp",
  "http://me@127.0.0.1/mcp",
  "http://:secret@127.0.0.1/mcp",
  "ftp://127.0.0.1/mcp",
  "file:///etc/passwd",
  "ws://127.0.0.1/mcp",
  "javascript:http://127.0.0.1",
  "127.0.0.1:8101/mcp",
  "//127.0.0.1/mcp",
  "",
])("%j is none", (text) => {
  expect(parseEndpoint(text)).toBeNull();
});

describe("two spellings name one endpoint", () => {
  test.each([
    "http://127.0.0.1:8101/mcp?x",
    "http://127.0.0.1:8101/mcp#x",
    "http://127.0.0.1:8101/mcp/",
    "http://127.0.0.1:8101//mcp",
    "http://127.0.0.1:8101/%6dcp",
    "http://127.0.0.1:8101/MCP",
    "http://127.0.0.2:8101/mcp",
    "http://127.1:8101/mcp",
    "http://[::1]:8101/mcp",
    "http://LocalHost:8101/mcp",
    "http://localhost.:8101/mcp",
  ])("http://127.0.0.1:8101/mcp and %s", (other) => {
    expect(sameEndpoint("http://127.0.0.1:8101/mcp", other)).toBe(true);
  });

  test.each([
    ["http://League.Example/mcp", "http://league.example:80/mcp"],
    ["https://league.example/mcp", "https://league.example.:443/mcp/"],
    ["http://[2001:db8::1]/", "http://[2001:DB8:0::1]"],
  ])("%s and %s", (one, other) => {
    expect(sameEndpoint(one, other)).toBe(true);
  });

  test("an address of this machine and loopback", () => {
    for (const host of ["203.0.113.50", "[fd00::50]"]) {
      expect(sameEndpoint(`http://${host}:8101/mcp`, "http://127.0.0.1:8101/mcp"), host).toBe(true);
    }
  });
});

test.each([
  ["http://127.0.0.1:8101/mcp", "http://127.0.0.1:8102/mcp"],
  ["http://127.0.0.1:8101/mcp", "http://127.0.0.1:8101/mcp/2"],
  ["http://127.0.0.1:8101/mcp", "http://203.0.113.7:8101/mcp"],
  ["http://league.example/mcp", "https://league.example/mcp"],
  ["http://league.example/%zz", "http://league.example/%zy"],
])("%s and %s are two endpoints", (one, other) => {
  expect(sameEndpoint(one, other)).toBe(false);
});

test.each([
  ["10.0.0.9", "10.0.0.9"],
  ["::ffff:10.0.0.9", "10.0.0.9"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["1::2:3:4:5:6", "1:0:0:2::/64"],
])("%s counts as %s for limits", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ["http://127.0.0.1:8101/mcp", null],
  ["http://203.0.113.50:8101/mcp", null],
  ["not a URL", null],
  ["http://203.0.113.7:8101/mcp", "203.0.113.7"],
  ["http://[2001:db8:1:2::1]:8101/mcp", "2001:db8:1:2::/64"],
  ["http://league.example/mcp", "league.example"],
])("the remote network of an endpoint at %s: %s", (endpoint, network) => {
  expect(remoteNetworkOf(endpoint, MACHINE)).toBe(network);
});
