// The four lines of a deal that a person has to read: what it gives, what it gets and where, until
// when it pays, and what comes back if the other side stops.

import { has } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { type ReactNode, useId } from 'react';
import { usePair } from '../../market/answers.ts';
import { config } from '../../market/config.ts';
import { landingOf } from '../../market/offers.ts';
import { Coin } from '../../parts/coin.tsx';
import { Fiat } from '../../parts/fiat.tsx';
import { Clock, useNow } from '../../parts/shown.tsx';
import { assetAmountText, chainName, estimateText } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import {
  type DealProps,
  foretoldTimes,
  type OwnTimes,
  type Terms,
  type TermsLeg,
} from './terms.ts';

type TermsProps = DealProps & { terms: Terms };

function usePairOf({ thread }: DealProps) {
  const { direction, baseAssetId, baseAmount, quoteAssetId } = thread.rfq;
  const { quoteAmount } = thread;
  return usePair({ direction, baseAssetId, baseAmount, quoteAssetId, quoteAmount }).data;
}

/** The market's word for the times, as long as the browser has not made its own. */
function useForetold(props: TermsProps): OwnTimes | null {
  const pair = usePairOf(props);
  const now = useNow();
  return pair === undefined ? null : foretoldTimes(props.terms, pair, now);
}

type LinesProps = TermsProps & {
  /** By chain; absent: it is not known yet. */
  addresses: Readonly<Record<string, string>>;
  /** null: the browser has not made them yet. */
  own: OwnTimes | null;
};

export function Lines(props: LinesProps) {
  const { terms, base, quote, addresses, own } = props;
  const id = useId();
  const foretold = useForetold(props);
  const times = own ?? foretold;
  const pair = usePairOf(props);
  const { gives, gets, role } = terms;
  const assetOf = ({ assetId }: TermsLeg) => (assetId === base.id ? base : quote);
  const get = assetOf(gets);
  const give = assetAmountText(gives.amount, assetOf(gives));
  const landing = landingOf(gets.amount, pair?.legs[gets.leg]);
  const isByHand = has(
    config.chains.find(({ chain }) => chain === gives.chain),
    'coins',
  );
  return (
    <section className="hero deal-lines" aria-labelledby={id}>
      <h2 id={id} className="unseen">
        {text('deal.lines')}
      </h2>
      <dl>
        <Line
          name={text('deal.you_give')}
          asset={assetOf(gives)}
          units={gives.amount}
          amount={give}
        >
          {isByHand ? (
            text('deal.give.by_hand', { chain: chainName(gives.chain) })
          ) : (
            <Place chain={gives.chain} way="deal.give.from" address={addresses[gives.chain]} />
          )}
        </Line>
        <Line
          name={text('deal.you_get')}
          asset={get}
          units={landing.units}
          amount={landing.fee > 0n ? `≈ ${estimateText(landing.units, get)}` : amountOf(gets, get)}
        >
          {landing.fee > 0n &&
            text('deal.get.fee', {
              amount: amountOf(gets, get),
              fee: estimateText(landing.fee, get),
            })}{' '}
          <Place chain={gets.chain} way="deal.get.at" address={addresses[gets.chain]} />
        </Line>
        <Line
          name={text('deal.pay_by')}
          amount={times === null ? '…' : <Clock at={times.fundBy} />}
        >
          {times !== null && times.theirsBy !== null && (
            <>
              {text('deal.pay_by.theirs')} <Clock at={times.theirsBy} />
              {'. '}
            </>
          )}
          {text(`deal.pay_by.${role}`)}
        </Line>
        <Line
          name={text('deal.back_from')}
          amount={times === null ? '…' : <Clock at={times.refundAt} />}
        >
          {text(`deal.back_from.${role}`, { give })}
        </Line>
      </dl>
    </section>
  );
}

const amountOf = ({ amount }: TermsLeg, asset: Asset) => assetAmountText(amount, asset);

type LineProps = {
  name: string;
  amount: ReactNode;
  asset?: Asset;
  /** The amount, for its worth in a currency. */
  units?: BaseUnits;
  children: ReactNode;
};

function Line({ name, amount, asset, units, children }: LineProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className="deal-amount">
          {asset !== undefined && <Coin asset={asset} size={24} withChain />}
          <span>{amount}</span>
          {units !== undefined && <Fiat units={units} asset={asset} />}
        </span>
        <span className="deal-why">{children}</span>
      </dd>
    </div>
  );
}

type PlaceProps = {
  chain: string;
  way: 'deal.give.from' | 'deal.get.at';
  address: string | undefined;
};

/** The address whole: a look-alike with the same ends is cheap to make. */
function Place({ chain, way, address = '' }: PlaceProps) {
  const on = { chain: chainName(chain) };
  if (address === '') return text('deal.on', on);
  return (
    <>
      {text(way, on)} <span className="mono anywhere">{address}</span>
    </>
  );
}
