/** What viewers may know: the obligations of game.ts on views, texts and rounds, for every registered game. */
import { describe, expect, it } from "vitest";
import { type Game, seesMore, type Viewer } from "./game.ts";
import { gameIds, games } from "./registry.ts";
import { applyLegal, canonicalJson, sampleOf, tracesOf, viewersOf } from "./simulate.ts";

/** Expects that what is derived from a value is the same whenever the value is. */
function expectDerivable(pairs: Iterable<readonly [from: string, derived: string]>): void {
  const known = new Map<string, string>();
  for (const [from, derived] of pairs) {
    expect(derived).toBe(known.get(from) ?? derived);
    known.set(from, derived);
  }
}

/** All that leaves a state for a viewer. */
function seenBy(game: Game, state: unknown, viewer: Viewer): string {
  const rounds = game.rounds?.(state) ?? [];
  return canonicalJson([game.viewState(state, viewer), game.toText(state, viewer), rounds, game.outcome(state)]);
}

describe.each(gameIds)("%s: views", (id) => {
  const game: Game = games[id];
  const statesOf = (options: unknown) =>
    tracesOf(id)
      .filter((trace) => canonicalJson(trace.options) === canonicalJson(options))
      .flatMap(({ states }) => states);
  /** Views of games with other options may differ in what they need not say. */
  const perOptions = () =>
    [...new Map(tracesOf(id).map(({ options }) => [canonicalJson(options), options])).values()].map(statesOf);

  it("a role lists the same legal actions from its view as from the state", () => {
    for (const trace of tracesOf(id)) {
      for (const state of sampleOf(trace)) {
        for (const role of game.roles) {
          const fromView = game.legalActions(JSON.parse(JSON.stringify(game.viewState(state, role))), role);
          expect(fromView).toEqual(game.legalActions(state, role));
        }
      }
    }
  });

  it("the spectator's view follows from every role's view", () => {
    for (const states of perOptions()) {
      for (const role of game.roles) {
        const view = (state: unknown, viewer: Viewer) => canonicalJson(game.viewState(state, viewer));
        expectDerivable(states.map((state) => [view(state, role), view(state, "spectator")]));
      }
    }
  });

  it("the view of a role follows from that of every role that is said to see as much", () => {
    const pairs = game.roles.flatMap((role) => game.roles.map((other) => [role, other] as const));
    for (const [role, other] of pairs.filter(([role, other]) => !seesMore(game, role, other))) {
      for (const states of perOptions()) {
        const view = (state: unknown, viewer: Viewer) => canonicalJson(game.viewState(state, viewer));
        expectDerivable(states.map((state) => [view(state, other), view(state, role)]));
      }
    }
  });

  it("a text tells no more than the same viewer's view", () => {
    for (const states of perOptions()) {
      for (const viewer of viewersOf(game)) {
        expectDerivable(
          states.map((state) => [canonicalJson(game.viewState(state, viewer)), game.toText(state, viewer)]),
        );
      }
    }
    for (const viewer of viewersOf(game)) expect(game.toText(tracesOf(id)[0]?.states[0], viewer)).not.toBe("");
  });

  it("a stranger sees no more than the spectator", () => {
    for (const trace of tracesOf(id)) {
      for (const state of sampleOf(trace)) {
        for (const stranger of ["", "nobody", "__proto__", "constructor"]) {
          expect(game.viewState(state, stranger)).toEqual(game.viewState(state, "spectator"));
        }
      }
    }
  });

  it("the seed shows to nobody", () => {
    for (const { seed, states } of tracesOf(id)) {
      for (const state of states) {
        for (const viewer of viewersOf(game)) expect(seenBy(game, state, viewer)).not.toContain(seed);
      }
    }
  });
});

describe.each(gameIds.filter((id) => !games[id].info.hiddenInformation))("%s: no hidden information", (id) => {
  it("shows everyone the same", () => {
    const game: Game = games[id];
    for (const state of tracesOf(id).flatMap(sampleOf)) {
      const views = viewersOf(game).map((viewer) => canonicalJson(game.viewState(state, viewer)));
      expect(new Set(views).size).toBe(1);
    }
  });
});

describe.each(gameIds.filter((id) => games[id].info.simultaneous))("%s: sealed choices", (id) => {
  const game: Game = games[id];
  const openTurns = () =>
    tracesOf(id)
      .flatMap(({ states }) => states)
      .filter((state) => game.toAct(state).length > 1);

  it("change nothing that anybody else is shown", () => {
    for (const state of openTurns()) {
      for (const role of game.toAct(state)) {
        for (const action of game.legalActions(state, role)) {
          const sealed = applyLegal(game, state, role, action);
          for (const viewer of viewersOf(game).filter((each) => each !== role)) {
            expect(seenBy(game, sealed, viewer)).toBe(seenBy(game, state, viewer));
          }
        }
      }
    }
  });

  it("show to the role that made them", () => {
    for (const state of openTurns()) {
      for (const role of game.toAct(state)) {
        const legal = game.legalActions(state, role);
        const own = legal.map((action) => seenBy(game, applyLegal(game, state, role, action), role));
        expect(new Set(own).size).toBe(legal.length);
      }
    }
  });
});
