// Another price for the same amount.

import { market } from '../../market/client.ts';
import { now } from '../../market/clock.ts';
import type { Standing } from '../../market/offers.ts';
import { getsQuote } from '../../market/prices.ts';
import { queries } from '../../market/queries.ts';
import { PriceForm } from '../../parts/price-form.tsx';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import type { DealProps } from './terms.ts';

export function Counter({ thread, party, quote, standing }: DealProps & { standing: Standing }) {
  if (standing.is === 'waits_for_them') {
    const until = localTime(Math.floor(standing.untilMs / 1_000), now());
    return <p className="hint">{text('deal.counter.bound', { until })}</p>;
  }
  const name = async (units: bigint) => {
    const moved = await market.propose(thread.id, units.toString());
    queries.setQueryData(['thread', thread.id], moved);
  };
  return (
    <PriceForm
      title={text('deal.counter')}
      label={text(getsQuote(thread.rfq, party) ? 'deal.counter.get' : 'deal.counter.give')}
      hint={text('deal.counter.hint')}
      go={text('deal.counter.action')}
      quote={quote}
      stands={thread.quoteAmount}
      send={name}
    />
  );
}
