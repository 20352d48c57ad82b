import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";

afterEach(cleanUp);

/** Creates an executable that stands for a browser. `page` resolves with the URL with which it is started. */
async function testBrowser(folder: string) {
  const page = Promise.withResolvers<string>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    response.end();
    page.resolve(body);
  });
  const port = await listenOnLoopback(server);
  const command = join(folder, "test-browser");
  const report = `fetch("http://127.0.0.1:${port}/", { method: "POST", body: process.argv[1] })`;
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" -e '${report}' -- "$1"\n`);
  chmodSync(command, 0o755);
  return { command, page: page.promise, close: () => server.close() };
}

it.runIf(process.platform === "linux")(
  "league mcp opens the page with its games in the browser of a desktop",
  async () => {
    const data = newFolder();
    const browser = await testBrowser(data);
    const port = await freePort();
    // xdg-open uses $BROWSER on an unknown desktop without registered programs.
    const unknownDesktop = {
      XDG_CURRENT_DESKTOP: "X-Test",
      XDG_DATA_DIRS: data,
      XDG_DATA_HOME: data,
      XDG_CONFIG_HOME: data,
    };
    const desktop = { ...unknownDesktop, DISPLAY: ":0", BROWSER: browser.command, CI: "", MCP_DISABLE_BROWSER: "" };
    const command = start("scripts/league.ts", ["mcp", "--port", String(port), "--data", data], desktop, "pipe");
    expect(await browser.page).toBe(`http://127.0.0.1:${port}`);
    command.stdin?.end();
    expect((await command.ended).code).toBe(0);
    browser.close();
  },
);
