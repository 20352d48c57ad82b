/** The obligations of game.ts on views and texts, for every built-in game: each viewer sees only what it may know. */
import { describe, expect, it } from "vitest";
import type { Game } from "./game.ts";
import { type GameId, gameIds, games } from "./registry.ts";
import { violationOf } from "./testing/obligations.ts";

describe.each(gameIds)("%s: views", (id) => {
  it("a role lists the same legal actions from its view as from the state", () => {
    expect(violationOf(id, "actions-from-view")).toBeNull();
  });

  it("the spectator's view follows from every role's view", () => {
    expect(violationOf(id, "spectator-view")).toBeNull();
  });

  it("the view of a role follows from the view of every role that sees at least as much", () => {
    expect(violationOf(id, "views-of-roles")).toBeNull();
  });

  it("toText returns the same text for a state and for the viewer's view of it, so the text reveals nothing else", () => {
    expect(violationOf(id, "text")).toBeNull();
  });

  it("an unknown viewer sees the view of the spectator", () => {
    expect(violationOf(id, "unknown-viewer")).toBeNull();
  });

  it("no viewer sees the seed", () => {
    expect(violationOf(id, "seed")).toBeNull();
  });
});

const historyOf = (id: GameId): readonly string[] | undefined => (games[id] as Game).info.history;

describe.each(gameIds.filter((id) => historyOf(id) !== undefined))("%s: history", (id) => {
  it("only grows in every view", () => {
    expect(violationOf(id, "history")).toBeNull();
  });
});

const boardOf = (id: GameId): string | undefined => (games[id] as Game).info.board;

describe.each(gameIds.filter((id) => boardOf(id) !== undefined))("%s: board", (id) => {
  it("has views and actions that fit the declared board", () => {
    expect(violationOf(id, "board")).toBeNull();
  });
});

describe.each(gameIds.filter((id) => !games[id].info.hiddenInformation))("%s: no hidden information", (id) => {
  it("shows the same view to every viewer", () => {
    expect(violationOf(id, "same-view")).toBeNull();
  });
});

describe.each(gameIds.filter((id) => games[id].info.simultaneous))("%s: secret choices", (id) => {
  it("do not change what another viewer sees", () => {
    expect(violationOf(id, "choices-hidden")).toBeNull();
  });

  it("are visible to the role that has made them", () => {
    expect(violationOf(id, "choices-visible")).toBeNull();
  });
});
