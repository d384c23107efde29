// The first screen: the amounts given and wanted, the costs, and the one step to quotes. All of it
// can be filled in signed out.

import { has } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useAssets } from '../../market/answers.ts';
import { knownSession, useSession } from '../../market/session.ts';
import { market } from '../../market/site.ts';
import { Do } from '../../parts/act.tsx';
import {
  AmountInput,
  Button,
  Field,
  Notice,
  Select,
  Share,
  TextField,
} from '../../parts/controls.tsx';
import { useGiving, WalletFirst } from '../../parts/giving.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { signInPath } from '../../parts/ways/back.ts';
import { assetName, chainName, typedAmount } from '../../parts/words.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import type { AssetFieldProps } from './asset-combo.tsx';
import {
  type Audience,
  type Draft,
  flipped,
  keepDraft,
  keptDraft,
  lifetimes,
  linkedDraft,
  linkOf,
  type Side,
  standings,
  type Understood,
  understood,
  withAmount,
} from './draft.ts';
import { CostsOfSwap, PriceNotes } from './price-notes.tsx';
import './swap-box.css';

export function SwapBox() {
  const assets = useAssets();
  const { hash } = useLocation();
  return (
    <Screen title={text('swap_box.title')} narrow>
      <p className="soft">{text('swap_box.lead')}</p>
      <Answer of={assets}>{(listed) => <Box key={hash} hash={hash} assets={listed} />}</Answer>
    </Screen>
  );
}

function Box({ hash, assets }: { hash: string; assets: readonly Asset[] }) {
  const [linked] = useState(() => linkedDraft(hash, assets));
  const [draft, setDraft] = useState(() => linked ?? keptDraft());
  useEffect(() => keepDraft(draft), [draft]);
  const found = understood(draft, assets);
  const chosen = (side: Side) => assets.find(({ id }) => id === draft[side]);
  const sideOf = (side: Side) => (
    <SideOfSwap
      side={side}
      draft={draft}
      assets={assets}
      asset={chosen(side)}
      onChange={setDraft}
    />
  );
  return (
    <>
      {linked !== null && <Notice kind="info">{text('swap_box.linked')}</Notice>}
      <div className="swap-box">
        {sideOf('give')}
        <Button kind="quiet" label={text('swap_box.flip')} onPress={() => setDraft(flipped(draft))}>
          <span aria-hidden="true">⇅</span>
        </Button>
        {sideOf('get')}
        <PriceNotes
          draft={draft}
          give={chosen('give')}
          get={chosen('get')}
          found={found}
          onChange={setDraft}
        />
      </div>
      <Options draft={draft} onChange={setDraft} />
      <CostsOfSwap
        draft={draft}
        give={chosen('give')}
        get={chosen('get')}
        found={found}
        assets={assets}
      />
      <Asking found={found} give={chosen('give')} />
    </>
  );
}

type SideProps = {
  side: Side;
  draft: Draft;
  assets: readonly Asset[];
  asset: Asset | undefined;
  onChange: (draft: Draft) => void;
};

function SideOfSwap({ side, draft, assets, asset, onChange }: SideProps) {
  const amount = side === 'give' ? draft.giveAmount : draft.getAmount;
  const { symbol = '' } = asset ?? {};
  const fault = asset === undefined ? null : typedAmount(amount, asset).fault;
  return (
    <fieldset className="swap-side panel">
      <legend>{text(`swap_box.${side}`)}</legend>
      <div className="row">
        <Field
          label={symbol === '' ? text('swap_box.amount') : text('swap_box.amount_of', { symbol })}
          hint={text(hintOf(draft, side))}
          error={fault}
        >
          {(tied) => (
            <AmountInput
              {...tied}
              value={amount}
              onType={(typed) => onChange(withAmount(draft, side, typed))}
            />
          )}
        </Field>
        <AssetField
          label={text('swap_box.asset')}
          assets={assets.filter(({ enabled, id }) => enabled || id === draft[side])}
          value={draft[side] === '' ? null : draft[side]}
          onChange={(id) => onChange({ ...draft, [side]: id ?? '' })}
        />
      </div>
      {asset !== undefined && <Identity asset={asset} />}
    </fieldset>
  );
}

function hintOf({ giveAmount, getAmount, exact }: Draft, side: Side): TextKey {
  if (giveAmount.trim() === '' && getAmount.trim() === '') return 'swap_box.either';
  return `swap_box.${side}_${exact === side ? 'exact' : 'open'}`;
}

