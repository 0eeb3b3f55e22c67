import type { PageProps } from "../router";

export default function ReplayPage({ params }: PageProps) {
  return <h1>Replay {params.id}</h1>;
}
