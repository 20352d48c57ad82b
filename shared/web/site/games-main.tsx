import { render } from "preact";
import type { GamesSetup } from "../game-view.ts";
import { Games } from "../lobby/games.tsx";

const { games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as GamesSetup;
const root = document.getElementById("root");
if (root) render(<Games known={games} />, root);
