// `parley levels`: at which prices makers say that they would quote a pair. Needs no login.

import { formatPrice } from '@parley/sdk/people.ts';
import type { Level } from '@parley/sdk/types.ts';
import { catalogueOf, type OwnAsset, shownAmount, typedAmount } from '@parley/trader/assets.ts';
import { answer, type Cli } from '@parley/trader/io.ts';
import { inSession, marketOf } from '@parley/trader/session.ts';
import { ageOf, tableOf } from '@parley/trader/show.ts';

const sides = { sell: 'sell_base', buy: 'buy_base' } as const;
const note = 'Levels bind nobody: "parley ask" asks for quotes.';

type Wanted = { readonly amount?: string; readonly settled?: number; readonly limit: number };

export const levels = (cli: Cli, base: string, quote: string, { amount, settled, limit }: Wanted) =>
  inSession(cli, async (session) => {
    const { keyless } = await marketOf(session);
    const names = await catalogueOf(session, keyless);
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const own = names.of(ids.baseAssetId);
    const other = names.of(ids.quoteAssetId);
    const query = {
      ...ids,
      limit,
      ...(amount === undefined ? {} : { baseAmount: typedAmount(amount, own).toString() }),
      ...(settled === undefined ? {} : { minSettled: settled }),
    };
    const [sell, buy] = await Promise.all(
      Object.values(sides).map((direction) => keyless.levels({ direction, ...query })),
    );
    const found = { sell: sell?.levels ?? [], buy: buy?.levels ?? [] };
    const now = session.now();
    const rows = Object.entries(found).flatMap(([side, all]) =>
      all.map((each) => [side, ...levelWords(each, own, other), ageOf(each.expiresAt, now)]),
    );
    const head = ['you', 'up to', `${other.name} each`, 'at least', 'maker', 'settled', 'ends'];
    answer(cli, found, `${tableOf(head, rows)}\n${note}`);
  });

export function levelWords(level: Level, base: OwnAsset, quote: OwnAsset): string[] {
  const { baseAmount, quoteAmount, leastBaseAmount, makerId, makerStanding } = level;
  const price = formatPrice(
    { units: BigInt(quoteAmount), decimals: quote.decimals },
    { units: BigInt(baseAmount), decimals: base.decimals },
    { locale: 'en' },
  );
  return [
    shownAmount(baseAmount, base),
    price,
    leastBaseAmount === null ? '' : shownAmount(leastBaseAmount, base),
    makerId,
    String(makerStanding?.settled ?? 0),
  ];
}
