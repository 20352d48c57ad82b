import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startTestLeague, type TestPlayer } from "../../testing/in-process-league.ts";

/** A player that is a Python program in `programs/`. `exit` resolves with its exit code. */
function program(file: string): TestPlayer & { exit: Promise<number | null> } {
  const exit = Promise.withResolvers<number | null>();
  return {
    name: file,
    exit: exit.promise,
    async start({ name, port, manager }) {
      const path = fileURLToPath(new URL(`programs/${file}.py`, import.meta.url));
      const child = spawn("python3", [path, name, String(port), manager], { stdio: ["ignore", "ignore", "inherit"] });
      child.once("exit", (code) => exit.resolve(code));
      const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
      return {
        async stop() {
          if (!isRunning()) return;
          const ended = once(child, "exit");
          child.kill();
          await ended;
        },
      };
    },
  };
}

test("programs that were written for another version of the protocol play a league with a native bot, each without a fault", async () => {
  const handleMessage = program("handle_message");
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
    players: [handleMessage, program("tool_calls"), program("later_answers"), { name: "Bob", bot: "random" }],
    referees: 2,
    timeouts: { join_ms: 5_000, move_ms: 5_000 },
  });
  onTestFinished(() => league.stop());
  const { leagues } = await league.completed;
  const { matches = [], standings = [] } = leagues[0] ?? {};
  expect(matches.map(({ match_id, termination }) => [match_id, termination])).toEqual(
    ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"].map((id) => [id, "normal"]),
  );
  expect(standings.map(({ played }) => played)).toEqual([3, 3, 3, 3]);
  expect(await handleMessage.exit).toBe(0);
});

test("a program of league.v1 that requires every field of its specification plays without a fault", async () => {
  const league = await startTestLeague({
    leagues: [{ league_id: "numbers", game: "even_odd.v1" }],
    players: [program("league_v1"), { name: "Bob", bot: "random" }],
  });
  onTestFinished(() => league.stop());
  const { leagues } = await league.completed;
  expect(leagues[0]?.matches).toMatchObject([{ match_id: "R1M1", termination: "normal" }]);
});
