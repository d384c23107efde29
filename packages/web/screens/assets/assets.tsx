// The traded assets, and the request to list a token.

import { asTyped } from '@parley/core/typed.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAssets, useClosings } from '../../market/answers.ts';
import type { Closing } from '../../market/closings.ts';
import { now } from '../../market/config.ts';
import { market } from '../../market/site.ts';
import { AccountNav } from '../../parts/account-screen.tsx';
import { Do, Form } from '../../parts/act.tsx';
import { Coin } from '../../parts/coin.tsx';
import { announce, Button, Copy, Panel, Select, TextField } from '../../parts/controls.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { When } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { chainName, hasWords, shortAddress } from '../../parts/words.ts';
import { localTime, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import './assets.css';
import { type Asked, answered, refused, withAnswer } from './listing.ts';

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
            <SignedIn>{() => <AskListing chains={tokenChains(known)} />}</SignedIn>
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
  const closingOf = useClosings();
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
        <ul className="asset-rows panel" aria-label={text('assets.title')}>
          {found.slice(0, shown).map((each) => (
            <Row key={each.id} asset={each} closing={closingOf(each)} />
          ))}
        </ul>
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

/** A halted one stays in the list, and says why nothing new is agreed with it. */
function openText(closing: Closing | null): string {
  if (closing === null) return text('assets.open.yes');
  if (closing.by === 'other') return text('assets.open.no');
  if (closing.since === null) return text('assets.open.halted');
  const since = localTime(secondsOf(closing.since), now());
  return text('assets.open.chain', { since });
}

function Row({ asset, closing }: { asset: Asset; closing: Closing | null }) {
  const { symbol, chain, address } = asset;
  return (
    <li>
      <Coin asset={asset} size={36} withChain />
      <div className="asset-name">
        <strong>{symbol}</strong>
        <span className="hint">{text('swap_box.on', { chain: chainName(chain) })}</span>
      </div>
      <div className="asset-contract hint">
        {address === null ? (
          text('assets.native')
        ) : (
          <>
            <code title={address}>{shortAddress(address)}</code>
            <Copy value={address} what={text('assets.contract')} />
          </>
        )}
      </div>
      <div className="asset-kind hint">{kindOf(asset)}</div>
      <span className={`chip ${closing === null ? 'good' : 'warn'}`}>{openText(closing)}</span>
    </li>
  );
}

type Token = Pick<Asked, 'chain' | 'address'>;

function AskListing({ chains }: { chains: readonly string[] }) {
  const client = useQueryClient();
  const [all, setAll] = useState<readonly Asked[]>([]);
  const [chain, setChain] = useState(chains[0] ?? '');
  const [address, setAddress] = useState('');
  const ask = async (token: Token) => {
    const at = isoTime(now());
    const decision = await market.listAsset(token).then(
      (answer) => answered(token, answer, at),
      (failure: unknown) => {
        const told = refused(token, failure, at);
        if (told === null) throw failure;
        return told;
      },
    );
    setAll((before) => withAnswer(before, decision));
    announce(sentenceOf(decision));
    if (decision.status === 'listed') await client.invalidateQueries({ queryKey: ['assets'] });
  };
  return (
    <Panel title={text('listing.title')}>
      <p>{text('listing.what')}</p>
      <Form
        go={text('listing.go')}
        kind="main"
        going={text('listing.going')}
        send={() => ask({ chain, address: asTyped(address).trim() })}
      >
        <Select
          label={text('listing.chain')}
          value={chain}
          onChange={setChain}
          options={chains.map((value) => ({ value, label: chainName(value) }))}
        />
        <TextField
          label={text('listing.address')}
          mono
          required
          maxLength={128}
          autoComplete="off"
          value={address}
          onChange={setAddress}
        />
      </Form>
      {all.length > 0 && (
        <>
          <h3>{text('listing.asked')}</h3>
          <ul className="entries">
            {all.map((each) => (
              <Entry key={`${each.chain} ${each.address}`} asked={each} ask={ask} />
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function sentenceOf({ status, symbol, reasons }: Asked): string {
  if (status === 'listed') return text('listing.listed', { symbol: symbol ?? '' });
  if (status === 'pending' && reasons.length === 0) return text('listing.pending.slow');
  return text(`listing.${status}`);
}

const inks = {
  listed: 'good-ink',
  pending: 'warn-ink',
  closed: 'warn-ink',
  refused: 'bad-ink',
} as const;

function Entry({ asked, ask }: { asked: Asked; ask: (token: Token) => Promise<void> }) {
  const { chain, address, at, status, reasons, notChecked } = asked;
  return (
    <li>
      <div>
        <p>
          <code>{address}</code> <span className="hint">{chainName(chain)}</span>
        </p>
        <p className={inks[status]}>{sentenceOf(asked)}</p>
        {reasons.length > 0 && (
          <>
            <p className="hint">{text('listing.found')}</p>
            <ul>
              {reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </>
        )}
        {notChecked.length > 0 && (
          <p className="hint">{text('listing.not_checked', { checks: notChecked.join(', ') })}</p>
        )}
        <p className="hint">
          {text('listing.at')} <When at={at} />
        </p>
      </div>
      <div className="actions">
        {(status === 'pending' || status === 'closed') && (
          <Do label={text('listing.again.label', { address })} work={() => ask({ chain, address })}>
            {text('listing.again')}
          </Do>
        )}
      </div>
    </li>
  );
}
