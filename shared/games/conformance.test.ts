/**
 * Checks every obligation of game.ts for every built-in game, over whole random games. `contract/` has the checks, which
 * `league check-game` runs on games of files. The obligations on views are in conformance-views.test.ts.
 */
import { describe, expect, it } from "vitest";
import { faultsOfShape } from "./contract/shape.ts";
import { findGame, gameIds, games } from "./registry.ts";
import { violationOf } from "./testing/obligations.ts";

describe("registry", () => {
  it("finds registered games only", () => {
    const others = [
      "spectator",
      "",
      "__proto__",
      "constructor",
      "toString",
      "WHITE",
      "hasOwnProperty",
      "chess",
      "chess.v2",
    ];
    for (const id of others) expect(findGame(id)).toBeUndefined();
    for (const id of gameIds) expect(findGame(id)).toBe(games[id]);
  });
});

describe.each(gameIds)("%s: the game", (id) => {
  it("has the id under which it is registered, and at least two roles", () => {
    expect(faultsOfShape(games[id])).toEqual([]);
    expect(games[id].id).toBe(id);
    expect(games[id].roles.length).toBeGreaterThanOrEqual(2);
  });

  it("the schema `options` adds defaults, returns completed options unchanged, and rejects unknown options", () => {
    expect(violationOf(id, "options")).toBeNull();
  });

  it("describes each of its options, and no others", () => {
    expect(violationOf(id, "option-texts")).toBeNull();
  });

  it("plays random games to the end within maxActions, and accepts the actions that it lists", () => {
    expect(violationOf(id, "plays")).toBeNull();
  });
});

describe.each(gameIds)("%s: states", (id) => {
  it("toAct is empty if and only if the state is terminal and has an outcome", () => {
    expect(violationOf(id, "ending")).toBeNull();
  });

  it("an outcome scores every role and names its reason in snake_case", () => {
    expect(violationOf(id, "outcome")).toBeNull();
  });

  it("if there are teams, every role is in one team, and the roles of a team have the same score", () => {
    expect(violationOf(id, "teams")).toBeNull();
  });

  it("replay gives the same hash at every step, from the log and from states that were stored as JSON", () => {
    expect(violationOf(id, "replay")).toBeNull();
  });

  it("an earlier state remains usable and gives the same result again", () => {
    expect(violationOf(id, "earlier-states")).toBeNull();
  });

  it("states, actions, views and outcomes are plain JSON", () => {
    expect(violationOf(id, "plain-json")).toBeNull();
  });

  it("rounds close one after another, name every role, and end with the scores of the outcome", () => {
    expect(violationOf(id, "rounds")).toBeNull();
  });
});

describe.each(gameIds)("%s: actions", (id) => {
  it("accepts every listed action and rejects every other action, for every role and for names that are not roles, even after the end", () => {
    expect(violationOf(id, "listed-actions")).toBeNull();
  });

  it("the schema `action` returns each legal action unchanged", () => {
    expect(violationOf(id, "action-form")).toBeNull();
  });

  it("never throws for any JSON value, parsed or not", () => {
    expect(violationOf(id, "any-json")).toBeNull();
  });
});

describe.each(gameIds)("%s: turns", (id) => {
  it("toAct returns one role in a sequential game, and all roles that have not chosen in a simultaneous game", () => {
    expect(violationOf(id, "turns")).toBeNull();
  });

  if (!games[id].info.simultaneous) return;
  it("the order of choices in a turn does not matter", () => {
    expect(violationOf(id, "order-of-choices")).toBeNull();
  });
});
