import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { cleanUp, newFolder, root } from "../../testing/processes.ts";

/** Each test starts several processes, on whatever machine. */
vi.setConfig({ testTimeout: 120_000 });

/** The MCP Inspector's command line, as `npx @modelcontextprotocol/inspector --cli` runs it. */
const CLI = join(root, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

let host: TestHost;
beforeEach(async () => {
  host = await startTestHost();
});
afterEach(async () => {
  await host.remove();
  await cleanUp();
});

/** What the Inspector prints; it rejects when the Inspector ends with anything but 0. */
async function inspect(target: readonly string[], ...asked: readonly string[]): Promise<unknown> {
  const env = { PATH: process.env.PATH, HOME: newFolder() }; // it keeps a catalogue of servers at home
  const args = [CLI, "--cli", ...target, "--format", "json", ...asked];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

/** Both transports and both eras; each run of the Inspector costs seconds. */
const ways = {
  "over HTTP": () => [`${host.url}/mcp`, "--transport", "http"],
  "over stdio": () => [process.execPath, `${root}scripts/league.ts`, "mcp", "--data", newFolder()],
} as const;

describe("the Inspector", () => {
  it.each([
    ["over HTTP", "modern"],
    ["over stdio", "legacy"],
  ] as const)("%s lists and calls tools, %s", async (way, era) => {
    const target = [...ways[way](), "--protocol-era", era];
    expect(await inspect(target, "--method", "tools/list")).toMatchObject({
      result: { tools: expect.arrayContaining([expect.objectContaining({ name: "createGame" })]) },
    });
    const call = ["--method", "tools/call", "--tool-name", "createGame", "--tool-arg", "template=rps.v1"];
    expect(await inspect(target, ...call)).toMatchObject({
      result: { structuredContent: { template: "rps.v1", your_role: "player_1", next: "waiting_for_opponent" } },
    });
  });
});
