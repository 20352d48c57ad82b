import { describe, expect, it } from "vitest";
import { findGameNamed, gameIds, games } from "./registry.ts";

describe.each(gameIds)("%s", (id) => {
  it("is found by its id, its id without version and its name, without regard to case and punctuation", () => {
    const { name } = games[id].info;
    const short = id.replace(".v1", "");
    const spellings = [id, id.toUpperCase(), short, short.replaceAll("_", " "), short.replaceAll("_", "-"), name];
    for (const text of [...spellings, name.toUpperCase(), ` ${name} `]) expect(findGameNamed(text)?.id, text).toBe(id);
  });
});

it.each(["", "go", "chess.v2", "ches", "__proto__", "constructor", "chess960"])(
  "findGameNamed finds no game for %j",
  (text) => {
    expect(findGameNamed(text)).toBeUndefined();
  },
);
