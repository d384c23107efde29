// The first screen: what one gives and gets, with a live price, and the one step to quotes. All of it
// works signed out.

import { has } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useAssets, usePairs } from '../../market/answers.ts';
import { config } from '../../market/config.ts';
import { isLinkTaken, isOwnLink, takeLink } from '../../parts/box-link.ts';
import { Notice } from '../../parts/controls.tsx';
import { Fiat } from '../../parts/fiat.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Answer, Loading } from '../../parts/page.tsx';
import { estimateText, shortAddress } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import { Asking } from './asking.tsx';
import { CostsFold } from './costs-fold.tsx';
import {
  type Draft,
  flipped,
  keepDraft,
  keptDraft,
  linkedDraft,
  type Side,
  withAmount,
  withAsset,
  withPair,
} from './draft.ts';
import { shortAmount } from './numbers.ts';
import { Options } from './options.tsx';
import { PairCard } from './pair-card.tsx';
import { PriceLine } from './price-line.tsx';
import { SideOfSwap } from './side.tsx';
import { type Trade, useTrade } from './use-trade.ts';
import './swap-box.css';

export function SwapBox() {
  const assets = useAssets();
  const { hash } = useLocation();
  const title = text('swap_box.title');
  useEffect(() => {
    document.title = `${title} · ${config.productName}`;
  }, [title]);
  // A first pair is one that has makers: it is not chosen before they are known.
  const pairs = usePairs();
  const isWaiting = pairs.data === undefined && pairs.error === null;
  if (assets.error === null && (assets.data === undefined || isWaiting)) return <Waiting />;
  return (
    <Answer of={assets}>
      {(listed) => <Box key={hash} hash={hash} assets={listed} traded={pairs.data?.pairs ?? []} />}
    </Answer>
  );
}

/** Both cards have their size from the beginning. */
function Waiting() {
  return (
    <section className="swap-screen">
      <div className="panel swap-box swap-waiting">
        <h1 tabIndex={-1}>{text('swap_box.title')}</h1>
        <Loading />
      </div>
      <div className="panel swap-pair" />
    </section>
  );
}

type BoxProps = {
  hash: string;
  assets: readonly Asset[];
  traded: readonly { readonly baseAssetId: string; readonly quoteAssetId: string }[];
};

function Box({ hash, assets, traded }: BoxProps) {
  const [linked] = useState(() => (isLinkTaken(hash) ? null : linkedDraft(hash, assets)));
  const [draft, setDraft] = useState(() => linked ?? withPair(keptDraft(), assets, traded));
  useEffect(() => keepDraft(draft), [draft]);
  useEffect(() => takeLink(hash), [hash]);
  const trade = useTrade(draft, assets);
  const [isPressed, setPressed] = useState(false);
  const { found } = trade;
  const at = found.ok ? undefined : found.at;
  const pointOut = () => {
    // The fold with the field opens first.
    flushSync(() => setPressed(true));
    placeOf(at, draft.exact)?.focus();
  };
  const sideOf = (side: Side) => (
    <OneSide
      side={side}
      draft={draft}
      trade={trade}
      assets={assets}
      isPressed={isPressed}
      onChange={setDraft}
    />
  );
  return (
    <section className="swap-screen">
      <div className="panel swap-box">
        <h1 tabIndex={-1}>{text('swap_box.title')}</h1>
        {linked !== null && !isOwnLink(hash) && (
          <Notice kind="info">{text('swap_box.linked')}</Notice>
        )}
        {sideOf('give')}
        <button
          type="button"
          className="swap-flip"
          aria-label={text('swap_box.flip')}
          onClick={() => setDraft(flipped(draft))}
        >
          <Icon name="flip" />
        </button>
        {sideOf('get')}
        <Asking trade={trade} onFault={pointOut} />
        <CostsFold trade={trade} />
        <p className="swap-trust hint">
          <Icon name="shield" />
          {text('swap_box.trust')}
        </p>
        <Options
          draft={draft}
          trade={trade}
          onChange={setDraft}
          isWrong={isPressed && (at === 'ask' || at === 'address')}
        />
      </div>
      <PairCard trade={trade} />
    </section>
  );
}

