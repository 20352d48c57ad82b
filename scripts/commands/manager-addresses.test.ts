import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Interfaces } from "#shared/rpc/http/machine-addresses.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { RPS } from "../testing/test-league.ts";
import { addressLines, joinCommand, managerUrls, startHint } from "./manager-addresses.ts";

const configOf = (manager: object): Config => Config.parse({ leagues: RPS, manager });
const LAN: Interfaces = {
  eth0: ["192.168.1.7", "10.0.0.7"].map((address) => ({
    address,
    netmask: "255.255.255.0",
    mac: "02:00:00:00:00:01",
    internal: false,
    cidr: null,
    family: "IPv4",
  })),
};
const JOIN = "npm run league -- join random --name YOUR_NAME";

describe("joinCommand", () => {
  it.each([
    [{}, JOIN],
    [{ port: 9000 }, `${JOIN} --manager http://127.0.0.1:9000/mcp`],
    [{ host: "192.0.2.7" }, `${JOIN} --manager http://192.0.2.7:8000/mcp`],
    [{ host: "2001:db8::7" }, `${JOIN} --manager http://[2001:db8::7]:8000/mcp`],
    [{ endpoint: "https://league.example/mcp" }, `${JOIN} --manager https://league.example/mcp`],
    [{ endpoint: "https://league.example/" }, `${JOIN} --manager https://league.example/mcp`],
    [{ join_code: "maple-7" }, `${JOIN} --join-code maple-7`],
  ])("returns the complete command for a manager with %j", (manager, command) => {
    expect(joinCommand(configOf(manager), LAN)).toBe(command);
  });
});

describe("startHint", () => {
  it.each([
    ["data", "npm run league -- start rps"],
    ["data-class", "npm run league -- start rps --data data-class"],
    ["it's mine", "npm run league -- start rps --data 'it'\\''s mine'"],
  ])("names the leagues and the data folder %s", (folder, command) => {
    const config = { ...configOf({}), data: resolve(folder) };
    expect(startHint(config, new Set())).toContain(`  ${command}`);
  });
});

it("the hint names no league that is over", () => {
  expect(startHint({ ...configOf({}), data: resolve("data") }, new Set(["rps"]))).toContain(
    "  npm run league -- start LEAGUE",
  );
});

describe("the addresses of a manager", () => {
  it("are all addresses of the machine if it listens on the wildcard address", () => {
    for (const host of ["0.0.0.0", "::"]) {
      const urls = managerUrls(configOf({ host }), LAN);
      expect(urls).toEqual(["http://192.168.1.7:8000", "http://10.0.0.7:8000"]);
      expect(managerUrls(configOf({ host }), {})).toEqual(["http://127.0.0.1:8000"]);
    }
  });

  it("are printed with a hint to --lan if it listens on loopback", () => {
    expect(addressLines(configOf({}), LAN)).toContain(
      "Only this machine can reach it; start it with --lan for a network",
    );
    expect(addressLines(configOf({ host: "192.0.2.7" }), LAN).join("\n")).not.toContain("--lan");
  });
});
