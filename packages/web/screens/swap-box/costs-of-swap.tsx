// All that a swap costs beside its price, before anything is signed: fees of both chains, the coins
// that they need, and for how long money is locked.

import type { Asset } from '@parley/sdk/types.ts';
import { usePair } from '../../market/pairs.ts';
import { useSends } from '../../market/sends.ts';
import { estimateText } from '../../parts/amount-text.ts';
import { Failed, Loading } from '../../parts/answer.tsx';
import { enough } from '../../parts/gas.ts';
import { chainName } from '../../parts/names.ts';
import { formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Coin, type CostLine, type Costs, costsOf } from './costs.ts';
import type { Draft, Understood } from './draft.ts';

type CostsOfSwapProps = {
  readonly draft: Draft;
  readonly give: Asset | undefined;
  readonly get: Asset | undefined;
  readonly found: Understood;
  readonly assets: readonly Asset[];
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
    <section className="panel swap-costs" aria-labelledby="swap-costs">
      <h2 id="swap-costs">{text('swap_box.costs')}</h2>
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
    </section>
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
