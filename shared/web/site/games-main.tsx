import { render } from "preact";
import type { GamesSetup } from "../game-view.ts";
import { SiteHeader } from "../layout/site-header.tsx";
import { Games } from "../lobby/games.tsx";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as GamesSetup;
const root = document.getElementById("root");
if (root) {
  render(
    <div class="site">
      <SiteHeader part="games" isFirst />
      <Games known={games} />
    </div>,
    root,
  );
}
