// Indicative prices of the maker, published by hand for one pair, and all of them taken back.

import type { Asset } from '@parley/sdk/types.ts';
import { useState } from 'react';
import { market, queries } from '../../market/site.ts';
import { Do, Form } from '../../parts/act.tsx';
import { AmountField, Select } from '../../parts/controls.tsx';
import { assetName, typedAmount } from '../../parts/words.ts';
import { formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { draftedLevels } from './due.ts';

const lifetimes = ['60', '600', '3600'] as const;
type Lifetime = (typeof lifetimes)[number];

const untyped = { size: '', pays: '', takes: '' };

export function Levels({ assets }: { assets: readonly Asset[] }) {
  const [ids, setIds] = useState({ base: '', quote: '' });
  const [typed, setTyped] = useState(untyped);
  const [lifetime, setLifetime] = useState<Lifetime>('600');
  const [said, setSaid] = useState('');
  const base = assets.find(({ id }) => id === ids.base);
  const quote = assets.find(({ id }) => id === ids.quote);
  const units = (name: keyof typeof untyped, asset: Asset) => typedAmount(typed[name], asset).units;
  const drafted =
    base === undefined || quote === undefined || base.chain === quote.chain
      ? text('console.levels.pair')
      : draftedLevels({
          size: units('size', base),
          pays: units('pays', quote),
          takes: units('takes', quote),
          validForSeconds: Number(lifetime),
        });
  const sent = (key: 'published' | 'withdrawn', count: number) => {
    setSaid(text(`console.levels.${key}`, { count }));
    void queries.invalidateQueries({ queryKey: ['levels'] });
  };
  const publish = async () => {
    if (typeof drafted === 'string') return;
    const pair = { baseAssetId: ids.base, quoteAssetId: ids.quote };
    const { published } = await market.publishLevels({ ...pair, levels: [...drafted] });
    sent('published', published);
  };
  const withdraw = async () => sent('withdrawn', (await market.withdrawLevels()).withdrawn);
  const choice = (side: keyof typeof ids) => (
    <Select
      label={text(`console.levels.${side}`)}
      value={ids[side]}
      onChange={(id) => {
        setIds({ ...ids, [side]: id });
        // An amount that was typed for one pair is never sent for another.
        setTyped(untyped);
      }}
      options={[
        { value: '', label: text('console.levels.choose') },
        ...assets
          .filter(({ enabled }) => enabled)
          .map((each) => ({ value: each.id, label: assetName(each) })),
      ]}
    />
  );
  const field = (name: keyof typeof untyped, asset: Asset | undefined) =>
    asset !== undefined && (
      <AmountField
        label={text(`console.levels.${name}`)}
        symbol={asset.symbol}
        decimals={asset.decimals}
        value={typed[name]}
        onChange={(words) => setTyped({ ...typed, [name]: words })}
      />
    );
  return (
    <Form
      className="panel"
      label={text('console.levels')}
      go={text('console.levels.publish')}
      blocked={typeof drafted === 'string' ? drafted : null}
      send={publish}
      more={
        <Do kind="quiet" work={withdraw}>
          {text('console.levels.withdraw')}
        </Do>
      }
    >
      <h2>{text('console.levels')}</h2>
      <p className="hint">{text('console.levels.what')}</p>
      <div className="row">
        {choice('base')}
        {choice('quote')}
      </div>
      {field('size', base)}
      {field('pays', quote)}
      {field('takes', quote)}
      <Select
        label={text('console.levels.lifetime')}
        value={lifetime}
        onChange={setLifetime}
        options={lifetimes.map((each) => ({ value: each, label: formatDuration(Number(each)) }))}
      />
      <p role="status">{said}</p>
    </Form>
  );
}
