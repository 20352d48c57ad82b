import { describe, expect, test } from "vitest";
import {
  endpointKey,
  hostsOf,
  isAmong,
  isOnLoopback,
  isOnThisMachine,
  mayContact,
  networkOf,
  parseEndpoint,
  remoteNetworkOf,
} from "./addresses.ts";

const MACHINE = new Set(["127.0.0.1", "::1", "203.0.113.50", "fd00::50"]);

const sameEndpoint = (a: string, b: string): boolean => endpointKey(a, MACHINE) === endpointKey(b, MACHINE);

const OWN_ADDRESS = "203.0.113.50";
const REMOTE = "203.0.113.7";
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
])("isOnLoopback and isOnThisMachine of the endpoint %j return %j", (endpoint, isLocal) => {
  expect(isOnLoopback(endpoint)).toBe(isLocal);
  expect(isOnThisMachine(endpoint, new Set())).toBe(isLocal);
});

test("isOnThisMachine accepts the addresses of this machine's interfaces", () => {
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
  ["http://127.0.0.1:8101/mcp", REMOTE, false],
  ["http://127.1:8101/mcp", REMOTE, false],
  ["http://2130706433:8101/mcp", REMOTE, false],
  ["http://localhost:8101/mcp", REMOTE, false],
  ["http://[::1]:8101/mcp", REMOTE, false],
  ["http://[::ffff:127.0.0.1]:8101/mcp", REMOTE, false],
  ["http://0.0.0.0:8101/mcp", REMOTE, false],
  ["http://127.0.0.1:8101/mcp", `::ffff:${REMOTE}`, false],
  [`http://${REMOTE}:8101/mcp`, REMOTE, true],
  [`http://${REMOTE}:8101/mcp`, `::ffff:${REMOTE}`, true],
  ["http://[2001:db8::1]:8101/mcp", "2001:db8::1", true],
  ["http://203.0.113.8:8101/mcp", REMOTE, false],
  ["http://203.0.113.70:8101/mcp", REMOTE, false],
  ["http://third.example:8101/mcp", REMOTE, false],
  [`http://${REMOTE}.third.example/mcp`, REMOTE, false],
  [`http://${REMOTE}:8101/mcp`, "127.0.0.1", false],
  ["http://league.example:8101/mcp", REMOTE, true],
  ["http://League.Example/mcp", "127.0.0.1", true],
  ["http://198.51.100.1/mcp", REMOTE, true],
  ["http://[fd00::5]/mcp", REMOTE, true],
  ["http://listed.example:9000/mcp", REMOTE, true],
  ["http://Listed.example:9000/mcp", REMOTE, true],
  ["http://listed.example:9001/mcp", REMOTE, false],
  ["http://listed.example:9000/admin", REMOTE, false],
  ["http://listed.example:9000/mcp?delete=all", REMOTE, false],
  ["https://listed.example:9000/mcp", REMOTE, false],
  ["http://127.0.0.1:9000/mcp", REMOTE, false],
  ["http://sub.league.example/mcp", REMOTE, false],
  ["http://league.example.third.example/mcp", REMOTE, false],
])("mayContact(%s) for a registration from %s is %s", (endpoint, from, verdict) => {
  expect(mayContact(new URL(endpoint), from, ALLOWED)).toBe(verdict);
});

test.each(["http://127.0.0.1:8101/mcp", "https://league.example/mcp", "HTTP://localhost"])(
  "parseEndpoint accepts %s",
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
])("parseEndpoint rejects %j", (text) => {
  expect(parseEndpoint(text)).toBeNull();
});

describe("endpointKey", () => {
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
  ])("is the same for http://127.0.0.1:8101/mcp and %s", (other) => {
    expect(sameEndpoint("http://127.0.0.1:8101/mcp", other)).toBe(true);
  });

  test.each([
    ["http://League.Example/mcp", "http://league.example:80/mcp"],
    ["https://league.example/mcp", "https://league.example.:443/mcp/"],
    ["http://[2001:db8::1]/", "http://[2001:DB8:0::1]"],
  ])("is the same for %s and %s", (first, second) => {
    expect(sameEndpoint(first, second)).toBe(true);
  });

  test("is the same for loopback and the other addresses of this machine", () => {
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
])("endpointKey differs for %s and %s", (first, second) => {
  expect(sameEndpoint(first, second)).toBe(false);
});

test.each([
  ["10.0.0.9", "10.0.0.9"],
  ["::ffff:10.0.0.9", "10.0.0.9"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["1::2:3:4:5:6", "1:0:0:2::/64"],
])("networkOf(%s) is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ["http://127.0.0.1:8101/mcp", null],
  ["http://203.0.113.50:8101/mcp", null],
  ["not a URL", null],
  ["http://203.0.113.7:8101/mcp", "203.0.113.7"],
  ["http://[2001:db8:1:2::1]:8101/mcp", "2001:db8:1:2::/64"],
  ["http://league.example/mcp", "league.example"],
])("remoteNetworkOf(%s) is %s", (endpoint, network) => {
  expect(remoteNetworkOf(endpoint, MACHINE)).toBe(network);
});

test.each<[readonly string[], string, boolean]>([
  [["10.0.0.1"], "10.0.0.1", true],
  [["10.0.0.1"], "::ffff:10.0.0.1", true],
  [["10.0.0.1"], "10.0.0.2", false],
  [["2001:db8::1", "10.0.0.1"], "10.0.0.1", true],
  [["fe80::1"], "fe80::1%eth0", true],
  [["127.0.0.1"], "::1", true],
  [["127.0.0.1"], OWN_ADDRESS, true],
  [[OWN_ADDRESS], "127.0.0.1", true],
  [["127.0.0.1"], "10.0.0.1", false],
  [["10.0.0.1"], "127.0.0.1", false],
  [[], "10.0.0.1", false],
])("a host with the addresses %j includes the caller %s: %s", (addresses, caller, verdict) => {
  expect(isAmong(addresses, caller, new Set([OWN_ADDRESS]))).toBe(verdict);
});

test("the key of an endpoint has its port and its path in lower case; a text that is not a URL is its own key", () => {
  expect(endpointKey("https://a.example/MCP/", MACHINE)).toBe("a.example:443/mcp");
  expect(endpointKey("http://a.example//mcp?x=1", MACHINE)).toBe("a.example:80/mcp");
  expect(endpointKey("http://[fd00::50]:8101/mcp", MACHINE)).toBe("loopback:8101/mcp");
  expect(endpointKey("no URL", MACHINE)).toBe("no URL");
});

test("hostsOf returns the host of an endpoint without brackets, or nothing", () => {
  expect(hostsOf("http://[2001:db8::1]:8101/mcp")).toEqual(["2001:db8::1"]);
  for (const endpoint of ["", "no URL", null, undefined]) expect(hostsOf(endpoint)).toEqual([]);
});

test("an allowed endpoint that is not a URL allows nothing", () => {
  const allowed = { hosts: [], endpoints: ["no URL"] };
  expect(mayContact(new URL("http://third.example:8101/mcp"), REMOTE, allowed)).toBe(false);
});

test.each([
  ["::1", "0:0:0:0::/64"],
  ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
  ["2001:DB8::1", "2001:db8:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
])("networkOf(%s) is %s", (address, network) => expect(networkOf(address)).toBe(network));
