import nim from "../../../scripts/starters/game/game.ts";
import { ok } from "../../lib/result.ts";
import type { Game } from "../game.ts";
import { heapOf, NIM, type NimState, RPS, type Violating, withInfo } from "./broken-games.ts";

/** Nim with a coin in the state that only the viewers for which `sees` returns true see. */
const withCoin = (sees: (viewer: string) => boolean, hiddenInformation: boolean): Game => ({
  ...withInfo({ hiddenInformation }),
  initialState: ({ options, seed }) => ({
    ...nim.initialState({ options: options as { heap: number }, seed }),
    coin: seed.length % 2 === 0 || seed.endsWith("1"),
  }),
  applyAction(state, role, action) {
    const next = nim.applyAction(state as NimState, role, action as number);
    return next.ok ? ok({ ...next.value, coin: (state as { coin: boolean }).coin }) : next;
  },
  viewState: (state, viewer) => (sees(viewer) ? state : { left: heapOf(state), turn: (state as NimState).turn }),
});

/** The sticks of the heap, which become fewer. */
const heapList = (state: unknown): readonly string[] => Array.from({ length: heapOf(state) }, () => "|");

/** Games that violate the obligations of views and texts. */
export const BROKEN_VIEWS: readonly Violating[] = [
  [
    "actions-from-view",
    { ...NIM, viewState: (state) => ({ left: heapOf(state) }) },
    /lists other actions for the view/,
    ["state", "role", "expected", "actual"],
  ],
  [
    "spectator-view",
    withCoin((viewer) => viewer === "spectator", true),
    /the view of spectator contains information that the view of first_player/,
    ["viewer", "expected", "actual"],
  ],
  [
    "views-of-roles",
    withCoin((viewer) => viewer === "second_player", false),
    /the view of second_player contains information that the view of first_player/,
    ["viewer"],
  ],
  [
    "same-view",
    withCoin((viewer) => viewer === "second_player", false),
    /two viewers have different views/,
    ["viewer", "expected", "actual"],
  ],
  [
    "board",
    withInfo({ board: "marks" }),
    /the view of first_player does not fit: board: is missing/,
    ["viewer", "actual"],
  ],
  [
    "board",
    { ...withInfo({ board: "marks" }), viewState: (state) => ({ ...(state as NimState), board: ["x.", "..."] }) },
    /does not fit: board: must have rows of equal length/,
    ["viewer", "actual"],
  ],
  [
    "board",
    { ...withInfo({ board: "discs" }), viewState: (state) => ({ ...(state as NimState), board: ["."] }) },
    /a legal action of first_player is not the number of a column, counted from 1/,
    ["role", "action"],
  ],
  ["board", withInfo({ board: "chess" }), /does not fit: fen: is missing/, ["viewer", "actual"]],
  ["board", withInfo({ board: "words" }), /does not fit: cards: is missing/, ["viewer", "actual"]],
  ["board", withInfo({ board: "hands" }), /does not fit: choices: is missing/, ["viewer", "actual"]],
  ["board", withInfo({ board: "numbers" }), /does not fit: choices: is missing/, ["viewer", "actual"]],
  ["board", withInfo({ board: "cards" }), /does not fit: cards: is missing/, ["viewer", "actual"]],
  [
    "board",
    { ...withInfo({ board: "hands" }), viewState: (state) => ({ ...(state as NimState), choices: {} }) },
    /a legal action of first_player is not rock, paper or scissors/,
    ["role", "action"],
  ],
  [
    "board",
    { ...RPS, info: { ...RPS.info, board: "numbers" } },
    /the view of player_1 does not fit: round: is missing/,
    ["viewer", "actual"],
  ],
  [
    "text",
    { ...withCoin(() => false, true), toText: (state) => `the coin is ${(state as { coin: boolean }).coin}` },
    /another text for the view of a viewer/,
    ["viewer", "expected", "actual"],
  ],
  ["text", { ...NIM, toText: () => "" }, /toText returns no text/, ["viewer"]],
  [
    "unknown-viewer",
    withCoin((viewer) => viewer === "unknown", true),
    /another view for a name that is not a role/,
    ["viewer"],
  ],
  [
    "history",
    { ...withInfo({ history: ["heap"] }), viewState: (state) => ({ ...(state as NimState), heap: heapList(state) }) },
    /changes or removes elements of the list/,
    ["viewer", "expected", "actual"],
  ],
  [
    "seed",
    {
      ...withCoin(() => true, false),
      initialState: ({ options, seed }) => ({
        ...nim.initialState({ options: options as { heap: number }, seed }),
        coin: seed,
      }),
    },
    /contains the seed of the game/,
    ["viewer", "actual"],
  ],
  [
    "choices-hidden",
    { ...RPS, viewState: (state) => state },
    /player_2 sees the choice of player_1 before the turn is over/,
    ["state", "role", "action", "viewer"],
  ],
  [
    "choices-visible",
    { ...RPS, viewState: (state) => RPS.viewState(state, "spectator"), toText: () => "hidden" },
    /the same view after two different choices/,
    ["role"],
  ],
];
