import { text } from "../text";

export default function RulesPage() {
  return <h1>{text.site.name}</h1>;
}
