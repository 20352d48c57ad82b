import { render } from "preact";
import { loadBoard } from "#shared/web/boards/boards.tsx";
import type { LeaguePage, SiteSetup } from "#shared/web/page-files.ts";
import { pageFor } from "../league/pages.tsx";

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
