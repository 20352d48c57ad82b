/** The scenes of league matches. */
import { codenames } from "#shared/games/codenames.ts";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { leagueSeed, matchSeeds } from "../../../league-manager/league/league.ts";
import { cardsIn } from "../../../referee/codenames/testing/key-secrecy.ts";
import { tool } from "../../../referee/play/testing/play.ts";
import { type Observer, observe } from "../../../referee/rest/testing/observer.ts";
import type { ControlledPlayer } from "../../testing/controlled-player.ts";
import {
  codenamesKey,
  dealtCard,
  EVEN_ODD,
  type LeagueRead,
  type LeagueScene,
  RPS,
  sealedChoice,
  seedOfMatch,
} from "./league-games.ts";
import type { Match } from "./league-matches.ts";
import { startModels } from "./league-models.ts";
import { type Course, readLeague } from "./league-readings.ts";
import { LEAGUE_OTHERS, leagueSurfaces, tokensOf } from "./league-surfaces.ts";
import { type ControlledLeague, LEAGUE, MATCH, startControlledLeague } from "./league-world.ts";
import type { Scene, Secret } from "./table.ts";
import { differ } from "./texts.ts";

const SCENES: Readonly<Record<string, LeagueScene>> = {
  "rps, player_1 has chosen": sealedChoice(RPS, 0),
  "rps, player_2 has chosen": sealedChoice(RPS, 1),
  "even_odd, EVEN has chosen": sealedChoice(EVEN_ODD, 0),
  "even_odd, ODD has chosen": sealedChoice(EVEN_ODD, 1),
  "kuhn_poker, the card of player_1": dealtCard(0),
  "kuhn_poker, the card of player_2": dealtCard(1),
  "codenames, the key": codenamesKey,
  "rps, the seed of the match": seedOfMatch,
};

export const LEAGUE_SCENES: Readonly<Record<string, Scene<LeagueRead>>> = Object.fromEntries(
  Object.entries(SCENES).map(([name, scene]) => [name, sceneOf(scene)]),
);

function sceneOf(scene: LeagueScene): Scene<LeagueRead> {
  const { hidden, holders, isRevealed, seats, runSeeds, discloses = differ } = scene;
  return {
    hidden,
    holders,
    isRevealed,
    seats,
    discloses,
    viewers: [...seats, ...LEAGUE_OTHERS],
    surfaces: leagueSurfaces(seats),
    async play() {
      const worlds: LeagueRead[] = [];
      for (const [index, runSeed] of runSeeds.entries()) worlds.push(await worldOf(scene, runSeed, index));
      return worlds;
    },
  };
}

async function worldOf(scene: LeagueScene, runSeed: string, index: number): Promise<LeagueRead> {
  const { game, options, seats, begin, hide, close, others } = scene;
  const league = await startControlledLeague({ game, options, runSeed, roles: seats.length });
  const models = await startModels(league);
  try {
    const matchOf = (matchId: string, players: ReadonlyMap<string, ControlledPlayer>) =>
      asMatch(league, matchId, matchSeeds(runSeed)(LEAGUE, matchId, 1), players, seats);
    const match = await matchOf(MATCH, league.seats);
    const other = await matchOf(league.otherMatch, league.others);
    await begin?.(match);
    let turns = 0;
    const course: Course = {
      hide: () => hide(match, index),
      close: () => close(match),
      playOther: async () => void (await others[turns++]?.(other)),
    };
    const readings = await readLeague(league, models, match.sessionId, course);
    const { rows, close: closeStore } = observe({ dataFolder: league.dataFolder, port: league.refereePort });
    const entries = rows("SELECT * FROM entries WHERE session_id = ? ORDER BY seq", match.sessionId);
    closeStore();
    const bodies = entries.map(({ body }) => String(body));
    const secrets = [
      ...(await secretsOf(league, runSeed)),
      ...entriesOf(entries),
      ...seedsOf(scene, match, other),
      ...models.secretsOf(scene.hidden === "seed"),
    ];
    return { readings, secrets, cards: game === codenames.id ? cardsIn(match.seed, bodies) : [] };
  } finally {
    await models.close();
    await league.close();
  }
}

async function asMatch(
  league: ControlledLeague,
  matchId: string,
  seed: string,
  players: ReadonlyMap<string, ControlledPlayer>,
  seats: readonly string[],
): Promise<Match> {
  const { value } = await tool(league.referee, "get_game_state", { match_id: `${LEAGUE}/${matchId}` });
  const inOrder = seats.flatMap((role) => {
    const player = players.get(role);
    return player ? [[role, player] as const] : [];
  });
  return { league, seed, players: new Map(inOrder), sessionId: value.session_id };
}

const ownedBy = (owners: readonly string[], text: string): Secret => ({ owners, text });

/** The tokens of all viewers and their hashes, the derived seed of each seat's bot, and the seeds of league and run. */
async function secretsOf(league: ControlledLeague, runSeed: string): Promise<readonly Secret[]> {
  const tokens = [...(await tokensOf(league))].flatMap(([viewer, { referee, manager }]) =>
    [...new Set([referee, manager])].flatMap((token) =>
      token === null || token === "" || token === "made-up"
        ? []
        : [ownedBy([viewer], token), ownedBy([], sha256Hex(token))],
    ),
  );
  const seed = matchSeeds(runSeed)(LEAGUE, MATCH, 1);
  const botSeeds = [...league.seats.keys()].map((role) => ownedBy([role], hmacBase64Url(seed, role)));
  return [...tokens, ...botSeeds, ownedBy([], runSeed), ownedBy([], leagueSeed(runSeed, LEAGUE))];
}

/** The seeds of both matches of the referee. */
const seedsOf = ({ hidden }: LeagueScene, match: Match, other: Match): readonly Secret[] => [
  { owners: [], text: match.seed, isRevealed: hidden === "seed" },
  ownedBy([], other.seed),
];

/** The hashes of the entries of the match's log, with which a choice could be guessed. */
const entriesOf = (entries: ReturnType<Observer["rows"]>): readonly Secret[] =>
  entries.flatMap(({ body, hash }) =>
    [String(hash), sha256Hex(String(body))].map((text) => ({ owners: [], text, isRevealed: true })),
  );
