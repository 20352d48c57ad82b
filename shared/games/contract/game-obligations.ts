import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { messageOf } from "../../lib/result.ts";
import { type Evidence, must, type Obligation } from "./obligation.ts";
import { throughJson } from "./values.ts";

/** The obligations of the definition of a game. */
export const GAME_OBLIGATIONS: readonly Obligation[] = [
  {
    id: "options",
    title: "the schema `options` adds defaults, returns completed options unchanged, and rejects unknown options",
    advice: "use z.strictObject with a default for each option, without transforms to other types",
    needsNoTraces: true,
    check({ game, variants }) {
      for (const given of variants) {
        const parsed = game.options.parse(given);
        const again = game.options.safeParse(throughJson(parsed));
        const evidence = (): Evidence => ({
          options: given,
          expected: parsed,
          actual: again.data ?? messageOf(again.error),
        });
        must(again.success, "the parsed options are rejected when they are parsed again", evidence);
        must(isDeepStrictEqual(again.data, parsed), "the parsed options change when they are parsed again", evidence);
      }
      for (const options of [{ no_such_option: 1 }, null, [], "", 1])
        must(!game.options.safeParse(options).success, "options that do not exist are accepted", () => ({ options }));
    },
  },
  {
    id: "option-texts",
    title: "describes each of its options, and no others",
    advice: "write a text in info.options for each field of options: its meaning, range and default",
    needsNoTraces: true,
    check({ game }) {
      const { properties = {} } = z.toJSONSchema(game.options, { io: "input", unrepresentable: "any" });
      const expected = Object.keys(properties).sort();
      const actual = Object.keys(game.info.options ?? {}).sort();
      const evidence = (): Evidence => ({ expected, actual });
      must(isDeepStrictEqual(actual, expected), "info.options does not have the names of the options", evidence);
    },
  },
];
