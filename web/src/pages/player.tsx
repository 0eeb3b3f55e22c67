import { text } from "../text";

export default function PlayerPage() {
  return <h1>{text.site.name}</h1>;
}
