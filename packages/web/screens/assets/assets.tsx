// The traded assets, and the request to list a token.

import type { Asset } from '@parley/sdk/types.ts';
import { useState } from 'react';
import { useAssets } from '../../market/assets.ts';
import { AccountNav } from '../../parts/account-screen.tsx';
import { Answer, Empty } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { chainName, shortAddress } from '../../parts/names.ts';
import { OfAccount } from '../../parts/of-account.tsx';
import { Screen } from '../../parts/screen.tsx';
import { hasWords } from '../../parts/search.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { text } from '../../texts/texts.ts';
import { AskListing } from './ask-listing.tsx';

const step = 50;

export function Assets() {
  const assets = useAssets();
  return (
    <Screen title={text('assets.title')}>
      <AccountNav />
      <p>{text('assets.what')}</p>
      <Answer of={assets}>
        {(known) => (
          <>
            <Known assets={known} />
            <OfAccount>{() => <AskListing chains={tokenChains(known)} />}</OfAccount>
          </>
        )}
      </Answer>
    </Screen>
  );
}

/** Bitcoin has no tokens that are traded here. */
function tokenChains(assets: readonly Asset[]): readonly string[] {
  const chains = new Set(assets.map(({ chain }) => chain));
  return [...chains].filter((chain) => !chain.startsWith('bitcoin')).sort();
}

function Known({ assets }: { assets: readonly Asset[] }) {
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(step);
  const found = assets.filter(({ symbol, chain, address }) =>
    hasWords(`${symbol} ${chain} ${chainName(chain)} ${address ?? ''}`, search),
  );
  return (
    <>
      <TextField
        label={text('assets.search')}
        hint={text('assets.search.hint')}
        type="search"
        value={search}
        onChange={setSearch}
      />
      <p role="status" className="hint">
        {text('assets.count', { shown: found.length, all: assets.length })}
      </p>
      {found.length === 0 ? (
        <Empty>{text('assets.none')}</Empty>
      ) : (
        <Table
          caption={text('assets.title')}
          columns={columns()}
          rows={found.slice(0, shown)}
          keyOf={({ id }) => id}
        />
      )}
      {found.length > shown && (
        <Button onPress={() => setShown(shown + step)}>{text('assets.more')}</Button>
      )}
    </>
  );
}

function kindOf({ verified, source }: Asset): string {
  if (verified) return text('assets.kind.verified');
  const [, name] = /^launchpad:(.+)$/.exec(source) ?? [];
  return name === undefined ? text('assets.kind.api') : text('assets.kind.launchpad', { name });
}

const columns = (): readonly Column<Asset>[] => [
  {
    key: 'symbol',
    label: text('assets.symbol'),
    cell: ({ symbol }) => <strong>{symbol}</strong>,
  },
  { key: 'chain', label: text('assets.chain'), cell: ({ chain }) => chainName(chain) },
  {
    key: 'contract',
    label: text('assets.contract'),
    cell: ({ address }) =>
      address === null ? (
        text('assets.native')
      ) : (
        <>
          <code title={address}>{shortAddress(address)}</code>{' '}
          <Copy value={address} what={text('assets.contract')} />
        </>
      ),
  },
  { key: 'kind', label: text('assets.kind'), cell: kindOf },
  {
    key: 'open',
    label: text('assets.open'),
    cell: ({ enabled }) => (
      <span className={enabled ? 'good-ink' : 'warn-ink'}>
        {text(enabled ? 'assets.open.yes' : 'assets.open.no')}
      </span>
    ),
  },
];
