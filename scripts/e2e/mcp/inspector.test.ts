import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { cleanUp, newFolder, root } from "../../testing/processes.ts";

/** The program that `npx @modelcontextprotocol/inspector --cli` runs. */
const CLI = join(root, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

let host: TestHost;
beforeEach(async () => {
  host = await startTestHost();
});
afterEach(async () => {
  await host.remove();
  await cleanUp();
});

/** Runs the Inspector; resolves with the JSON that it prints. Rejects if its exit code is not 0. */
async function inspect(target: readonly string[], ...request: readonly string[]): Promise<unknown> {
  const env = { PATH: process.env.PATH, HOME: newFolder() }; // the Inspector stores a list of servers in HOME
  const args = [CLI, "--cli", ...target, "--format", "json", ...request];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

/** The arguments for each transport. */
const transports = {
  "over HTTP": () => [`${host.url}/mcp`, "--transport", "http"],
  "over stdio": () => [process.execPath, `${root}scripts/league.ts`, "mcp", "--data", newFolder()],
} as const;

// Each transport is tested with one protocol era, because a run of the Inspector takes seconds.
describe("the MCP Inspector", () => {
  it.each([
    ["over HTTP", "modern"],
    ["over stdio", "legacy"],
  ] as const)("%s lists and calls tools in the %s era", async (transport, era) => {
    const target = [...transports[transport](), "--protocol-era", era];
    expect(await inspect(target, "--method", "tools/list")).toMatchObject({
      result: { tools: expect.arrayContaining([expect.objectContaining({ name: "createGame" })]) },
    });
    const call = ["--method", "tools/call", "--tool-name", "createGame", "--tool-arg", "template=rps.v1"];
    expect(await inspect(target, ...call)).toMatchObject({
      result: { structuredContent: { template: "rps.v1", your_role: "player_1", next: "waiting_for_opponent" } },
    });
  });
});
