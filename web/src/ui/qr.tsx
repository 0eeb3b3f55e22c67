/** A link as a QR code, for a phone's camera; in a chunk of its own. */
import qrcode from "qrcode-generator";

type Props = { link: string; label: string };

export function QrCode({ link, label }: Props) {
  const code = qrcode(0, "M");
  code.addData(link);
  code.make();
  const size = code.getModuleCount();
  const cells = [...Array(size).keys()].flatMap((row) =>
    [...Array(size).keys()]
      .filter((column) => code.isDark(row, column))
      .map((column) => `M${column} ${row}h1v1h-1z`),
  );
  return (
    <svg
      class="qr"
      role="img"
      aria-label={label}
      viewBox={`-4 -4 ${size + 8} ${size + 8}`}
      shape-rendering="crispEdges"
    >
      <rect x="-4" y="-4" width="100%" height="100%" fill="#fff" />
      <path d={cells.join("")} fill="#15101f" />
    </svg>
  );
}
