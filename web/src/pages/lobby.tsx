import { text } from "../text";

export default function LobbyPage() {
  return <h1>{text.site.name}</h1>;
}
