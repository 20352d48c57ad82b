import { render } from "preact";
import { JoinLeague, LeaguePlay } from "#shared/web/play/league-play.tsx";
import type { LeaguePlaySetup } from "#shared/web/play-documents.ts";
import { invitationIn, seatIn } from "../texts/links.ts";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as LeaguePlaySetup;
const root = document.getElementById("root");
const seat = seatIn(location);
if (root)
  render(seat ? <LeaguePlay seat={seat} games={games} /> : <JoinLeague invitation={invitationIn(location)} />, root);
// The address of another seat differs in its fragment only, which does not load the page again.
addEventListener("hashchange", () => location.reload());
