// `parley levels`: at which prices makers say that they would quote a pair. Needs no login.

import { formatPrice } from '@parley/sdk/people.ts';
import type { Level } from '@parley/sdk/types.ts';
import { catalogueOf, type OwnAsset, shownAmount, typedAmount } from '@parley/trader/assets.ts';
import { answer } from '@parley/trader/io.ts';
import { inSession, marketOf } from '@parley/trader/session.ts';
import { ageOf, tableOf } from '@parley/trader/show.ts';
import { wholeNumber } from '../arguments.ts';
import type { Run } from '../command.ts';

/** The rows of each side. */
const defaultRows = 10;
const mostRows = 100;
const mostSettled = 1_000;
const sides = { sell: 'sell_base', buy: 'buy_base' } as const;
const note = 'Levels bind nobody: "parley ask" asks for quotes.';

export const levels: Run = (cli, given) =>
  inSession(cli, async (session) => {
    const { keyless } = await marketOf(session);
    const names = await catalogueOf(session, keyless);
    const [base = '', quote = ''] = given.args;
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const own = names.of(ids.baseAssetId);
    const other = names.of(ids.quoteAssetId);
    const amount = given.text('amount');
    const settled = given.text('settled');
    const limit = given.text('limit') ?? String(defaultRows);
    const query = {
      ...ids,
      limit: wholeNumber('--limit', limit, { least: 1, most: mostRows }),
      ...(amount === undefined ? {} : { baseAmount: typedAmount(amount, own).toString() }),
      ...(settled === undefined
        ? {}
        : { minSettled: wholeNumber('--settled', settled, { least: 0, most: mostSettled }) }),
    };
    const [sell, buy] = await Promise.all(
      Object.values(sides).map((direction) => keyless.levels({ direction, ...query })),
    );
    const found = { sell: sell?.levels ?? [], buy: buy?.levels ?? [] };
    const now = session.now();
    const rows = Object.entries(found).flatMap(([side, all]) =>
      all.map((each) => [side, ...wordsOf(each, own, other), ageOf(each.expiresAt, now)]),
    );
    const head = ['you', 'up to', `${other.name} each`, 'at least', 'maker', 'settled', 'ends'];
    answer(cli, found, `${tableOf(head, rows)}\n${note}`);
  });

function wordsOf(level: Level, base: OwnAsset, quote: OwnAsset): string[] {
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
