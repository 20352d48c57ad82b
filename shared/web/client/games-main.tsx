import { render } from "preact";
import { Games } from "./games.tsx";

const root = document.getElementById("root");
if (root) render(<Games />, root);
