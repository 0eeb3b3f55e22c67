import type { PageProps } from "../router";

export default function BattlePage({ params }: PageProps) {
  return <h1>Battle {params.id}</h1>;
}