/** A symbol says nothing by itself: the contract does. */
function Identity({ asset }: { asset: Asset }) {
  const { address, symbol, chain, verified } = asset;
  if (address === null) return null;
  return (
    <>
      <p className="hint">
        {text('swap_box.contract', { symbol, chain: chainName(chain) })}{' '}
        <span className="mono swap-contract">{address}</span>
      </p>
      {!verified && <Notice kind="warn">{text('swap_box.unverified', { symbol })}</Notice>}
    </>
  );
}

const audiences: readonly Audience[] = ['public', 'link', 'address'];

const settledText = (value: string) =>
  value === '0' ? text('swap_box.settled.any') : text('swap_box.settled.least', { count: value });

function Options({ draft, onChange }: Pick<SideProps, 'draft' | 'onChange'>) {
  const { audience, ttl, address, minSettled } = draft;
  const isOpen = audience === 'address' || minSettled !== '0';
  return (
    <details className="panel swap-options" open={isOpen}>
      <summary>
        {text('swap_box.options', {
          who: text(`swap_box.audience.${audience}`),
          long: text(ttlName(ttl)),
        })}
      </summary>
      <div className="row">
        <Select
          label={text('swap_box.audience')}
          value={audience}
          onChange={(next) => onChange({ ...draft, audience: next })}
          options={audiences.map((value) => ({
            value,
            label: text(`swap_box.audience.${value}`),
          }))}
        />
        <Select
          label={text('swap_box.ttl')}
          value={ttl}
          onChange={(next) => onChange({ ...draft, ttl: next })}
          options={lifetimes.map((value) => ({ value, label: text(`swap_box.ttl.${value}`) }))}
        />
        <Select
          label={text('swap_box.settled')}
          value={minSettled}
          onChange={(next) => onChange({ ...draft, minSettled: next })}
          options={standings.map((value) => ({ value, label: settledText(value) }))}
        />
      </div>
      <p className="hint">{text(`swap_box.audience.${audience}.hint`)}</p>
      {minSettled !== '0' && <p className="hint">{text('swap_box.settled.hint')}</p>}
      {audience === 'address' && (
        <TextField
          mono
          label={text('swap_box.address')}
          value={address}
          onChange={(next) => onChange({ ...draft, address: next })}
          autoComplete="off"
          maxLength={200}
        />
      )}
    </details>
  );
}

function ttlName(ttl: string): TextKey {
  return `swap_box.ttl.${lifetimes.find((each) => each === ttl) ?? '3600'}`;
}

function Asking({ found, give }: { found: Understood; give: Asset | undefined }) {
  const { status } = useSession();
  const giving = useGiving(give, status === 'account');
  const router = useRouter();
  const navigate = useNavigate();
  const last = useRef<{ readonly body: string; readonly key: string } | null>(null);
  const stopped =
    giving.hasWallet === false && give !== undefined
      ? text(has(giving.family, 'coins') ? 'swap_box.no_key' : 'swap_box.no_wallet', {
          chain: chainName(give.chain),
        })
      : null;
  const ask = async () => {
    if (!found.ok) return;
    if ((await knownSession()) === null) return router.history.push(signInPath('/'));
    const { body } = found.wanted;
    const said = JSON.stringify(body);
    // Asked again after no answer came, it is the same request: there is one order, not two.
    if (last.current?.body !== said) last.current = { body: said, key: crypto.randomUUID() };
    const { id } = await market.createRfq(body, { idempotencyKey: last.current.key });
    await navigate({ to: '/orders/$id', params: { id } });
  };
  return (
    <div className="swap-action">
      <WalletFirst giving={giving} asset={give} back="/" />
      <Do kind="main" blocked={found.ok ? stopped : found.why} work={ask}>
        {text(status === 'none' ? 'swap_box.action.signed_out' : 'swap_box.action')}
      </Do>
      <p className="hint">{text('swap_box.action.why')}</p>
      {found.ok && (
        <Share
          title={text('swap_box.share.title')}
          what={text('swap_box.share.what')}
          path={linkOf(found.wanted)}
        />
      )}
    </div>
  );
}

const AssetCombo = lazy(async () => ({
  default: (await import('./asset-combo.tsx')).AssetCombo,
}));

/** The field has the same size while it is loaded: the page below it does not move. */
function AssetField(props: AssetFieldProps) {
  const chosen = props.assets.find(({ id }) => id === props.value);
  const meanwhile = (
    <Field label={props.label}>
      {(tied) => (
        <input
          {...tied}
          readOnly
          placeholder={text('common.loading')}
          value={chosen === undefined ? '' : assetName(chosen)}
        />
      )}
    </Field>
  );
  return (
    <Suspense fallback={meanwhile}>
      <AssetCombo {...props} />
    </Suspense>
  );
}
