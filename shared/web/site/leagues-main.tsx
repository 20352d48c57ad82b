import { render } from "preact";
import type { FactsOfGames } from "../game-facts.ts";
import { pageFor } from "../league/pages.tsx";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as {
  readonly document: unknown;
  readonly games: FactsOfGames;
};
const root = document.getElementById("root");
if (root) {
  const page = await pageFor(location.pathname, setup);
  root.replaceChildren(); // the content without JavaScript
  render(page, root);
}
