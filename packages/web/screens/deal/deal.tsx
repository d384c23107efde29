// A negotiation with one other side: exact terms, prices of both, and the way to the acceptance.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Party } from '@parley/core/trade.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { priceOf, useAssets, usePrice } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { getsQuote, isTakenBack, type Standing, standingOf } from '../../market/prices.ts';
import { useSession } from '../../market/session.ts';
import { market, queries } from '../../market/site.ts';
import { Notice, Panel } from '../../parts/controls.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { PriceForm, WithdrawQuote } from '../../parts/quoting.tsx';
import { AssetAmount, Countdown, useNow } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { assetAmountText, chainName, recordText } from '../../parts/words.ts';
import { formatPercent, localTime, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Acceptance } from './acceptance.tsx';
import {
  type DealProps,
  partyIn,
  type Reference,
  referenceOf,
  type TermsLeg,
  termsOf,
} from './terms.ts';
import './deal.css';

/** How often it is asked whether the other side has moved; once one has accepted, the other. */
const pollMs = 2_000;
const acceptedMs = 1_000;

export function Deal() {
  const { id } = useParams({ from: '/deals/$id' });
  const session = useSession();
  const assets = useAssets();
  const thread = useQuery({
    queryKey: ['thread', id],
    queryFn: ({ signal }) => market.thread(id, { signal }),
    enabled: session.status === 'account',
    refetchInterval: ({ state: { data } }) => {
      // A party that withdrew its price may name another one.
      if (data?.status === 'closed' && !isTakenBack(data)) return false;
      return (data?.acceptanceExpiresAt ?? null) === null ? pollMs : acceptedMs;
    },
  });
  const userId = session.status === 'account' ? session.account.id : '';
  return (
    <Screen title={titleOf(thread.data, assets.data, userId)} narrow>
      <SignedIn>
        {() => (
          <Answer of={thread}>
            {(found) => (
              <Answer of={assets}>
                {(listed) => <Known key={id} thread={found} assets={listed} userId={userId} />}
              </Answer>
            )}
          </Answer>
        )}
      </SignedIn>
    </Screen>
  );
}

function titleOf(
  thread: Thread | undefined,
  assets: readonly Asset[] | undefined,
  userId: string,
): string {
  const party = thread === undefined ? null : partyIn(thread, userId);
  if (thread === undefined || assets === undefined || party === null) return text('deal.one');
  const { gives, gets } = termsOf(thread, party);
  const said = ({ assetId, amount }: TermsLeg) =>
    assetAmountText(
      amount,
      assets.find((each) => each.id === assetId),
    );
  return text('deal.title', { give: said(gives), get: said(gets) });
}

type KnownProps = {
  thread: Thread;
  assets: readonly Asset[];
  userId: string;
};

function Known({ thread, assets, userId }: KnownProps) {
  const party = partyIn(thread, userId);
  const base = assets.find((each) => each.id === thread.rfq.baseAssetId);
  const quote = assets.find((each) => each.id === thread.rfq.quoteAssetId);
  if (party === null) return <Notice kind="bad">{text('deal.no_party')}</Notice>;
  if (base === undefined || quote === undefined) {
    return <Notice kind="bad">{text('deal.unlisted')}</Notice>;
  }
  if (thread.swapId !== null) {
    return <ToSwap swapId={thread.swapId} />;
  }
  return <Shown thread={thread} party={party} base={base} quote={quote} />;
}

/** Once, however often it is shown until the next screen is there. */
function ToSwap({ swapId }: { swapId: string }) {
  const navigate = useNavigate();
  useEffect(() => {
    void navigate({ to: '/swaps/$id', params: { id: swapId }, replace: true });
  }, [navigate, swapId]);
  return <Notice kind="good" title={text('deal.state.agreed')} />;
}

function Shown(props: DealProps) {
  const { thread, party, base, quote } = props;
  const terms = termsOf(thread, party);
  const assetOf = ({ assetId }: TermsLeg) => (assetId === base.id ? base : quote);
  const give = assetOf(terms.gives);
  const get = assetOf(terms.gets);
  const price = usePrice({ baseAssetId: base.id, quoteAssetId: quote.id });
  const reference = referenceOf(thread, party, priceOf(price.data));
  // To the second: an acceptance lapses between two answers.
  const standing = standingOf(thread, party, useNow() * 1_000);
  return (
    <>
      <p>
        <Link to="/orders/$id" params={{ id: thread.rfqId }}>
          {text(party === 'taker' ? 'deal.back' : 'deal.back.maker')}
        </Link>
      </p>
      <div className="deal-legs">
        <Leg title={text('deal.you_give')} leg={terms.gives} asset={give} locked="deal.locked" />
        <Leg title={text('deal.you_get')} leg={terms.gets} asset={get} locked="deal.their_locked" />
      </div>
      <p>{text(`deal.role.${terms.role}`)}</p>
      <Against reference={reference} quote={quote} isKnown={price.data !== undefined} />
      <OtherSide thread={thread} party={party} />
      <State standing={standing} isWithdrawn={isTakenBack(thread)} />
      {party === 'maker' && <WithdrawQuote thread={thread} standing={standing} />}
      {standing.is !== 'closed' && standing.is !== 'agreed' && (
        <>
          {standing.is !== 'waits_for_them' && standing.is !== 'price_over' && (
            <Acceptance {...props} terms={terms} reference={reference} />
          )}
          <Counter {...props} standing={standing} />
        </>
      )}
      <Moves thread={thread} party={party} quote={quote} />
    </>
  );
}

