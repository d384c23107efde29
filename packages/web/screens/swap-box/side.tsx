// One side of the swap: an amount, the asset, and a line below for what is to say of them.

import type { Asset } from '@parley/sdk/types.ts';
import {
  type CSSProperties,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Coin } from '../../parts/coin.tsx';
import { AmountInput } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.tsx';
import { chainName } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import type { Side } from './draft.ts';

const picker = () => import('./asset-picker.tsx');
const AssetPicker = lazy(async () => ({ default: (await picker()).AssetPicker }));

type SideOfSwapProps = {
  side: Side;
  assets: readonly Asset[];
  asset: Asset | undefined;
  other: Asset | undefined;
  /** As typed, or as it is expected. */
  amount: string;
  isExpected: boolean;
  onType: (typed: string) => void;
  onChoose: (asset: Asset) => void;
  /** At the end of its head: what the amount is. */
  what: ReactNode;
  fault: string | null;
  /** Below, where there is no fault. */
  children?: ReactNode;
};

export function SideOfSwap(props: SideOfSwapProps) {
  const { side, asset, amount, isExpected, onType, what, fault, children } = props;
  const place = useRef<HTMLDivElement>(null);
  useFade(place, isExpected ? amount : null);
  const id = `swap-${side}`;
  return (
    <div ref={place} className="swap-side">
      <div className="side-head">
        <label htmlFor={id}>{text(`swap_box.${side}`)}</label>
        <span className="hint">{what}</span>
      </div>
      <div className="side-line">
        <div
          className="swap-amount"
          style={{ '--chars': Math.max(amount.length, 4) } as CSSProperties}
        >
          <AmountInput
            id={id}
            placeholder="0"
            aria-describedby={`${id}-foot`}
            aria-invalid={fault !== null}
            value={amount}
            onType={onType}
            onFocus={({ target }) => {
              if (isExpected) target.select();
            }}
          />
        </div>
        <AssetButton {...props} asset={asset} />
      </div>
      <div id={`${id}-foot`} className="swap-foot hint">
        {fault === null ? (
          children
        ) : (
          <span className="bad-ink" role="alert">
            {fault}
          </span>
        )}
      </div>
    </div>
  );
}

/** A number that changes by itself does so visibly. */
function useFade(place: React.RefObject<HTMLElement | null>, shown: string | null): void {
  const former = useRef(shown);
  useEffect(() => {
    const changed = former.current !== shown && shown !== null;
    former.current = shown;
    if (!changed || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const fade = { opacity: [0.35, 1] };
    place.current?.querySelector('input')?.animate(fade, { duration: 180 });
  }, [place, shown]);
}

function AssetButton({ side, asset, other, assets, onChoose }: SideOfSwapProps) {
  const [isOpen, setOpen] = useState(false);
  const title = text(`swap_box.choose_${side}`);
  // Its code comes while the pointer is on its way.
  const prepare = () => void picker().catch(() => {});
  return (
    <>
      <button
        type="button"
        id={`swap-${side}-asset`}
        className="swap-asset"
        aria-haspopup="dialog"
        onPointerEnter={prepare}
        onFocus={prepare}
        onClick={() => setOpen(true)}
      >
        <Coin asset={asset} />
        <span>
          <span className="unseen">{`${text(`swap_box.${side}`)}: `}</span>
          {asset === undefined ? text('swap_box.asset') : asset.symbol}{' '}
          {asset !== undefined && (
            <small>{text('swap_box.on', { chain: chainName(asset.chain) })}</small>
          )}
        </span>
        <Icon name="down" />
      </button>
      {isOpen && (
        <Suspense>
          <AssetPicker
            title={title}
            side={side}
            assets={assets}
            chosen={asset}
            other={other}
            onClose={() => setOpen(false)}
            onChoose={(chosen) => {
              setOpen(false);
              onChoose(chosen);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
