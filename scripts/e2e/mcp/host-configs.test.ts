import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { cleanUp, newFolder, root } from "../../testing/processes.ts";

/** The document with the configurations for MCP hosts. The tests start each of them from `/` with a minimal environment, as a host does. */
const page = readFileSync(new URL("../../../docs/playing.md", import.meta.url), "utf8");
const Server = z.union([
  z.strictObject({ type: z.literal("stdio").optional(), command: z.string(), args: z.array(z.string()) }),
  z.strictObject({ type: z.literal("http"), url: z.string() }),
]);
type Server = z.infer<typeof Server>;
const Servers = z.record(z.string(), Server);
const Config = z.union([
  z.strictObject({ mcpServers: Servers }).transform(({ mcpServers }) => mcpServers),
  z.strictObject({ servers: Servers }).transform(({ servers }) => servers),
]);

const jsonBlocks = [...page.matchAll(/```json\n(.*?)```/gs)].flatMap(([, block = ""]) =>
  /"(mcpServers|servers)"/.test(block) ? [Config.parse(JSON.parse(block))] : [],
);
const claudeCommands = [...page.matchAll(/^claude mcp add (?:--transport http )?(\S+) (?:-- )?(.*)$/gm)].map(
  ([, name = "", line = ""]): [string, Server] => {
    const [command = "", ...args] = line.split(" ");
    return [name, command.startsWith("http") ? { type: "http", url: command } : { command, args }];
  },
);
const configured = [...jsonBlocks.flatMap((block) => Object.entries(block)), ...claudeCommands];

/** The PATH of a host: without the programs of this project. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

let host: TestHost;
beforeEach(async () => {
  host = await startTestHost();
});
afterEach(async () => {
  await host.remove();
  await cleanUp();
});

describe("the MCP host configurations in docs/playing.md", () => {
  it("have eight entries", () => {
    expect(configured).toHaveLength(8);
  });

  it("have separate data folders if they keep games", () => {
    const hosting = configured.flatMap(([, server]) =>
      "args" in server && !server.args.includes("--url") ? [server] : [],
    );
    const folders = hosting.map(({ args }) => args[args.indexOf("--data") + 1] ?? "");
    expect(hosting).toHaveLength(3);
    expect(new Set(folders).size).toBe(3);
    for (const folder of folders) expect(folder).toMatch(/^\/path\/to\/agent-league\/data\/mcp-/);
  });

  it.each(configured.map(([name, server], index) => [`${index + 1} ${name}`, server] as const))(
    "start a server with the tools for games: %s",
    async (_name, server) => {
      const withPaths = (text: string): string =>
        text.replace("http://127.0.0.1:8001", host.url).replace("/path/to/agent-league", root);
      const data = "args" in server && !server.args.includes("--url") ? ["--data", newFolder()] : [];
      const target =
        "url" in server
          ? withPaths(server.url)
          : {
              command: withPaths(server.command),
              args: [...server.args.map(withPaths), ...data],
              env: { PATH },
              cwd: "/",
            };
      const client = await clients["2025-11-25"]?.(target);
      expect((await client?.tools())?.map(({ name }) => name)).toContain("createGame");
      expect(client?.errors).toEqual([]);
      await client?.close();
    },
  );
});
