import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/site.css";
import { App } from "./app";

const root = document.getElementById("app");
if (root) render(<App />, root);
