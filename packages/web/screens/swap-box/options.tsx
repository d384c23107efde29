// Options that few change: an asking price, who may quote, and for how long.

import { advantageBps, isFar, quoteAt } from '../../market/prices.ts';
import { AmountField, Button, Select, Share, TextField } from '../../parts/controls.tsx';
import { estimateText } from '../../parts/words.ts';
import { formatPercent } from '../../texts/people.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import { type Audience, type Draft, lifetimes, linkOf, standings, withAsk } from './draft.ts';
import type { Trade } from './use-trade.ts';

const audiences: readonly Audience[] = ['public', 'link', 'address'];

const settledText = (value: string) =>
  value === '0' ? text('swap_box.settled.any') : text('swap_box.settled.least', { count: value });

type OptionsProps = {
  draft: Draft;
  trade: Trade;
  onChange: (draft: Draft) => void;
  /** One of its fields has to be changed. */
  isWrong: boolean;
};

export function Options({ draft, trade, onChange, isWrong }: OptionsProps) {
  const { audience, ttl, address, minSettled, ask } = draft;
  const { found } = trade;
  const isOpen = isWrong || audience === 'address' || minSettled !== '0' || ask !== '';
  return (
    <details className="fold swap-options" open={isOpen}>
      <summary>
        {text('swap_box.options')}
        <span className="value hint">
          {text('swap_box.options.now', {
            who: text(`swap_box.audience.${audience}`),
            long: text(ttlName(ttl)),
          })}
        </span>
      </summary>
      <Ask draft={draft} trade={trade} onChange={onChange} />
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
      </div>
      <p className="hint">{text(`swap_box.audience.${audience}.hint`)}</p>
      {audience === 'address' && (
        <TextField
          mono
          label={text('swap_box.address')}
          value={address}
          onChange={(next) => onChange({ ...draft, address: next })}
          error={!found.ok && found.at === 'address' ? found.why : null}
          autoComplete="off"
          maxLength={200}
        />
      )}
      <Select
        label={text('swap_box.settled')}
        hint={minSettled === '0' ? undefined : text('swap_box.settled.hint')}
        value={minSettled}
        onChange={(next) => onChange({ ...draft, minSettled: next })}
        options={standings.map((value) => ({ value, label: settledText(value) }))}
      />
      {found.ok && (
        <div className="actions">
          <Share
            title={text('swap_box.share.title')}
            what={text('swap_box.share.what')}
            path={linkOf(found.wanted)}
          />
        </div>
      )}
    </details>
  );
}

function ttlName(ttl: string): TextKey {
  return `swap_box.ttl.${lifetimes.find((each) => each === ttl) ?? '3600'}`;
}

/** The other side's amount, as the person would have it. */
function Ask({ draft, trade, onChange }: Omit<OptionsProps, 'isWrong'>) {
  const { pair, found, amount, estimate } = trade;
  if (pair === null) return null;
  const { quote, isGot } = pair;
  const { price } = estimate;
  const usual = price && amount && quoteAt(price, amount, isGot);
  return (
    <>
      <AmountField
        label={text(`swap_box.ask_${isGot ? 'get' : 'give'}`)}
        symbol={quote.symbol}
        decimals={quote.decimals}
        value={draft.ask}
        onChange={(ask) => onChange({ ...draft, ask })}
        hint={text(`swap_box.ask_${isGot ? 'get' : 'give'}.hint`)}
        error={!found.ok && found.at === 'ask' ? found.why : null}
      />
      {usual !== null && draft.ask === '' && (
        <Button kind="quiet" onPress={() => onChange(withAsk(draft, quote, usual))}>
          {text('swap_box.ask.use', { amount: estimateText(usual, quote) })}
        </Button>
      )}
      <AskAgainst trade={trade} />
    </>
  );
}

function AskAgainst({ trade: { found, median } }: { trade: Trade }) {
  if (!found.ok || found.wanted.askAmount === null || median === null) return null;
  const { askAmount, baseAmount, body } = found.wanted;
  const isGot = body.direction === 'sell_base';
  const bps = advantageBps(askAmount, quoteAt(median, baseAmount, isGot), isGot);
  if (bps === null || !isFar(bps)) return null;
  const percent = formatPercent(bps);
  return (
    <p className="warn-ink">{text(`swap_box.ask_${bps > 0 ? 'better' : 'worse'}`, { percent })}</p>
  );
}
