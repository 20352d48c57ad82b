import { render } from "preact";
import type { ReportSetup } from "#shared/web/game-view.ts";
import { Replays } from "../match/replays.tsx";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as ReportSetup;
const root = document.getElementById("replays");
if (root) {
  root.textContent = "";
  render(<Replays {...setup} />, root);
}
