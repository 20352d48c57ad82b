import { render } from "preact";
import { SiteHeader } from "#shared/web/layout/site-header.tsx";
import type { SiteSetup } from "#shared/web/page-files.ts";
import { Games } from "#shared/web/play/games.tsx";

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
