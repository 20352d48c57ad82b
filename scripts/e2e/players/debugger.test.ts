import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, league, newFolder, type Running, start } from "../../testing/processes.ts";

afterEach(cleanUp);

const BOT = `import type { Bot } from "agent-league";

export default (({ clock }) => {
  const rest = clock.remainingMs();
  return rest > 0 ? "paper" : "rock";
}) satisfies Bot<"rps.v1">;
`;
/** The line of BOT, counted from 0, at which the debugger stops. */
const BREAKPOINT = 4;

/** Connects to the inspector that a command has started. Resolves with functions to call it and to await an event. */
async function connect(running: Running, port: number) {
  const line = await running.line(new RegExp(`Debugger listening on ws://127\\.0\\.0\\.1:${port}/`));
  const socket = new WebSocket(/ws:\S+/.exec(line)?.[0] ?? "");
  const messages: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  socket.onmessage = ({ data }) => {
    messages.push(JSON.parse(String(data)));
    for (const check of waiting) check();
  };
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const received = (field: string, value: unknown): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      const check = (): void => {
        const message = messages.find((one) => one[field] === value);
        if (message) resolve((message.result ?? message.params) as Record<string, unknown>);
      };
      waiting.add(check);
      check();
    });
  let id = 0;
  const call = (method: string, params: object = {}) => {
    id++;
    socket.send(JSON.stringify({ id, method, params }));
    return received("id", id);
  };
  return { call, event: (method: string) => received("method", method), close: () => socket.close() };
}

/** Stops the bot at the breakpoint, and resolves with the source line and the time that the bot has left in milliseconds. */
async function stopAtBreakpoint(running: Running, port: number) {
  const { call, event, close } = await connect(running, port);
  await call("Runtime.enable");
  await call("Debugger.enable");
  await call("Debugger.setBreakpointByUrl", { lineNumber: BREAKPOINT, urlRegex: ".*/my-bot\\.ts$" });
  await call("Runtime.runIfWaitingForDebugger");
  const { callFrames } = (await event("Debugger.paused")) as { callFrames: Frame[] };
  const [frame] = callFrames;
  const rest = { callFrameId: frame?.callFrameId, expression: "rest", returnByValue: true };
  const { result } = (await call("Debugger.evaluateOnCallFrame", rest)) as { result: { value: number } };
  const resume = async (): Promise<void> => {
    await call("Debugger.resume");
    close();
  };
  return { line: frame?.location.lineNumber, restMs: result.value, resume };
}

interface Frame {
  readonly callFrameId: string;
  readonly location: { readonly lineNumber: number };
}

function writeBot(): string {
  const file = join(newFolder(), "my-bot.ts");
  writeFileSync(file, BOT);
  return file;
}

describe("--inspect", () => {
  it("of league play stops a bot at a breakpoint in its file, with a time limit of half a day", async () => {
    const [port = 0] = await freePorts(2);
    const flags = ["--option", "best_of=1", "--inspect", "--inspect-port", String(port)];
    const running = start("scripts/league.ts", ["play", writeBot(), "cycle", "--game", "rps", ...flags]);
    const { line, restMs, resume } = await stopAtBreakpoint(running, port);
    expect(line).toBe(BREAKPOINT);
    expect(restMs).toBeGreaterThan(11 * 60 * 60 * 1_000);
    await resume();
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\nmy-bot\.ts wins \(rounds won\)\n$/);
  });

  it("of league join stops a bot at a breakpoint in its file", async () => {
    const [inspectPort = 0, managerPort = 0, refereePort = 0] = await freePorts(6);
    const folder = newFolder();
    const config = join(folder, "league.json");
    const leagues = [{ league_id: "rps", game: "rps.v1" }];
    const ports = { manager: { port: managerPort }, referees: { firstPort: refereePort } };
    writeFileSync(config, JSON.stringify({ ...ports, data: "data", leagues }));
    const served = start("scripts/league.ts", ["serve", config, "--players", "2"]);
    await served.line(/takes registrations/);
    const joined = ["--manager", `http://127.0.0.1:${managerPort}/mcp`, "--data", join(folder, "players")];
    start("scripts/league.ts", ["join", "cycle", ...joined]);
    const flags = ["--inspect", "--inspect-port", String(inspectPort)];
    const player = start("scripts/league.ts", ["join", writeBot(), ...flags, ...joined]);
    const { line, resume } = await stopAtBreakpoint(player, inspectPort);
    expect(line).toBe(BREAKPOINT);
    await resume();
    await served.line(/^rps R1M1 .*\[1\/1\]$/);
  });

  it("of league play requires a bot from a file", async () => {
    const { code, stdout, stderr } = await league(["play", "random", "cycle", "--game", "rps", "--inspect"]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: "--inspect needs a bot from a file\n" });
  });
});
