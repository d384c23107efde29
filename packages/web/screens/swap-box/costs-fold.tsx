// Fees, time and refund of a swap in one line, and each of them when it is opened.

import type { Asset } from '@parley/sdk/types.ts';
import { useFiat, useSends } from '../../market/answers.ts';
import { equivalentOf } from '../../market/fiat.ts';
import { enough } from '../../parts/gas.ts';
import { Icon } from '../../parts/icons.tsx';
import { Failed } from '../../parts/page.tsx';
import { chainName, estimateText } from '../../parts/words.ts';
import { formatAmount, formatDuration, formatMoney, shortDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Coin, type CostLine, type Costs, feesOf } from './costs.ts';
import { rounded } from './numbers.ts';
import type { Trade } from './use-trade.ts';

export function CostsFold({ trade }: { trade: Trade }) {
  const { give, get, costs, terms } = trade;
  const worth = useWorth(costs);
  if (terms.error !== null) {
    return (
      <div className="swap-costs">
        <Failed error={terms.error} again={terms.again} />
      </div>
    );
  }
  return (
    <details className="swap-costs">
      <summary>
        <span className={worth === null ? 'swap-fees' : undefined}>
          {text('swap_box.fees')}{' '}
          <strong>{costs === null ? '…' : (worth ?? coinsText(costs))}</strong>
        </span>
        <span>
          {text('swap_box.usually')}{' '}
          <strong>{costs?.usualSeconds ? shortDuration(costs.usualSeconds) : '…'}</strong>
        </span>
        <span>
          {text('swap_box.refund')}{' '}
          <strong>{costs === null ? '…' : shortDuration(costs.lockedSeconds)}</strong>
        </span>
        <Icon name="down" />
      </summary>
      {costs !== null && give !== undefined && get !== undefined && (
        <Lines costs={costs} give={give} get={get} />
      )}
    </details>
  );
}

/** The sum of fees in the currency of the operator's source; null: it does not know each coin. */
function useWorth(costs: Costs | null): string | null {
  const { data } = useFiat();
  const fees = costs === null ? [] : feesOf(costs);
  const worth = fees.map(({ coin, units }) => equivalentOf(data, units, coin));
  const [first] = worth;
  if (first === undefined || first === null || worth.includes(null)) return null;
  // A sum of hints, to be read and for nothing else.
  const sum = worth.reduce((before, each) => before + Number(each?.amount), 0);
  return text('fiat.about', { money: formatMoney(`${sum}`, first.currency) });
}

/** Each coin in two digits: the lines below have all of them. */
function coinsText(costs: Costs): string {
  const fees = feesOf(costs);
  if (fees.length === 0) return costs.unknown.length > 0 ? '?' : '0';
  const said = fees.map(({ coin, units }) => {
    const few = rounded(units, coin.decimals, 'up', 2);
    return `${formatAmount(few, coin.decimals)}\u00a0${coin.symbol}`;
  });
  return said.join(' + ');
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
        {[give, get].map(
          ({ id, address, symbol, chain }) =>
            address !== null && (
              <Line key={id} name={text('swap_box.contract', { symbol, chain: chainName(chain) })}>
                <span className="mono anywhere">{address}</span>
              </Line>
            ),
        )}
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
