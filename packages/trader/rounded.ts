// Amounts in few digits, for a plan that a person reads. Each is rounded against the reader: amounts
// given and costs upwards, amounts got downwards.

import { type OwnAsset, shownAmount } from './assets.ts';

export type Way = 'up' | 'down';

/** An amount of so many digits is read as it is. */
const readable = 8;
const kept = 6;

/** `most` significant digits of whole coins, and all digits before the decimal mark. */
function roundedUnits(units: bigint, decimals: number, way: Way, most: number): bigint {
  const digits = units.toString().length;
  const cut = Math.min(Math.max(0, digits - most), decimals);
  const scale = 10n ** BigInt(cut);
  const down = (units / scale) * scale;
  return way === 'up' && down < units ? down + scale : down;
}

const significant = (units: bigint) => units.toString().replace(/0+$/, '').length;

type Named = Pick<OwnAsset, 'decimals' | 'name'>;

/** `1.23457 ethereum`. Where it binds, `exactly` names the exact amount beside it. */
export function roundedAmount(
  units: bigint,
  own: Named,
  way: Way,
  { most = kept, exactly = true }: { readonly most?: number; readonly exactly?: boolean } = {},
): string {
  const exact = shownAmount(units, own);
  if (significant(units) <= (exactly ? readable : most)) return exact;
  const rounded = roundedUnits(units, own.decimals, way, most);
  const about = shownAmount(rounded, own);
  if (rounded === units || about === exact) return exact;
  return exactly ? `about ${about} (exactly ${exact})` : about;
}
