// Prices for the typed amount: of recent swaps, with how far the asking price is from that, and the
// one at which a maker says it would quote. No promise: quotes are.

import type { Asset } from '@parley/sdk/types.ts';
import { priceOf, useLevels, usePair, usePrice, useSends } from '../../market/answers.ts';
import { advantageBps, indicated, isFar, priceIn, settledBy } from '../../market/prices.ts';
import { Button, Panel } from '../../parts/controls.tsx';
import { enough } from '../../parts/gas.ts';
import { Failed, Loading } from '../../parts/page.tsx';
import { useNow } from '../../parts/shown.tsx';
import { chainName, estimateText } from '../../parts/words.ts';
import { formatDuration, formatPercent, fromNow, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Coin, type CostLine, type Costs, costsOf } from './costs.ts';
import { type Draft, estimateOf, type Understood, type Wanted, withAsk } from './draft.ts';

type PriceNotesProps = {
  draft: Draft;
  give: Asset | undefined;
  get: Asset | undefined;
  found: Understood;
  onChange: (draft: Draft) => void;
};

export function PriceNotes(props: PriceNotesProps) {
  return (
    <>
      <Recent {...props} />
      <Level {...props} />
    </>
  );
}

function Recent({ draft, give, get, found, onChange }: PriceNotesProps) {
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
    age: newest === undefined ? '' : fromNow(secondsOf(newest), now),
  });
  if (!found.ok) return <p className="hint">{from}</p>;
  const { wanted } = found;
  const expected = estimateOf(wanted, price);
  const use = () => onChange(withAsk(draft, wanted, expected));
  return (
    <Estimate said="swap_box.recent" wanted={wanted} expected={expected} from={from} use={use}>
      <AskAgainst wanted={wanted} expected={expected} />
    </Estimate>
  );
}

function Level({ draft, found, onChange }: PriceNotesProps) {
  const now = useNow();
  const { data } = useLevels(found.ok ? queryOf(found) : null);
  const level = indicated(data?.levels ?? []);
  const price = level && priceIn(level);
  if (!found.ok || level === null || price === null) return null;
  const { wanted } = found;
  const expected = estimateOf(wanted, price);
  const count = settledBy(level);
  const age = fromNow(secondsOf(level.publishedAt), now);
  const from = text(`swap_box.level.${count > 0 ? 'known' : 'new'}`, { count, age });
  const use = () => onChange(withAsk(draft, wanted, expected));
  return (
    <Estimate said="swap_box.level" wanted={wanted} expected={expected} from={from} use={use} />
  );
}

function queryOf({ wanted }: Extract<Understood, { ok: true }>) {
  const { direction, baseAssetId, baseAmount, quoteAssetId, minSettled = 0 } = wanted.body;
  return { direction, baseAssetId, baseAmount, quoteAssetId, minSettled };
}

type EstimateProps = {
  said: 'swap_box.recent' | 'swap_box.level';
  wanted: Wanted;
  expected: bigint;
  /** Where it comes from. */
  from: string;
  /** Takes it as the asking price. */
  use: () => void;
  children?: React.ReactNode;
};

function Estimate({ said, wanted, expected, from, use, children }: EstimateProps) {
  const { base, quote, baseAmount } = wanted;
  const values = { quote: estimateText(expected, quote), base: estimateText(baseAmount, base) };
  return (
    <div className="swap-recent">
      <p>
        {text(said, values)}{' '}
        <Button kind="quiet" onPress={use}>
          {text('swap_box.recent.use')}
        </Button>
      </p>
      <p className="hint">{from}</p>
      {children}
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

type CostsOfSwapProps = {
  draft: Draft;
  give: Asset | undefined;
  get: Asset | undefined;
  found: Understood;
  assets: readonly Asset[];
};

export function CostsOfSwap({ draft, give, get, found, assets }: CostsOfSwapProps) {
  const isPair = give !== undefined && get !== undefined && give.chain !== get.chain;
  const [base, quote] = draft.exact === 'give' ? [give, get] : [get, give];
  const amounts = found.ok
    ? {
        baseAmount: found.wanted.body.baseAmount,
        ...(found.wanted.body.askAmount !== undefined && {
          quoteAmount: found.wanted.body.askAmount,
        }),
      }
    : {};
  const pair = usePair(
    isPair && base !== undefined && quote !== undefined
      ? {
          direction: draft.exact === 'give' ? 'sell_base' : 'buy_base',
          baseAssetId: base.id,
          quoteAssetId: quote.id,
          ...amounts,
        }
      : null,
  );
  const { data, error, refetch } = pair;
  return (
    <Panel title={text('swap_box.costs')} className="swap-costs">
      {!isPair && <p className="hint">{text('swap_box.costs.none')}</p>}
      {isPair && data === undefined && error === null && <Loading />}
      {isPair && error !== null && <Failed error={error} again={() => void refetch()} />}
      {isPair && data !== undefined && (
        <Lines
          costs={costsOf(
            data,
            assets.filter(({ address }) => address === null),
          )}
          give={give}
          get={get}
        />
      )}
    </Panel>
  );
}

function Lines({ costs, give, get }: { costs: Costs; give: Asset; get: Asset }) {
  const { lines, needs, unknown, usualSeconds, worstSeconds, lockedSeconds } = costs;
  const needed = new Set(needs.map(({ coin }) => coin.chain));
  const freeOf = [give, get].filter(({ chain }) => !needed.has(chain) && !unknown.includes(chain));
  const sends = useSends();
  const keyOf = ({ chain }: Coin) =>
    chain === get.chain && sends(chain).claims
      ? 'swap_box.costs.need_or_sent'
      : 'swap_box.costs.need';
  const locked = formatDuration(worstSeconds ?? lockedSeconds);
  return (
    <>
      <dl className="swap-lines">
        <Line name={text('swap_box.costs.market')}>{text('swap_box.costs.market.none')}</Line>
        {lines.map((line) => (
          <Line key={line.what} name={nameOf(line)}>
            {text('swap_box.costs.about', { amount: estimateText(line.units, line.coin) })}
            {line.fromAmount && <span className="hint">{text('swap_box.costs.from_amount')}</span>}
          </Line>
        ))}
        {usualSeconds !== null && (
          <Line name={text('swap_box.time.usual')}>{formatDuration(usualSeconds)}</Line>
        )}
        <Line name={text('swap_box.time.worst', { symbol: give.symbol })}>
          {worstSeconds === null ? text('swap_box.time.worst.least', { time: locked }) : locked}
        </Line>
      </dl>
      <p className="hint">{text('swap_box.time.worst.why')}</p>
      <ul className="hint">
        {needs.map(({ coin, units }) => (
          <li key={coin.chain}>
            {text(keyOf(coin), {
              amount: estimateText(enough(units, coin), coin),
              chain: chainName(coin.chain),
            })}
          </li>
        ))}
        {freeOf.map(({ chain }) => (
          <li key={chain}>{text('swap_box.costs.no_need', { chain: chainName(chain) })}</li>
        ))}
        {unknown.map((chain) => (
          <li key={chain}>{text('swap_box.costs.unknown', { chain: chainName(chain) })}</li>
        ))}
      </ul>
    </>
  );
}

function nameOf({ what, coin }: CostLine): string {
  return text(`swap_box.costs.${what}`, { chain: chainName(coin.chain) });
}

function Line({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
