// The dialog in which an asset is chosen. side.tsx loads it when somebody is about to open it.

import type { Asset } from '@parley/sdk/types.ts';
import { type KeyboardEvent, useState } from 'react';
import { useMarketStatus } from '../../market/answers.ts';
import { Coin } from '../../parts/coin.tsx';
import { Dialog, TextField } from '../../parts/controls.tsx';
import { assetName, chainName, shortAddress } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import { closedNow, foundBy, mostShown, popular, type Sides, turnBy } from './picking.ts';

export type AssetPickerProps = Sides & {
  title: string;
  assets: readonly Asset[];
  onChoose: (asset: Asset) => void;
  onClose: () => void;
};

export function AssetPicker(props: AssetPickerProps) {
  return (
    <Dialog title={props.title} open onClose={props.onClose} no={text('swap_box.pick.close')}>
      <Choice {...props} />
    </Dialog>
  );
}

function Choice({ assets, onChoose, ...sides }: AssetPickerProps) {
  const [search, setSearch] = useState('');
  const status = useMarketStatus();
  const isHalted = (chain: string) =>
    status.data?.chains.some((each) => each.chain === chain && each.haltedSince !== null) ?? false;
  const closedBy = (asset: Asset) => closedNow(asset, isHalted);
  const found = foundBy(assets, search, closedBy);
  const first = found.find((each) => closedBy(each) === null);
  return (
    <form
      className="asset-picker"
      onKeyDown={moveByArrows}
      onSubmit={(event) => {
        event.preventDefault();
        if (first !== undefined) onChoose(first);
      }}
    >
      <TextField
        label={text('asset.search')}
        type="search"
        value={search}
        onChange={setSearch}
        autoComplete="off"
        maxLength={100}
      />
      <div className="asset-chips">
        {popular(assets).map((each) => (
          <button
            key={each.id}
            type="button"
            className="chip"
            aria-label={assetName(each)}
            onClick={() => onChoose(each)}
          >
            <Coin asset={each} size={20} withChain />
            {each.symbol}
          </button>
        ))}
      </div>
      <ul className="asset-list">
        {found.map((each) => (
          <li key={each.id}>
            <Row
              asset={each}
              closed={closedBy(each)}
              turn={turnBy(each, sides)}
              isChosen={each.id === sides.chosen?.id}
              onChoose={onChoose}
            />
          </li>
        ))}
        {found.length === 0 && <li className="hint">{text('asset.none')}</li>}
        {found.length === mostShown && <li className="hint">{text('swap_box.pick.more')}</li>}
      </ul>
    </form>
  );
}

type RowProps = {
  asset: Asset;
  closed: string | null;
  turn: string | null;
  isChosen: boolean;
  onChoose: (asset: Asset) => void;
};

function Row({ asset, closed, turn, isChosen, onChoose }: RowProps) {
  const { symbol, chain, address, verified } = asset;
  return (
    // Not `disabled`: nobody would reach the reason by keyboard.
    <button
      type="button"
      className="asset-row"
      aria-disabled={closed !== null}
      aria-current={isChosen}
      onClick={() => {
        if (closed === null) onChoose(asset);
      }}
    >
      <Coin asset={asset} size={36} withChain />
      <span className="asset-row-name">
        <strong>{symbol}</strong>{' '}
        <span className="hint">
          {text('swap_box.on', {
            chain: chainName(chain),
          })}
        </span>
        {(closed ?? turn) !== null && <span className="hint">{closed ?? turn}</span>}
        {closed === null && !verified && (
          <span className="hint warn-ink">{text('swap_box.pick.unverified')}</span>
        )}
      </span>
      {address !== null && (
        <span className="hint mono" title={address}>
          {shortAddress(address)}
        </span>
      )}
    </button>
  );
}

/** Up and down go from the search to the list, and through it. */
function moveByArrows(event: KeyboardEvent<HTMLFormElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, .asset-row')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = stops[at < 0 ? 0 : at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
