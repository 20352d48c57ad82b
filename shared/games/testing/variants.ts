import type { GameId } from "../registry.ts";

/**
 * Board words of all kinds: with accents, of several words, in other scripts, and single letters, which occur in most
 * clues.
 */
const CODENAMES_WORDS = [
  ..."Café|New York|l’île|Straße|jack-o'-lantern|Čapek|Οδός|река|海|東京|수도|नदी|ﬁn".split("|"),
  ..."B|D|F|G|J|K|P|Q|V|W|X|Z".split("|"),
];

/** The options with which a game is tested. A game that is not listed is tested with its defaults. */
const variants: Partial<Record<GameId, readonly unknown[]>> = {
  "even_odd.v1": [
    {},
    { variant: "draw" },
    { variant: "draw", rounds_to_win: 3, max_rounds: 6 },
    { rounds_to_win: 2, max_rounds: 2 },
  ],
  "rps.v1": [{}, { best_of: 2 }, { best_of: 5 }],
  // In the second position both sides can promote.
  "chess.v1": [
    {},
    { fen: "r3k3/P1P4p/8/8/8/8/p1p4P/R3K3 w Qq - 0 1" },
    { max_plies: 9 },
    { moves: "e2e4 e7e5 g1f3", draw_score: 10 },
    { draw_offers: true },
  ],
  "kuhn_poker.v1": [{}, { hands: 1 }, { hands: 3 }],
  "codenames.v1": [{}, { starting_team: "blue" }, { words: CODENAMES_WORDS, starting_team: "red" }],
};

export const variantsOf = (id: GameId): readonly unknown[] => variants[id] ?? [{}];
