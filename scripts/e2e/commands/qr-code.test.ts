import { spawn } from "node:child_process";
import { afterEach, expect, it } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { qrCode } from "#shared/runtime/qr-code.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { cleanUp, eventually, newFolder, type Running, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const COLUMNS = 120;

/** Starts a script at a pseudo-terminal. The output of the terminal is on stderr. */
function startAtTerminal(script: string, args: readonly string[]): Running {
  const terminal = requireProgram(["/usr/bin/script"], "bsdutils");
  const quoted = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`;
  return start(script, args, {}, "ignore", {
    spawn: (command, options = {}) => {
      const shellCommand = `stty cols ${COLUMNS}; exec ${command.map(quoted).join(" ")}`;
      return spawn("/bin/sh", ["-c", 'exec "$0" -qec "$1" /dev/null >&2', terminal, shellCommand], options);
    },
  });
}

/** Waits until the terminal shows the QR code of the URL that a line contains. */
async function awaitQrCode(running: Running, line: RegExp): Promise<void> {
  const [, url = ""] = line.exec((await running.line(line)).trim()) ?? [];
  const code = await qrCode(`${url}/`, { isTTY: true, columns: COLUMNS } as NodeJS.WriteStream);
  expect(code.length).toBeGreaterThan(10);
  const isShown = (): boolean => running.stderr().includes(code.join("\r\n"));
  await eventually(`the QR code of ${url}/`, isShown);
}

it("league serve --lan prints the QR code of its page at a terminal", async () => {
  const test = await testLeague([], RPS);
  const served = startAtTerminal("scripts/league.ts", ["serve", test.file, "--lan"]);
  await awaitQrCode(served, /takes registrations at .*; its page is (http.*)\/\s*$/);
});

it("a session host that listens on every address prints the QR code of its page at a terminal", async () => {
  const args = ["--alone", "--port", String(await freePort()), "--host", "0.0.0.0", "--data", newFolder()];
  await awaitQrCode(startAtTerminal("referee/main.ts", args), /session host at (http[^\s,]*)/);
});
