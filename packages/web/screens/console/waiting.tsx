// The tasks that wait for the maker: negotiations with the other side's moves, and swaps by
// deadline.

import type { Asset, Swap, Thread } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { type Side, sidesOf } from '../../market/prices.ts';
import { Empty } from '../../parts/answer.tsx';
import { Clock } from '../../parts/clock.tsx';
import { assetName } from '../../parts/names.ts';
import { useNow } from '../../parts/now.ts';
import { WithdrawQuote } from '../../parts/withdraw-quote.tsx';
import { formatAmount } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { dueSwaps, type Negotiation, negotiationsOf } from './due.ts';

type Assets = readonly Asset[];

/** In lists: eight digits are enough to tell trades apart. */
const most = 8;
function sideWords({ assetId, amount }: Side, assets: Assets): string {
  const asset = assets.find(({ id }) => id === assetId);
  if (asset === undefined) return String(amount);
  return `${formatAmount(amount, asset.decimals, { most })} ${assetName(asset)}`;
}

export function Negotiations({ threads, assets }: { threads: readonly Thread[]; assets: Assets }) {
  const open = negotiationsOf(threads, useNow() * 1_000);
  if (open.length === 0) return <Empty>{text('console.threads.empty')}</Empty>;
  return (
    <ul className="waiting">
      {open.map((each) => (
        <NegotiationItem key={each.thread.id} {...each} assets={assets} />
      ))}
    </ul>
  );
}

function NegotiationItem({ thread, standing, assets }: Negotiation & { readonly assets: Assets }) {
  if (standing.is === 'agreed' || standing.is === 'closed') return null;
  const { gives, gets } = sidesOf(thread.rfq, BigInt(thread.quoteAmount), 'maker');
  const isUrgent = standing.is === 'waits_for_me';
  const at = { gives: sideWords(gives, assets), gets: sideWords(gets, assets) };
  return (
    <li className={isUrgent ? 'urgent' : undefined}>
      <p className="what">{text(`console.threads.${standing.is}`)}</p>
      <p>{text('console.threads.at', at)}</p>
      {'untilMs' in standing && (
        <p>
          {text('console.threads.until')} <Clock at={Math.floor(standing.untilMs / 1_000)} />
        </p>
      )}
      <Link
        to="/deals/$id"
        params={{ id: thread.id }}
        className={isUrgent ? 'button main' : undefined}
      >
        {text(isUrgent ? 'console.threads.accept' : 'console.threads.open')}
      </Link>
      <WithdrawQuote thread={thread} standing={standing} label={text('deal.withdraw.of', at)} />
    </li>
  );
}

type SwapsProps = {
  readonly swaps: readonly Swap[];
  readonly assets: Assets;
  readonly accountId: string;
};

export function Swaps({ swaps, assets, accountId }: SwapsProps) {
  const open = dueSwaps(swaps);
  if (open.length === 0) return <Empty>{text('console.swaps.empty')}</Empty>;
  return (
    <ul className="waiting">
      {open.map(({ swap, step, isMine }) => {
        const { a, b } = swap.legs;
        const side = (leg: Swap['legs']['a']) => ({
          assetId: leg.assetId,
          amount: BigInt(leg.amount),
        });
        const party = swap.makerId === accountId ? 'maker' : 'taker';
        const [own, other] = a.funder === party ? [a, b] : [b, a];
        const at = { gives: sideWords(side(own), assets), gets: sideWords(side(other), assets) };
        return (
          <li key={swap.id} className={isMine ? 'urgent' : undefined}>
            <p className="what">
              {text(isMine ? 'console.swaps.mine' : 'console.swaps.theirs')}
              {`: ${text(`console.swaps.${step.action}`)}`}
            </p>
            <p>{text('console.threads.at', at)}</p>
            <p>
              {step.before === null ? (
                text('console.swaps.no_limit')
              ) : (
                <>
                  {text('console.swaps.before')} <Clock at={step.before} />
                </>
              )}
            </p>
            <Link to="/swaps/$id" params={{ id: swap.id }}>
              {text('console.swaps.open')}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
