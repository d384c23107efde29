// The price that a maker says it would quote for the typed amount. No promise: quotes are.

import { useLevels } from '../../market/pairs.ts';
import { indicated, priceIn, settledBy } from '../../market/prices.ts';
import { estimateText } from '../../parts/amount-text.ts';
import { Button } from '../../parts/button.tsx';
import { useNow } from '../../parts/now.ts';
import { fromNow } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Draft, estimateOf, type Understood, withAsk } from './draft.ts';

type LevelPriceProps = {
  readonly draft: Draft;
  readonly found: Understood;
  readonly onChange: (draft: Draft) => void;
};

export function LevelPrice({ draft, found, onChange }: LevelPriceProps) {
  const now = useNow();
  const { data } = useLevels(found.ok ? queryOf(found) : null);
  const level = indicated(data?.levels ?? []);
  const price = level && priceIn(level);
  if (!found.ok || level === null || price === null) return null;
  const { wanted } = found;
  const expected = estimateOf(wanted, price);
  const settled = settledBy(level);
  const age = fromNow(Date.parse(level.publishedAt) / 1_000, now);
  return (
    <div className="swap-recent">
      <p>
        {text('swap_box.level', {
          quote: estimateText(expected, wanted.quote),
          base: estimateText(wanted.baseAmount, wanted.base),
        })}{' '}
        <Button kind="quiet" onPress={() => onChange(withAsk(draft, wanted, expected))}>
          {text('swap_box.recent.use')}
        </Button>
      </p>
      <p className="hint">
        {settled > 0
          ? text('swap_box.level.known', { count: settled, age })
          : text('swap_box.level.new', { age })}
      </p>
    </div>
  );
}

function queryOf({ wanted }: Extract<Understood, { ok: true }>) {
  const { direction, baseAssetId, baseAmount, quoteAssetId, minSettled = 0 } = wanted.body;
  return { direction, baseAssetId, baseAmount, quoteAssetId, minSettled };
}
