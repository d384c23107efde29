// A text for a camera. Dark on light in every theme: many readers know no other.

import { useMemo } from 'react';
import { encode } from 'uqr';

const border = 4; // modules of quiet zone (ISO/IEC 18004)

/**
 * `label` names its content, for a person who cannot see it. The same value stands beside it as
 * text.
 */
export function Qr({ value, label }: { readonly value: string; readonly label: string }) {
  const { size, path } = useMemo(() => drawn(value), [value]);
  return (
    <svg className="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <rect className="qr-light" width={size} height={size} />
      <path className="qr-dark" d={path} />
    </svg>
  );
}

function drawn(value: string): { size: number; path: string } {
  const { data, size } = encode(value, { ecc: 'M', border });
  const path = data.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { size, path: path.join('') };
}