type LegProps = {
  title: string;
  leg: TermsLeg;
  asset: Asset;
  locked: 'deal.locked' | 'deal.their_locked';
};

function Leg({ title, leg, asset, locked }: LegProps) {
  return (
    <Panel title={title}>
      <p className="deal-amount">
        <AssetAmount units={leg.amount} asset={asset} />
      </p>
      <p>{text('deal.on', { chain: chainName(leg.chain) })}</p>
      <dl>
        <dt>{text('deal.contract')}</dt>
        <dd>
          {asset.address === null ? (
            text('deal.native')
          ) : (
            <span className="mono deal-contract">{asset.address}</span>
          )}
          {!asset.verified && <p className="warn-ink">{text('deal.unverified')}</p>}
        </dd>
        <dt>{text(locked)}</dt>
        <dd>
          <Until seconds={leg.timelockSeconds} />
        </dd>
      </dl>
    </Panel>
  );
}

/** A time that moves on with the clock: it counts from the agreement, which is not yet. */
function Until({ seconds }: { seconds: number }) {
  const at: UnixSeconds = useNow() + seconds;
  return (
    <>
      {localTime(at, now())} <span className="soft">{text('deal.if_now')}</span>
    </>
  );
}

type AgainstProps = {
  reference: Reference | null;
  quote: Asset;
  isKnown: boolean;
};

function Against({ reference, quote, isKnown }: AgainstProps) {
  if (reference === null) {
    return isKnown ? <p className="soft">{text('deal.reference.none')}</p> : null;
  }
  const { bps, from, expected, isFar } = reference;
  const how = bps === 0 ? 'even' : bps > 0 ? 'better' : 'worse';
  const values = { percent: formatPercent(bps), amount: assetAmountText(expected, quote) };
  const looks = bps < 0 && isFar ? 'bad-ink' : bps < 0 ? 'warn-ink' : undefined;
  return <p className={looks}>{text(`deal.${from}.${how}`, values)}</p>;
}

function OtherSide({ thread, party }: { thread: Thread; party: Party }) {
  const other = party === 'taker' ? thread.makerStanding : thread.rfq.creatorStanding;
  return (
    <p className="soft">
      {text(party === 'taker' ? 'deal.maker' : 'deal.taker')}: {recordText(other)}
    </p>
  );
}

function State({ standing, isWithdrawn }: { standing: Standing; isWithdrawn: boolean }) {
  switch (standing.is) {
    case 'waits_for_them':
    case 'waits_for_me': {
      const at = Math.floor(standing.untilMs / 1_000);
      return (
        <Notice
          kind="info"
          title={text(`deal.state.${standing.is}`, { until: localTime(at, now()) })}
        >
          {text(`deal.state.${standing.is}.why`)}
        </Notice>
      );
    }
    case 'my_price':
      return (
        <Notice kind="info" title={text('deal.state.my_price')}>
          {text('deal.state.my_price.accept')} <Holds until={standing.holdsUntilMs} />
        </Notice>
      );
    case 'their_price':
      return (
        <Notice kind="info" title={text('deal.state.their_price')}>
          <Holds until={standing.holdsUntilMs} />
        </Notice>
      );
    case 'price_over':
      return (
        <Notice kind="warn" title={text('deal.state.price_over')}>
          {text('deal.state.price_over.why')}
        </Notice>
      );
    case 'closed':
      return (
        <Notice
          kind="info"
          title={text(isWithdrawn ? 'deal.state.withdrawn' : 'deal.state.closed')}
        />
      );
    case 'agreed':
      return <Notice kind="info" title={text(`deal.state.${standing.is}`)} />;
  }
}

/** How long a price still holds, counted down; null where it has no end of its own. */
function Holds({ until }: { until: number | null }) {
  if (until === null) return null;
  return (
    <>
      {text('deal.holds')} <Countdown at={Math.floor(until / 1_000)} />
    </>
  );
}

function Moves({ thread, party, quote }: Omit<DealProps, 'base'>) {
  return (
    <section aria-labelledby="moves">
      <h2 id="moves">{text('deal.moves')}</h2>
      <ol className="deal-moves" reversed>
        {thread.messages.toReversed().map(({ by, quoteAmount, at }) => (
          <li key={at}>
            {text(by === party ? 'deal.move.you' : 'deal.move.them', {
              amount: assetAmountText(BigInt(quoteAmount), quote),
            })}{' '}
            <time dateTime={at} className="soft">
              {localTime(secondsOf(at), now())}
            </time>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Counter({ thread, party, quote, standing }: DealProps & { standing: Standing }) {
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
