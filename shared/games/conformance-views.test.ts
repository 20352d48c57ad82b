/**
 * The obligations of game.ts on views, texts and rounds, for every registered game: each viewer sees only what it may
 * know.
 */
import { describe, expect, it } from "vitest";
import { type Game, seesMore, type Viewer } from "./game.ts";
import { gameIds, games } from "./registry.ts";
import { applyLegal, canonicalJson, sampleOf, tracesOf, viewersOf } from "./testing/simulate.ts";

/** Expects that equal values have equal derived values. */
function expectDerivable(pairs: Iterable<readonly [from: string, derived: string]>): void {
  const derivedByValue = new Map<string, string>();
  for (const [from, derived] of pairs) {
    expect(derived).toBe(derivedByValue.get(from) ?? derived);
    derivedByValue.set(from, derived);
  }
}

/** Returns everything about a state that a viewer can see. */
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
  /** Views are compared within games of the same options, because they need not show the options. */
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

  it("the view of a role follows from the view of every role that sees at least as much", () => {
    const pairs = game.roles.flatMap((role) => game.roles.map((other) => [role, other] as const));
    for (const [role, other] of pairs.filter(([role, other]) => !seesMore(game, role, other))) {
      for (const states of perOptions()) {
        const view = (state: unknown, viewer: Viewer) => canonicalJson(game.viewState(state, viewer));
        expectDerivable(states.map((state) => [view(state, other), view(state, role)]));
      }
    }
  });

  it("a text contains no more information than the view of the same viewer", () => {
    for (const states of perOptions()) {
      for (const viewer of viewersOf(game)) {
        expectDerivable(
          states.map((state) => [canonicalJson(game.viewState(state, viewer)), game.toText(state, viewer)]),
        );
      }
    }
    for (const viewer of viewersOf(game)) expect(game.toText(tracesOf(id)[0]?.states[0], viewer)).not.toBe("");
  });

  it("an unknown viewer sees the view of the spectator", () => {
    for (const trace of tracesOf(id)) {
      for (const state of sampleOf(trace)) {
        for (const unknown of ["", "unknown", "__proto__", "constructor"]) {
          expect(game.viewState(state, unknown)).toEqual(game.viewState(state, "spectator"));
        }
      }
    }
  });

  it("no viewer sees the seed", () => {
    for (const { seed, states } of tracesOf(id)) {
      for (const state of states) {
        for (const viewer of viewersOf(game)) expect(seenBy(game, state, viewer)).not.toContain(seed);
      }
    }
  });
});

describe.each(gameIds.filter((id) => !games[id].info.hiddenInformation))("%s: no hidden information", (id) => {
  it("shows the same view to every viewer", () => {
    const game: Game = games[id];
    for (const state of tracesOf(id).flatMap(sampleOf)) {
      const views = viewersOf(game).map((viewer) => canonicalJson(game.viewState(state, viewer)));
      expect(new Set(views).size).toBe(1);
    }
  });
});

describe.each(gameIds.filter((id) => games[id].info.simultaneous))("%s: secret choices", (id) => {
  const game: Game = games[id];
  const openTurns = () =>
    tracesOf(id)
      .flatMap(({ states }) => states)
      .filter((state) => game.toAct(state).length > 1);

  it("do not change what another viewer sees", () => {
    for (const state of openTurns()) {
      for (const role of game.toAct(state)) {
        for (const action of game.legalActions(state, role)) {
          const chosen = applyLegal(game, state, role, action);
          for (const viewer of viewersOf(game).filter((other) => other !== role)) {
            expect(seenBy(game, chosen, viewer)).toBe(seenBy(game, state, viewer));
          }
        }
      }
    }
  });

  it("are visible to the role that has made them", () => {
    for (const state of openTurns()) {
      for (const role of game.toAct(state)) {
        const legal = game.legalActions(state, role);
        const views = legal.map((action) => seenBy(game, applyLegal(game, state, role, action), role));
        expect(new Set(views).size).toBe(legal.length);
      }
    }
  });
});
