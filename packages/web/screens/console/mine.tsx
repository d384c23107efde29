// A maker's own open quotes, by whose move it is, and its swaps by their next deadline.

import type { Asset, Swap, Thread } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { sidesOf, type Side as TradeSide } from '../../market/prices.ts';
import { Empty } from '../../parts/page.tsx';
import { WithdrawQuote } from '../../parts/quoting.tsx';
import { Clock, useNow } from '../../parts/shown.tsx';
import { text } from '../../texts/texts.ts';
import { dueSwaps, type Negotiation, negotiationsOf } from './due.ts';
import { ownFirst } from './pnl.ts';
import { sideText } from './shown.ts';

type Assets = readonly Asset[];

function words({ assetId, amount }: TradeSide, assets: Assets): string {
  const asset = assets.find(({ id }) => id === assetId);
  return asset === undefined ? String(amount) : sideText({ asset, amount });
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
  const at = { gives: words(gives, assets), gets: words(gets, assets) };
  return (
    <li className={isUrgent ? 'urgent' : undefined}>
      <p className="what">{text(`console.threads.${standing.is}`)}</p>
      <p>{text('console.threads.at', at)}</p>
      {'untilMs' in standing && (
        <p className="hint">
          {text('console.threads.until')} <Clock at={Math.floor(standing.untilMs / 1_000)} />
        </p>
      )}
      <div className="actions">
        <Link
          to="/deals/$id"
          params={{ id: thread.id }}
          className={isUrgent ? 'button main' : undefined}
        >
          {text(isUrgent ? 'console.threads.accept' : 'console.threads.open')}
        </Link>
        <WithdrawQuote thread={thread} standing={standing} label={text('deal.withdraw.of', at)} />
      </div>
    </li>
  );
}

type SwapsProps = {
  swaps: readonly Swap[];
  assets: Assets;
  accountId: string;
};

export function Swaps({ swaps, assets, accountId }: SwapsProps) {
  const open = dueSwaps(swaps);
  if (open.length === 0) return <Empty>{text('console.swaps.empty')}</Empty>;
  const side = ({ assetId, amount }: Swap['legs']['a']) =>
    words({ assetId, amount: BigInt(amount) }, assets);
  return (
    <ul className="waiting">
      {open.map(({ swap, step, isMine }) => {
        const [own, other] = ownFirst(swap, accountId);
        return (
          <li key={swap.id} className={isMine ? 'urgent' : undefined}>
            <p className="what">
              {text(isMine ? 'console.swaps.mine' : 'console.swaps.theirs')}
              {`: ${text(`console.swaps.${step.action}`)}`}
            </p>
            <p>{text('console.threads.at', { gives: side(own), gets: side(other) })}</p>
            <p className="hint">
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
