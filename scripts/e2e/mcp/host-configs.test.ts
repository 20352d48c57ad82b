import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { cleanUp, newFolder, root } from "../../testing/processes.ts";

/** Each test starts several processes, on whatever machine. */
vi.setConfig({ testTimeout: 120_000 });

/** What docs/playing.md tells people to put into the configurations of their hosts, started as a host would: from `/`, with next to no environment. */
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

const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].flatMap(([, block = ""]) =>
  /"(mcpServers|servers)"/.test(block) ? [Config.parse(JSON.parse(block))] : [],
);
const added = [...page.matchAll(/^claude mcp add (?:--transport http )?(\S+) (?:-- )?(.*)$/gm)].map(
  ([, name = "", line = ""]): [string, Server] => {
    const [command = "", ...args] = line.split(" ");
    return [name, command.startsWith("http") ? { type: "http", url: command } : { command, args }];
  },
);
const configured = [...blocks.flatMap((block) => Object.entries(block)), ...added];

/** As a host has it: without the project's own programs. */
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

it("there are eight of them", () => {
  expect(configured).toHaveLength(8);
});

it("each of them that keeps games keeps them in a folder of its own", () => {
  const hosting = configured.flatMap(([, server]) =>
    "args" in server && !server.args.includes("--url") ? [server] : [],
  );
  const folders = hosting.map(({ args }) => args[args.indexOf("--data") + 1] ?? "");
  expect(hosting).toHaveLength(3);
  expect(new Set(folders).size).toBe(3);
  for (const folder of folders) expect(folder).toMatch(/^\/path\/to\/agent-league\/data\/mcp-/);
});

it.each(configured.map(([name, server], index) => [`${index + 1} ${name}`, server] as const))(
  "%s",
  async (_name, server) => {
    const real = (text: string): string =>
      text.replace("http://127.0.0.1:8001", host.url).replace("/path/to/agent-league", root);
    const data = "args" in server && !server.args.includes("--url") ? ["--data", newFolder()] : [];
    const target =
      "url" in server
        ? real(server.url)
        : {
            command: real(server.command),
            args: [...server.args.map(real), ...data],
            env: { PATH },
            cwd: "/",
          };
    const client = await clients["2025-11-25"]?.(target);
    expect((await client?.tools())?.map(({ name }) => name)).toContain("createGame");
    expect(client?.errors).toEqual([]);
    await client?.close();
  },
);
