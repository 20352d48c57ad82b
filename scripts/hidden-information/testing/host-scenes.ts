/** The scenes of the session host. */
import { sha256Hex } from "#shared/lib/hash.ts";
import { codenamesKey, dealtCard, foldedCard, personsCard } from "./host-cards.ts";
import { type Choices, personsChoice, sealedChoice } from "./host-choices.ts";
import type { Game, Hosted, HostScene, HostWorld } from "./host-games.ts";
import { HOST_SURFACES, OTHERS, readAll } from "./host-readings.ts";
import type { Scene, Secret } from "./table.ts";
import { differ } from "./texts.ts";

const RPS: Choices = {
  template: "rps",
  options: { best_of: 3 },
  roles: ["player_1", "player_2"],
  before: ["rock", "paper"],
  choices: ["rock", "paper", "scissors"],
  reply: "rock",
};
const EVEN_ODD: Choices = {
  template: "even_odd",
  options: {},
  roles: ["ODD", "EVEN"],
  before: [1, 2],
  choices: [1, 4, 5],
  reply: 2,
};
const DRAW: Choices = {
  template: "even_odd",
  options: { variant: "draw", rounds_to_win: 2, max_rounds: 3 },
  roles: ["ODD", "EVEN"],
  before: [],
  choices: ["even", "odd"],
  reply: "even",
};

const SCENES: Readonly<Record<string, HostScene>> = {
  "rps, player_1 has chosen": sealedChoice(RPS, 0),
  "rps, player_2 has chosen": sealedChoice(RPS, 1),
  "rps, the person has chosen": personsChoice(RPS),
  "even_odd, ODD has chosen": sealedChoice(EVEN_ODD, 0),
  "even_odd, EVEN has chosen": sealedChoice(EVEN_ODD, 1),
  "even_odd, the person has chosen": personsChoice(EVEN_ODD),
  "even_odd with drawn numbers, the first role has chosen": sealedChoice(DRAW, 0),
  "kuhn_poker, the card of player_1": dealtCard(0),
  "kuhn_poker, the card of player_2": dealtCard(1),
  "kuhn_poker, the card of the person": personsCard,
  "kuhn_poker, after a fold": foldedCard,
  "codenames, the key": codenamesKey,
};

/** Returns the scenes by name. `hosted` returns the session host at the time when a scene is played. */
export const hostScenes = (hosted: () => Hosted): Readonly<Record<string, Scene<HostWorld>>> =>
  Object.fromEntries(Object.entries(SCENES).map(([name, scene]) => [name, sceneAt(scene, hosted)]));

function sceneAt(scene: HostScene, hosted: () => Hosted): Scene<HostWorld> {
  const { hidden, holders, isRevealed, seats, without = [], games, discloses = differ } = scene;
  return {
    hidden,
    holders,
    isRevealed,
    seats,
    surfaces: HOST_SURFACES,
    viewers: [...seats, ...OTHERS].filter((viewer) => !without.includes(viewer)),
    async play() {
      const worlds: HostWorld[] = [];
      for (const game of await games(hosted())) worlds.push(await worldOf(hosted(), game));
      return worlds;
    },
    discloses: (texts, worlds) => discloses(texts, worlds, hosted().observer),
  };
}

async function worldOf({ host, observer, agentToken }: Hosted, game: Game): Promise<HostWorld> {
  const { gameId, tokens } = game;
  const seed = String(observer.value("SELECT seed FROM sessions WHERE session_id = ?", gameId));
  return {
    gameId,
    readings: await readAll(host, game, agentToken),
    secrets: [...secretsOf(tokens), ownedBy([], seed)],
  };
}

const ownedBy = (owners: readonly string[], text: string): Secret => ({ owners, text });

/** Returns the tokens of the seats, and the hashes of the tokens, which no viewer may receive. */
const secretsOf = (tokens: Game["tokens"]): readonly Secret[] =>
  Object.entries(tokens).flatMap(([role, token]) => [ownedBy([role], token), ownedBy([], sha256Hex(token))]);
