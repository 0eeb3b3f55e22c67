import type { PageProps } from "../router";

export default function VerifyPage({ params }: PageProps) {
  return <h1>Verify {params.id}</h1>;
}
