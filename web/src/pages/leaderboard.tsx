import { text } from "../text";

export default function LeaderboardPage() {
  return <h1>{text.site.name}</h1>;
}
