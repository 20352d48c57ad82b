import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../service.ts";

it("a manager answers other managers at the host name of its --url", async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "own-host-"));
  onTestFinished(() => rmSync(dataFolder, { recursive: true }));
  let url = "";
  const report = (message: object): void => {
    if ("url" in message) url = String(message.url);
  };
  const options = { config: Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }] }), port: 0, dataFolder };
  const manager = await startManager(
    { ...options, url: "http://manager-1.example:8000" },
    silentProcess("manager", { report }),
  );
  onTestFinished(() => manager.stop());
  const statusFor = async (host: string) => {
    const sent = request(`${url}/standings`, { headers: { host } }).end();
    const [reply] = (await once(sent, "response")) as [IncomingMessage];
    reply.resume();
    return reply.statusCode;
  };
  expect(await statusFor("manager-1.example:8000")).not.toBe(403);
  expect(await statusFor("manager-2.example:8000")).toBe(403);
});
