// The recent price of the pair, for the typed amount; and how far the asking price is from that.

import type { Asset } from '@parley/sdk/types.ts';
import { priceOf, usePrice } from '../../market/pairs.ts';
import { advantageBps, isFar } from '../../market/prices.ts';
import { estimateText } from '../../parts/amount-text.ts';
import { Button } from '../../parts/button.tsx';
import { useNow } from '../../parts/now.ts';
import { formatDuration, formatPercent, fromNow } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Draft, estimateOf, type Understood, type Wanted, withAsk } from './draft.ts';

type RecentPriceProps = {
  readonly draft: Draft;
  readonly give: Asset | undefined;
  readonly get: Asset | undefined;
  readonly found: Understood;
  readonly onChange: (draft: Draft) => void;
};

export function RecentPrice({ draft, give, get, found, onChange }: RecentPriceProps) {
  const [base, quote] = draft.exact === 'give' ? [give, get] : [get, give];
  const isPair = base !== undefined && quote !== undefined && base.chain !== quote.chain;
  const ids = isPair ? { baseAssetId: base.id, quoteAssetId: quote.id } : null;
  const { data } = usePrice(ids);
  const now = useNow();
  if (data === undefined || !isPair) return null;
  const price = priceOf(data);
  if (price === null) return <p className="hint">{text('swap_box.recent.none')}</p>;
  const newest = data.agreements[0]?.agreedAt;
  const from = text('swap_box.recent.from', {
    count: data.agreements.length,
    window: formatDuration(data.windowSeconds),
    age: newest === undefined ? '' : fromNow(Date.parse(newest) / 1_000, now),
  });
  if (!found.ok) return <p className="hint">{from}</p>;
  const { wanted } = found;
  const expected = estimateOf(wanted, price);
  return (
    <div className="swap-recent">
      <p>
        {text('swap_box.recent', {
          quote: estimateText(expected, quote),
          base: estimateText(wanted.baseAmount, base),
        })}{' '}
        <Button kind="quiet" onPress={() => onChange(withAsk(draft, wanted, expected))}>
          {text('swap_box.recent.use')}
        </Button>
      </p>
      <p className="hint">{from}</p>
      <AskAgainst wanted={wanted} expected={expected} />
    </div>
  );
}

function AskAgainst({ wanted, expected }: { wanted: Wanted; expected: bigint }) {
  const { askAmount, body } = wanted;
  if (askAmount === null) return null;
  const bps = advantageBps(askAmount, expected, body.direction === 'sell_base');
  if (bps === null || !isFar(bps)) return null;
  const percent = formatPercent(bps);
  return (
    <p className="warn-ink">{text(`swap_box.ask_${bps > 0 ? 'better' : 'worse'}`, { percent })}</p>
  );
}
