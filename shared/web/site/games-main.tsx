import { render } from "preact";
import { SiteHeader } from "../layout/site-header.tsx";
import { Games } from "../lobby/games.tsx";
import type { SiteSetup } from "../site-setup.ts";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as SiteSetup;
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
