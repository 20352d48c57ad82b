/** What viewers may know: the obligations of game.ts on views, texts and rounds, on every registered game. */
