// Indicative prices of the maker: publish those of a pair, see them, take all of them back.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Asset, Level, WantedLevel } from '@parley/sdk/types.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { queries } from '../../market/queries.ts';
import { AmountField } from '../../parts/amount-field.tsx';
import { announce } from '../../parts/announce.ts';
import { Answer, Empty } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Clock } from '../../parts/clock.tsx';
import { assetName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { Select } from '../../parts/select.tsx';
import { formatAmount, formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { countedMarket } from './budget.ts';
import { draftedLevels, type LevelDraft } from './level-draft.ts';

type Pair = { readonly base: Asset; readonly quote: Asset };
type Assets = ReadonlyMap<string, Asset>;
type Of = { readonly pair: Pair; readonly accountId: string };

const lifetimes = ['60', '600', '3600'] as const;
const most = 8;
const ownKey = 'own levels';
/** They end by themselves, and another page or program of the account may publish too. */
const againMs = 20_000;

const shown = (units: string, asset: Asset) =>
  `${formatAmount(BigInt(units), asset.decimals, { most })} ${asset.symbol}`;

function moved(): void {
  for (const key of [ownKey, 'levels']) void queries.invalidateQueries({ queryKey: [key] });
}

export function Levels({ assets, accountId }: { assets: Assets; accountId: string }) {
  const [ids, setIds] = useState({ base: '', quote: '' });
  const base = assets.get(ids.base);
  const quote = assets.get(ids.quote);
  const choice = (side: 'base' | 'quote') => (
    <Select
      label={text(`console.levels.${side}`)}
      value={ids[side]}
      onChange={(id) => setIds({ ...ids, [side]: id })}
      options={[{ value: '', label: text('console.levels.choose') }, ...choicesOf(assets)]}
    />
  );
  const pair = base && quote && { base, quote };
  return (
    <section aria-label={text('console.levels')} className="panel">
      <h2>{text('console.levels')}</h2>
      <p className="hint">{text('console.levels.what')}</p>
      <div className="row">
        {choice('base')}
        {choice('quote')}
      </div>
      {pair?.base.chain === pair?.quote.chain
        ? pair && <Notice kind="warn">{text('console.levels.same_chain')}</Notice>
        : pair && (
            // Another pair is another form: text typed for one is never sent for the other.
            <PairLevels key={`${ids.base} ${ids.quote}`} pair={pair} accountId={accountId} />
          )}
      <Withdraw />
    </section>
  );
}

function choicesOf(assets: Assets) {
  return [...assets.values()]
    .filter(({ enabled }) => enabled)
    .map((each) => ({ value: each.id, label: assetName(each) }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'));
}

function PairLevels(of: Of) {
  return (
    <>
      <LevelForm {...of} />
      <Own {...of} />
    </>
  );
}

type Typed = Readonly<Record<'size' | 'pays' | 'takes', string>>;
type Units = Readonly<Record<keyof Typed, BaseUnits | null>>;

function LevelForm({ pair: { base, quote } }: Of) {
  const [typed, setTyped] = useState<Typed>({ size: '', pays: '', takes: '' });
  const [units, setUnits] = useState<Units>({ size: null, pays: null, takes: null });
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]>('600');
  const draft: LevelDraft = { ...units, validForSeconds: Number(lifetime) };
  const { levels, fault } = draftedLevels(draft);
  const send = useMutation({
    mutationFn: (wanted: readonly WantedLevel[]) =>
      countedMarket.publishLevels({
        baseAssetId: base.id,
        quoteAssetId: quote.id,
        levels: [...wanted],
      }),
    onSuccess: ({ published }) => {
      moved();
      announce(text('console.levels.published', { count: published }));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (levels !== null && !send.isPending) send.mutate(levels);
  };
  const field = (name: keyof Typed, { symbol, decimals }: Asset) => (
    <AmountField
      label={text(`console.levels.${name}`)}
      symbol={symbol}
      decimals={decimals}
      value={typed[name]}
      onChange={(words, amount) => {
        send.reset();
        setTyped({ ...typed, [name]: words });
        setUnits({ ...units, [name]: amount });
      }}
    />
  );
  return (
    <form onSubmit={submit}>
      {field('size', base)}
      {field('pays', quote)}
      {field('takes', quote)}
      <Select
        label={text('console.levels.lifetime')}
        value={lifetime}
        onChange={setLifetime}
        options={lifetimes.map((each) => ({ value: each, label: formatDuration(Number(each)) }))}
      />
      {(fault ?? send.error) && (
        <Notice kind="bad" title={text('console.levels.failed')}>
          {fault ?? messageOf(send.error)}
        </Notice>
      )}
      <Button type="submit" busy={send.isPending}>
        {text('console.levels.publish')}
      </Button>
    </form>
  );
}

function Own({ pair, accountId: makerId }: Of) {
  const { base, quote } = pair;
  const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
  const own = useQuery({
    queryKey: [ownKey, ids, makerId],
    queryFn: async ({ signal }) => {
      const of = (direction: Level['direction']) =>
        countedMarket.levels({ ...ids, direction, makerId }, { signal });
      const both = await Promise.all([of('sell_base'), of('buy_base')]);
      return both.flatMap(({ levels }) => levels);
    },
    refetchInterval: againMs,
  });
  return (
    <Answer of={own}>
      {(levels: readonly Level[]) =>
        levels.length === 0 ? (
          <Empty>{text('console.levels.none')}</Empty>
        ) : (
          <ul className="waiting">
            {levels.map((each) => (
              <li key={`${each.direction} ${each.baseAmount} ${each.quoteAmount}`}>
                <p>
                  {text(`console.levels.${each.direction}`, {
                    base: shown(each.baseAmount, base),
                    quote: shown(each.quoteAmount, quote),
                  })}
                </p>
                <p>
                  {text('console.levels.until')}{' '}
                  <Clock at={Math.floor(Date.parse(each.expiresAt) / 1_000)} />
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Answer>
  );
}

function Withdraw() {
  const taking = useMutation({
    mutationFn: () => countedMarket.withdrawLevels(),
    onSuccess: ({ withdrawn }) => {
      moved();
      announce(text('console.levels.withdrawn', { count: withdrawn }));
    },
  });
  return (
    <>
      {taking.error !== null && (
        <Notice kind="bad" title={text('console.levels.not_withdrawn')}>
          {messageOf(taking.error)}
        </Notice>
      )}
      <Button kind="quiet" busy={taking.isPending} onPress={() => taking.mutate()}>
        {text('console.levels.withdraw')}
      </Button>
    </>
  );
}
