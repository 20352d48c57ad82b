import { expect, it } from "vitest";
import { namedBots } from "./named-bots.ts";

const namesOf = (...texts: readonly string[]): readonly string[] => namedBots(texts).map(({ name }) => name);

it.each<[readonly string[], readonly string[]]>([
  [
    ["./my-bot/bot.ts", "random"],
    ["my-bot", "random"],
  ],
  [
    ["./a/bot.ts", "./b/bot.py#matches=one"],
    ["a", "b"],
  ],
  [
    ["./new.ts", "./old/main.js"],
    ["new.ts", "old"],
  ],
  [
    ["/work/ann/bot", "uci:stockfish"],
    ["ann", "uci:stockfish"],
  ],
  [
    ["llm:http://localhost:1/v1#m", "lines:python3 bot.py --depth=3"],
    ["llm:m", "lines:python3 bot.py --depth=3"],
  ],
])("bots have the name of their file, or of its folder if the file is called bot: %j", (texts, names) => {
  expect(namesOf(...texts)).toEqual(names);
});

it.each<[readonly string[], readonly string[]]>([
  [
    ["./a/bot.ts", "./a/bot.py"],
    ["a/bot.ts", "a/bot.py"],
  ],
  [
    ["/x/a/bot.ts", "/y/a/bot.ts", "random"],
    ["x/a", "y/a", "random"],
  ],
  [
    ["/x/a/bot.ts", "/x/a/bot.py", "/y/a/bot.ts"],
    ["x/a/bot.ts", "x/a/bot.py", "y/a/bot.ts"],
  ],
  [
    ["./new/greedy.ts", "./old/greedy.ts"],
    ["new/greedy.ts", "old/greedy.ts"],
  ],
  [
    ["./a/bot.ts", "./a/bot.ts", "random"],
    ["a 1", "a 2", "random"],
  ],
  [
    ["random", "random"],
    ["random 1", "random 2"],
  ],
])("equal names get more of the path, or a number: %j", (texts, names) => {
  expect(namesOf(...texts)).toEqual(names);
});

it("a name before = is the name of the bot, and the bot is what follows", () => {
  expect(namedBots(["old=./my-bot/bot.ts", "Zoë 2=uci:engine a=b", "./a=b/bot.ts"])).toEqual([
    { name: "old", bot: "./my-bot/bot.ts" },
    { name: "Zoë 2", bot: "uci:engine a=b" },
    { name: "a=b", bot: "./a=b/bot.ts" },
  ]);
  expect(namesOf("http://localhost:1/mcp?a=b", "lines:run --a=b")).toEqual([
    "http://localhost:1/mcp?a=b",
    "lines:run --a=b",
  ]);
});

it("a name that is given twice or is too long is rejected", () => {
  expect(() => namedBots(["a=random", "a=cycle"])).toThrow(
    "a=cycle: another bot has the name a; choose a different one",
  );
  expect(() => namedBots([`${"n".repeat(91)}=random`, "cycle"])).toThrow("a name has at most 90 characters");
});
