import { render } from "preact";
import type { LeaguePlaySetup } from "../league-view.ts";
import { JoinLeague } from "../play/league-join.tsx";
import { LeaguePlay } from "../play/league-play.tsx";
import { invitationIn, seatIn } from "../texts/links.ts";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as LeaguePlaySetup;
const root = document.getElementById("root");
const seat = seatIn(location);
if (root)
  render(seat ? <LeaguePlay seat={seat} games={games} /> : <JoinLeague invitation={invitationIn(location)} />, root);
// The address of another seat differs in its fragment only, which does not load the page again.
addEventListener("hashchange", () => location.reload());
