import { render } from "preact";
import { loadBoard } from "../boards/boards.tsx";
import { pageFor } from "../league/pages.tsx";
import type { LeaguePage } from "../page-files.ts";
import type { SiteSetup } from "../site-setup.ts";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as SiteSetup & {
  readonly page: LeaguePage;
  readonly document: unknown;
};
const root = document.getElementById("root");
if (root) {
  const [page] = await Promise.all([pageFor(setup.page, setup), loadBoard(setup.board)]);
  root.replaceChildren(); // the content without JavaScript
  render(page, root);
}
