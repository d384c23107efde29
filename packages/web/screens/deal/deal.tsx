// A negotiation with one other side: exact terms, prices of both, and the way to the acceptance.

import type { Party } from '@parley/core/trade.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { priceOf, useAssets, usePrice } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { useThreadNews } from '../../market/live-book.ts';
import { getsQuote, isTakenBack, type Standing, standingOf } from '../../market/prices.ts';
import { useSession } from '../../market/session.ts';
import { market, queries } from '../../market/site.ts';
import { Notice } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { PairTitle } from '../../parts/pair-title.tsx';
import { PriceForm, WithdrawQuote } from '../../parts/quoting.tsx';
import { Countdown, useNow } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { assetAmountText, recordText } from '../../parts/words.ts';
import { formatPercent, localTime, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Acceptance } from './acceptance.tsx';
import { Lines } from './lines.tsx';
import {
  type DealProps,
  endOf,
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
/** While the market tells it by itself: of another tab of the same person it tells nothing. */
const heardMs = 5_000;

export function Deal() {
  const { id } = useParams({ from: '/deals/$id' });
  const session = useSession();
  const assets = useAssets();
  const isSignedIn = session.status === 'account';
  const moved = useCallback(() => {
    void queries.invalidateQueries({ queryKey: ['thread', id] });
  }, [id]);
  const isHeard = useThreadNews(isSignedIn, moved);
  const thread = useQuery({
    queryKey: ['thread', id],
    queryFn: ({ signal }) => market.thread(id, { signal }),
    enabled: isSignedIn,
    refetchInterval: ({ state: { data } }) => {
      // A party that withdrew its price may name another one.
      if (data?.status === 'closed' && !isTakenBack(data)) return false;
      if (isHeard) return heardMs;
      return (data?.acceptanceExpiresAt ?? null) === null ? pollMs : acceptedMs;
    },
  });
  const userId = isSignedIn ? session.account.id : '';
  const sides = titleSides(thread.data, assets.data, userId);
  const title =
    sides === null
      ? text('deal.one')
      : text('deal.title', { give: sides.gives.said, get: sides.gets.said });
  const heading = sides === null ? title : <PairTitle title={title} {...sides} />;
  return (
    <Screen title={title} heading={heading} narrow>
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

function titleSides(
  thread: Thread | undefined,
  assets: readonly Asset[] | undefined,
  userId: string,
) {
  const party = thread === undefined ? null : partyIn(thread, userId);
  if (thread === undefined || assets === undefined || party === null) return null;
  const { gives, gets } = termsOf(thread, party);
  const side = ({ assetId, amount }: TermsLeg) => {
    const asset = assets.find((each) => each.id === assetId);
    return { asset, said: assetAmountText(amount, asset) };
  };
  return { gives: side(gives), gets: side(gets) };
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
  const price = usePrice({ baseAssetId: base.id, quoteAssetId: quote.id });
  const reference = referenceOf(thread, party, priceOf(price.data));
  // To the second: an acceptance lapses between two answers.
  const standing = standingOf(thread, party, useNow() * 1_000);
  const [read, setRead] = useState<string | null>(null);
  const { is } = standing;
  const isOpen = is !== 'closed' && is !== 'agreed';
  const isToAccept = isOpen && is !== 'waits_for_them' && is !== 'price_over';
  const [named, setNamed] = useState<Thread | null>(null);
  const [bar, setBar] = useState<HTMLElement | null>(null);
  return (
    <>
      <p className="deal-facts">
        <Link to="/orders/$id" params={{ id: thread.rfqId }}>
          {text(party === 'taker' ? 'deal.back' : 'deal.back.maker')}
        </Link>
        <Against reference={reference} quote={quote} isKnown={price.data !== undefined} />
      </p>
      <State standing={standing} thread={thread} party={party} />
      {is === 'waits_for_them' && <Lines {...props} terms={terms} addresses={{}} own={null} />}
      {isToAccept && (
        <Acceptance
          {...props}
          terms={terms}
          reference={reference}
          standing={standing}
          read={read}
          onRead={setRead}
          named={named}
          bar={bar}
        />
      )}
      {isOpen && <Counter {...props} standing={standing} onNamed={setNamed} />}
      <Moves thread={thread} party={party} quote={quote} />
      <div className="sticky-action deal-bar" ref={setBar} />
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
    return isKnown ? <span className="soft">{text('deal.reference.none')}</span> : null;
  }
  const { bps, from, expected } = reference;
  const how = bps === 0 ? 'even' : bps > 0 ? 'better' : 'worse';
  const values = { percent: formatPercent(bps), amount: assetAmountText(expected, quote) };
  // Red is for a check that failed.
  const looks = bps < 0 ? 'warn-ink' : 'soft';
  return <span className={looks}>{text(`deal.${from}.${how}`, values)}</span>;
}

type StateProps = { standing: Standing; thread: Thread; party: Party };

/** The party whose move it is, where it is not simply this person. */
function State({ standing, thread, party }: StateProps) {
  switch (standing.is) {
    case 'waits_for_them': {
      const at = Math.floor(standing.untilMs / 1_000);
      return (
        <section className="hero deal-state" role="status">
          <p className="eyebrow">
            <span className="live-dot" aria-hidden="true" /> {text('deal.waiting.left')}{' '}
            <Countdown at={at} />
          </p>
          <h2>{text('deal.waiting')}</h2>
          <p>{text('deal.waiting.why', { until: localTime(at, now()) })}</p>
          <p className="hint">{text('deal.waiting.binds')}</p>
        </section>
      );
    }
    case 'waits_for_me': {
      const at = Math.floor(standing.untilMs / 1_000);
      return (
        <Notice kind="good" title={text('deal.state.waits_for_me')}>
          {text('deal.state.waits_for_me.why')} <Countdown at={at} />
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
      return standing.holdsUntilMs === null ? null : (
        <p className="chip">
          <Holds until={standing.holdsUntilMs} />
        </p>
      );
    case 'price_over':
      return (
        <section className="hero deal-state" role="status">
          <h2>{text('deal.state.price_over')}</h2>
          <p>{text('deal.state.price_over.why')}</p>
          <ToOrder thread={thread} party={party} />
        </section>
      );
    case 'closed':
      return <Closed thread={thread} party={party} />;
    case 'agreed':
      return <Notice kind="info" title={text('deal.state.agreed')} />;
  }
}

/** The end of a negotiation loses no coins; it says what one can do. */
function Closed({ thread, party }: Omit<StateProps, 'standing'>) {
  const end = endOf(thread, now() * 1_000);
  const isTaker = party === 'taker';
  const way =
    end === 'taken_back' || end === 'closed' ? (
      <ToOrder thread={thread} party={party} />
    ) : (
      <Link to={isTaker ? '/' : '/console'} className="button main">
        {text(isTaker ? 'deal.end.again' : 'deal.end.to_console')}
      </Link>
    );
  return (
    <section className="hero deal-state" role="status">
      <h2>{text(`deal.end.${end}`)}</h2>
      <p>{text(end === 'taken_back' ? 'deal.end.taken_back.why' : 'deal.end.safe')}</p>
      {way}
    </section>
  );
}

function ToOrder({ thread, party }: Omit<StateProps, 'standing'>) {
  return (
    <Link to="/orders/$id" params={{ id: thread.rfqId }} className="button main">
      {text(party === 'taker' ? 'deal.end.to_quotes' : 'deal.back.maker')}
    </Link>
  );
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
  const other = party === 'taker' ? thread.makerStanding : thread.rfq.creatorStanding;
  return (
    <Fold title={text('deal.moves')}>
      <p className="soft">
        {text(party === 'taker' ? 'deal.maker' : 'deal.taker')}: {recordText(other)}
      </p>
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
    </Fold>
  );
}

type CounterProps = DealProps & { standing: Standing; onNamed: (named: Thread) => void };

function Counter({ thread, party, quote, standing, onNamed }: CounterProps) {
  if (standing.is === 'waits_for_them') return null;
  const name = async (units: bigint) => {
    const moved = await market.propose(thread.id, units.toString());
    onNamed({ ...thread, quoteAmount: units.toString() });
    queries.setQueryData(['thread', thread.id], moved);
  };
  return (
    <Fold title={text('deal.counter')}>
      <PriceForm
        inDialog
        title={text('deal.counter')}
        label={text(getsQuote(thread.rfq, party) ? 'deal.counter.get' : 'deal.counter.give')}
        hint={text('deal.counter.hint')}
        go={text('deal.counter.action')}
        quote={quote}
        stands={thread.quoteAmount}
        send={name}
      />
      {party === 'maker' && <WithdrawQuote thread={thread} standing={standing} />}
    </Fold>
  );
}
