import { render } from "preact";
import { Replays } from "../match/replays.tsx";
import type { ReportSetup } from "../replay-view.ts";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as ReportSetup;
const root = document.getElementById("replays");
if (root) {
  root.textContent = "";
  render(<Replays {...setup} />, root);
}
