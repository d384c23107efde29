// A pair's ladder, and the maker's own levels on it: published, renewed and taken back by one press.

import { queue } from '@parley/core/queue.ts';
import type { Asset, Level } from '@parley/sdk/types.ts';
import { useState } from 'react';
import { priceOf, useLevels, usePrice } from '../../market/answers.ts';
import type { Pair } from '../../market/pairs.ts';
import { market, queries } from '../../market/site.ts';
import { Do, Form } from '../../parts/act.tsx';
import { AmountField, announce, Button, Select, TextField } from '../../parts/controls.tsx';
import { assetName, typedAmount } from '../../parts/words.ts';
import { formatAmount, formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { draftedLevels } from './due.ts';
import { Ladder } from './ladder.tsx';
import { around } from './ticket.ts';

const lifetimes = ['60', '600', '3600'] as const;
type Lifetime = (typeof lifetimes)[number];

const fields = ['size', 'pays', 'takes'] as const;
type Typed = Readonly<Partial<Record<(typeof fields)[number], string>>>;

const most = 1_000;
/** null: no distance that a level may have. */
function bpsIn(typed: string): number | null {
  const bps = /^\d{1,4}$/.test(typed.trim()) ? Number(typed) : -1;
  return bps >= 0 && bps <= most ? bps : null;
}

/** Changes of levels: a slow renewal would undo a withdrawal that came after it. */
const inTurn = queue();

type LevelsProps = {
  assets: readonly Asset[];
  /** The chosen order's; null: no order is chosen. */
  pair: Pair | null;
  accountId: string;
};

export function Levels({ assets, pair, accountId }: LevelsProps) {
  const [picked, setPicked] = useState<{ base: string; quote: string } | null>(null);
  const ids = picked ?? { base: pair?.base.id ?? '', quote: pair?.quote.id ?? '' };
  const base = assets.find(({ id }) => id === ids.base);
  const quote = assets.find(({ id }) => id === ids.quote);
  const choice = (side: 'base' | 'quote') => (
    <Select
      label={text(`console.levels.${side}`)}
      value={ids[side]}
      onChange={(id) => setPicked({ ...ids, [side]: id })}
      options={[
        { value: '', label: text('console.levels.choose') },
        ...assets
          .filter(({ enabled }) => enabled)
          .map((each) => ({ value: each.id, label: assetName(each) })),
      ]}
    />
  );
  const isPair = base !== undefined && quote !== undefined && base.chain !== quote.chain;
  return (
    <section className="panel levels" aria-label={text('console.levels')}>
      <h2>{text('console.levels')}</h2>
      <div className="row">
        {choice('base')}
        {choice('quote')}
      </div>
      {isPair ? (
        <OnPair key={`${base.id} ${quote.id}`} pair={{ base, quote }} accountId={accountId} />
      ) : (
        <p className="hint">{text('console.levels.pair')}</p>
      )}
      <Do
        kind="quiet"
        work={async () => {
          const { withdrawn } = await inTurn(() => market.withdrawLevels());
          changed('withdrawn', withdrawn);
        }}
      >
        {text('console.levels.withdraw')}
      </Do>
    </section>
  );
}

function changed(what: 'published' | 'withdrawn', count: number): void {
  announce(text(`console.levels.${what}`, { count }));
  void queries.invalidateQueries({ queryKey: ['levels'] });
}

type OnPairProps = { pair: Pair; accountId: string };

function OnPair({ pair, accountId }: OnPairProps) {
  const ids = { baseAssetId: pair.base.id, quoteAssetId: pair.quote.id };
  const bids = useLevels({ ...ids, direction: 'sell_base' });
  const asks = useLevels({ ...ids, direction: 'buy_base' });
  const median = priceOf(usePrice(ids).data);
  const own = (levels: readonly Level[] | undefined) =>
    levels?.find(({ makerId }) => makerId === accountId);
  return (
    <>
      <Ladder bids={bids} asks={asks} pair={pair} accountId={accountId} median={median} />
      <Publish
        pair={pair}
        median={median}
        bid={own(bids.data?.levels)}
        ask={own(asks.data?.levels)}
      />
    </>
  );
}

type PublishProps = {
  pair: Pair;
  median: ReturnType<typeof priceOf>;
  /** Own levels that stand. */
  bid: Level | undefined;
  ask: Level | undefined;
};

function Publish({ pair: { base, quote }, median, bid, ask }: PublishProps) {
  const [touched, setTouched] = useState<Typed>({});
  const [lifetime, setLifetime] = useState<Lifetime>('600');
  const [distance, setDistance] = useState('30');
  const [said, setSaid] = useState('');
  const standing = standingOf(bid, ask, base, quote);
  const typed = { size: '', pays: '', takes: '', ...standing, ...touched };
  const size = typedAmount(typed.size, base).units;
  const bps = bpsIn(distance);
  const drafted = draftedLevels({
    size,
    pays: typedAmount(typed.pays, quote).units,
    takes: typedAmount(typed.takes, quote).units,
    validForSeconds: Number(lifetime),
  });
  const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
  const put = async (levels: Parameters<typeof market.publishLevels>[0]['levels']) => {
    const { published } = await inTurn(() => market.publishLevels({ ...ids, levels }));
    setSaid(
      text(levels.length === 0 ? 'console.levels.none' : 'console.levels.published', {
        count: published,
      }),
    );
    setTouched({});
    void queries.invalidateQueries({ queryKey: ['levels'] });
  };
  const fill = () => {
    if (median === null || size === null || bps === null) return;
    const { pays, takes } = around(median, size, bps);
    const words = (units: bigint) => formatAmount(units, quote.decimals);
    setTouched({ ...touched, pays: words(pays), takes: words(takes) });
  };
  const field = (name: (typeof fields)[number], asset: Asset) => (
    <AmountField
      label={text(`console.levels.${name}`)}
      symbol={asset.symbol}
      decimals={asset.decimals}
      value={typed[name]}
      onChange={(words) => setTouched({ ...touched, [name]: words })}
    />
  );
  return (
    <Form
      label={text('console.levels.own')}
      go={text(
        bid === undefined && ask === undefined ? 'console.levels.publish' : 'console.levels.renew',
      )}
      blocked={typeof drafted === 'string' ? drafted : null}
      send={async () => {
        if (typeof drafted !== 'string') await put(drafted);
      }}
      more={
        (bid !== undefined || ask !== undefined) && (
          <Do kind="quiet" work={() => put([])}>
            {text('console.levels.withdraw.pair')}
          </Do>
        )
      }
    >
      <p className="hint">{text('console.levels.what')}</p>
      <div className="row">
        {field('size', base)}
        <Select
          label={text('console.levels.lifetime')}
          value={lifetime}
          onChange={setLifetime}
          options={lifetimes.map((each) => ({ value: each, label: formatDuration(Number(each)) }))}
        />
      </div>
      {median !== null && (
        <div className="row">
          <TextField
            label={text('console.levels.distance')}
            inputMode="numeric"
            maxLength={4}
            value={distance}
            onChange={setDistance}
            error={bps === null ? text('console.levels.distance.bad', { most }) : null}
          />
          <Button
            blocked={size === null || bps === null ? text('amount.empty') : null}
            onPress={fill}
          >
            {text('console.levels.fill')}
          </Button>
        </div>
      )}
      <div className="row">
        {field('pays', quote)}
        {field('takes', quote)}
      </div>
      <p role="status" className="hint">
        {said}
      </p>
    </Form>
  );
}

/** The own levels stand in the fields at first: one press renews them. */
function standingOf(
  bid: Level | undefined,
  ask: Level | undefined,
  base: Asset,
  quote: Asset,
): Typed {
  const size = bid?.baseAmount ?? ask?.baseAmount;
  if (size === undefined) return {};
  const words = (units: string, { decimals }: Asset) => formatAmount(BigInt(units), decimals);
  const of = (level: Level | undefined) =>
    level === undefined || level.baseAmount !== size ? '' : words(level.quoteAmount, quote);
  return { size: words(size, base), pays: of(bid), takes: of(ask) };
}
