import { Command } from "commander";
import { expect, test } from "vitest";
import { takenByNpm } from "./command-options.ts";

const command = new Command("play").option("--game <game>").option("--join-code <word>").option("--seed <seed>");

test.each([
  ["league", { npm_config_game: "true" }, "--game", "npm run league -- play …"],
  [
    "league",
    { npm_config_join_code: "oak", npm_config_seed: "7" },
    "--join-code and --seed",
    "npm run league -- play …",
  ],
  ["start", { npm_config_seed: "true" }, "--seed", "npm start -- …"],
  ["player", { npm_config_game: "true" }, "--game", "npm run player -- …"],
])("the options that npm has taken from `npm run %s` are named: %j", (script, variables, options, example) => {
  const line = `npm has taken ${options} for itself. It passes options only after --: ${example}`;
  expect(takenByNpm(command, { npm_lifecycle_event: script, ...variables })).toBe(line);
});

test.each([
  [
    "no variable of an option is set",
    { npm_lifecycle_event: "league", npm_config_loglevel: "silent", npm_config_game: "" },
  ],
  ["the command was not started by npm", { npm_config_game: "true" }],
])("there is no such line if %s", (_, environment) => {
  expect(takenByNpm(command, environment)).toBeNull();
});
