import { text } from "../text";

export default function HomePage() {
  return <h1>{text.site.name}</h1>;
}
