import { text } from "../text";

export default function CreditsPage() {
  return <h1>{text.site.name}</h1>;
}