function placeOf(at: string | undefined, exact: Side): HTMLElement | null {
  switch (at) {
    case 'amount':
      return document.querySelector(`#swap-${exact}`);
    case 'give_asset':
      return document.querySelector('#swap-give-asset');
    case 'get_asset':
      return document.querySelector('#swap-get-asset');
    default:
      return document.querySelector('.swap-options [aria-invalid="true"]');
  }
}

type OneSideProps = {
  side: Side;
  draft: Draft;
  trade: Trade;
  assets: readonly Asset[];
  isPressed: boolean;
  onChange: (draft: Draft) => void;
};

function OneSide({ side, draft, trade, assets, isPressed, onChange }: OneSideProps) {
  const { give, get } = trade;
  const [asset, other] = side === 'give' ? [give, get] : [get, give];
  const isExact = draft.exact === side;
  const units = isExact ? trade.amount : trade.expected;
  return (
    <SideOfSwap
      side={side}
      assets={assets}
      asset={asset}
      other={other}
      amount={isExact ? draft.amount : expectedText(trade)}
      isExpected={!isExact}
      onType={(typed) => onChange(withAmount(draft, side, typed))}
      onChoose={(chosen) => onChange(withAsset(draft, side, chosen, other))}
      what={side === 'give' ? <PaidFrom asset={give} /> : <AfterFees trade={trade} />}
      fault={faultAt(side, draft, trade, isPressed)}
    >
      {side === 'give' && units !== null && (
        <span className="swap-worth">
          <Fiat units={units} asset={asset} />
        </span>
      )}
      {isExact && <Sizes trade={trade} />}
      {side === 'get' && <PriceLine trade={trade} />}
      {asset !== undefined && !asset.verified && <Unverified asset={asset} />}
    </SideOfSwap>
  );
}

/** A field that nobody has touched is not wrong until the button is pressed. */
function faultAt(side: Side, draft: Draft, { found, give, get }: Trade, isPressed: boolean) {
  if (found.ok) return null;
  const { at, why } = found;
  const asset = side === 'give' ? give : get;
  if (at === `${side}_asset`) return isPressed || asset !== undefined ? why : null;
  if (at !== 'amount' || draft.exact !== side) return null;
  return isPressed || draft.amount.trim() !== '' ? why : null;
}

function expectedText({ pair, expected }: Trade): string {
  if (pair === null || expected === null) return '';
  return shortAmount(expected, pair.quote, pair.isGot ? 'down' : 'up');
}

function PaidFrom({ asset }: { asset: Asset | undefined }) {
  if (asset === undefined) return null;
  const family = config.chains.find(({ chain }) => chain === asset.chain)?.family;
  return <>{text(has(family, 'coins') ? 'swap_box.from_any' : 'swap_box.from_own')}</>;
}

function AfterFees({ trade: { pair, costs, get, fee } }: { trade: Trade }) {
  if (pair === null || costs === null || get === undefined) return null;
  if (costs.unknown.includes(get.chain)) return null;
  if (fee === 0n) return <>{text('swap_box.in_full')}</>;
  if (pair.isGot) return <>{text('swap_box.after_fees')}</>;
  return <>{text('swap_box.before_fee', { amount: estimateText(fee, get) })}</>;
}

/** Makers may quote other sizes than they name: a word, and no refusal. */
function Sizes({ trade: { pair, amount, sizes } }: { trade: Trade }) {
  if (pair === null || sizes === null) return null;
  const least = shortAmount(sizes.least, pair.base, 'up');
  const most = `${shortAmount(sizes.most, pair.base, 'down')}\u00a0${pair.base.symbol}`;
  if (amount !== null && amount > sizes.most) {
    return <span className="warn-ink">{text('swap_box.size_most', { amount: most })}</span>;
  }
  if (amount !== null && amount < sizes.least) {
    const shown = estimateText(sizes.least, pair.base);
    return <span className="warn-ink">{text('swap_box.size_least', { amount: shown })}</span>;
  }
  return <span>{text('swap_box.sizes', { least, most })}</span>;
}

/** A symbol says nothing by itself: the contract does. */
function Unverified({ asset: { symbol, address } }: { asset: Asset }) {
  return (
    <span className="warn-ink" title={address ?? undefined}>
      {text('swap_box.unverified', { symbol, contract: shortAddress(address ?? '') })}
    </span>
  );
}
