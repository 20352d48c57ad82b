import { render } from "preact";
import type { FactsOfGames } from "../game-facts.ts";
import { pageFor } from "../league/pages.tsx";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as {
  readonly document: unknown;
  readonly games: FactsOfGames;
};
const root = document.getElementById("root");
if (root) {
  root.replaceChildren(); // the content without JavaScript
  render(pageFor(location.pathname, setup), root);
}
