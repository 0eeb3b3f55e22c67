/** The QR code of a link, loaded when it is first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type Props = { link: string; label: string };

export function InviteQr(props: Props) {
  const [Code, setCode] = useState<ComponentType<Props> | null>(null);
  useEffect(() => void import("./qr").then((module) => setCode(() => module.QrCode)), []);
  return <div class="qr-place">{Code && <Code {...props} />}</div>;
}
