import { describe, expect, it } from "vitest";
import { systemIds } from "../../lib/ids.ts";
import { EXIT, StartError } from "../process/exit.ts";
import { admitsOthers, assertSeed, Config, newSeed } from "./config.ts";

const configOf = (...players: object[]) =>
  Config.parse({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: [{ name: "Bot", bot: "random" }, ...players],
  });

describe("admitsOthers", () => {
  it.each([
    ["a bot", { bot: "greedy" }, false],
    ["an engine", { uci: { command: "stockfish" } }, false],
    ["a program", { command: ["python3", "bot.py"], protocol: "lines" }, false],
    ["a language model", { llm: { base_url: "http://127.0.0.1:11434/v1", model: "m" } }, false],
    ["a listed endpoint", { endpoint: "http://127.0.0.1:9000/mcp" }, true],
    ["a player that registers itself", { self: true }, true],
    ["a person", { human: true }, true],
  ])("a run with %s", (_, player, isOpen) => {
    expect(admitsOthers(configOf({ name: "Other", ...player }), "roster")).toBe(isOpen);
  });

  it("is true for each run in which any program can register", () => {
    expect(admitsOthers(configOf(), "count")).toBe(true);
  });
});

describe("assertSeed", () => {
  const SHORT = [
    "",
    "7",
    "a sentence of more than thirty-two characters",
    "0".repeat(31),
    `0x${"0".repeat(32)}`,
    "g".repeat(64),
  ];

  it.each(SHORT)("rejects the seed '%s' of an open run, with one that it accepts", (seed) => {
    let thrown: unknown;
    try {
      assertSeed(seed, true, systemIds);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StartError);
    const { message, exitCode } = thrown as StartError;
    expect(exitCode).toBe(EXIT.config);
    expect(message).toMatch(/^--seed .*: programs that this command does not start may enter/);
    const [, other = ""] = /e\.g\. --seed ([\da-f]{64}), or omit --seed$/.exec(message) ?? [];
    assertSeed(other, true, systemIds);
    assertSeed(seed, false, systemIds);
  });

  it.each([null, "0123456789abcdef0123456789ABCDEF", newSeed(systemIds)])("accepts the seed %s", (seed) => {
    assertSeed(seed, true, systemIds);
  });

  it("proposes another seed each time", () => {
    expect(newSeed(systemIds)).not.toBe(newSeed(systemIds));
  });
});
