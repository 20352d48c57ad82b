import { afterEach, expect, test } from "vitest";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";

afterEach(cleanUp);

/** The number of hosts. Which of the two bundles is ready first depends on the load of the machine. */
const HOSTS = 4;

/** Starts a session host. Resolves with its URL. */
async function startHost(): Promise<string> {
  const host = start("referee/main.ts", ["--alone", "--port", "0", "--data", newFolder()]);
  const line = await host.line(/session host at/);
  const [url] = /http:\/\/[\w.:]+/.exec(line) ?? [];
  if (url === undefined) throw new Error(`no URL in: ${line}`);
  return url;
}

test.for(Array.from({ length: HOSTS }, (_, host) => host))(
  "a new session host answers the first request for a page and the first one for the board at the same moment (host %i)",
  async () => {
    const url = await startHost();
    const [page, board] = await Promise.all([
      fetch(`${url}/`, { headers: { accept: "text/html" } }),
      fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(rpcResourceRead("ui://agent-league/board")),
      }),
    ]);
    expect([page.status, board.status]).toEqual([200, 200]);
    expect(await page.text()).toContain('<div id="root">');
    expect(await board.text()).toContain("<!doctype html>");
  },
);
