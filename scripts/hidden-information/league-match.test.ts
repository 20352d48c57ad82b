/** A match of a running league: each test is a viewer at a surface of the referee, the league manager or the wire. */
import { LEAGUE_SCENES } from "./testing/league-scenes.ts";
import { hiddenInformation } from "./testing/table.ts";

hiddenInformation(LEAGUE_SCENES, [
  "rps, player_2 has chosen",
  "even_odd, EVEN has chosen",
  "kuhn_poker, the card of player_1",
]);
