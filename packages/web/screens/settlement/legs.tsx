// Both legs as steps in words, and every payment by hand with what becomes of it.

import type { Engine } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { explorerOf, type Listed } from '../../parts/labels.ts';
import { chainName } from '../../parts/names.ts';
import { Table } from '../../parts/table.tsx';
import { text } from '../../texts/texts.ts';
import { amountsOf, type LegShown, type Shown, type StepShown } from './shown.ts';
import { type Fate, fatesOf, type Seen } from './situation.ts';

export function Legs({ engine, said }: { readonly engine: Engine; readonly said: Shown }) {
  const { chains } = engine.nodes;
  const known = useLive(chains);
  return (
    <section aria-labelledby="swap-legs">
      <h2 id="swap-legs">{text('settlement.legs')}</h2>
      <div className="swap-legs">
        {said.legs.map((leg) => (
          <Leg
            key={leg.title}
            leg={leg}
            isKnown={known.some(({ chain, isKnown }) => chain === leg.chain && isKnown)}
          />
        ))}
      </div>
    </section>
  );
}

function Leg({ leg, isKnown }: { readonly leg: LegShown; readonly isKnown: boolean }) {
  const chain = chainName(leg.chain);
  return (
    <article
      className="panel"
      aria-label={`${leg.title}, ${text('settlement.leg.chain', { chain })}`}
    >
      <h3>
        {leg.title} <span className="soft">{text('settlement.leg.chain', { chain })}</span>
      </h3>
      <ol className="swap-steps">
        {leg.steps.map((step) => (
          <Step key={step.label} step={step} chain={leg.chain} isKnown={isKnown} />
        ))}
      </ol>
      {leg.lock !== null && <p className="soft">{leg.lock}</p>}
      <p className="swap-escrow">
        <span className="soft">{text('settlement.leg.escrow')}</span>{' '}
        {leg.escrow === null ? text('settlement.leg.no_escrow') : <code>{leg.escrow}</code>}
      </p>
    </article>
  );
}

type StepProps = { readonly step: StepShown; readonly chain: string; readonly isKnown: boolean };

function Step({ step, chain, isKnown }: StepProps) {
  const { state, label, detail, txid } = step;
  return (
    <li className={state}>
      <span className="unseen">{text(`settlement.leg.state.${state}`)}</span>
      <span>
        {label}: <strong>{detail}</strong>
        {txid !== null && <Tx txid={txid} chain={chain} isKnown={isKnown} />}
      </span>
    </li>
  );
}

type TxProps = { readonly txid: string; readonly chain: string; readonly isKnown: boolean };

export function Tx({ txid, chain, isKnown }: TxProps) {
  const explorer = explorerOf(chain, isKnown, txid);
  return (
    <span className="swap-tx">
      <span className="soft">{text('settlement.tx')}</span> <code>{txid}</code>{' '}
      {explorer !== null && (
        <a href={explorer.url} target="_blank" rel="noreferrer">
          {text('settlement.tx.look', { explorer: explorer.name })}
        </a>
      )}
    </span>
  );
}

/** More than anybody pays by hand: a stranger's dust fills no screen. */
const mostFates = 20;

type FatesProps = {
  readonly seen: Seen;
  readonly said: Shown;
  readonly listed: readonly Listed[];
};

export function Fates({ seen, said, listed }: FatesProps) {
  const fates = fatesOf(seen);
  const { inOwn } = amountsOf(seen, listed);
  const isPlain = fates.every(({ fate }) => fate === 'swap' || fate === 'collected');
  if (fates.length === 0 || (fates.length === 1 && isPlain)) return null;
  const seenText = ({ payment }: Fate) =>
    payment.confirmations === 0
      ? text('settlement.leg.pool')
      : text('settlement.leg.blocks', {
          confirmations: payment.confirmations,
          required: said.values.required ?? '',
        });
  return (
    <section className="panel swap-fates" aria-labelledby="swap-fates">
      <h2 id="swap-fates">{text('settlement.fates')}</h2>
      <Table
        caption={text('settlement.fates')}
        keyOf={({ payment }) => `${payment.txid}:${payment.vout}`}
        rows={fates.slice(0, mostFates)}
        columns={[
          {
            key: 'amount',
            label: text('settlement.fate.amount'),
            cell: ({ payment }) => inOwn(payment.amount),
            number: true,
          },
          { key: 'seen', label: text('settlement.fate.seen'), cell: seenText },
          {
            key: 'fate',
            label: text('settlement.fate.becomes'),
            cell: ({ fate, extra }) =>
              text(`settlement.fate.${fate}`, { ...said.values, extra: inOwn(extra) }),
          },
        ]}
      />
      {fates.length > mostFates && (
        <p className="soft">{text('settlement.fate.more', { count: fates.length - mostFates })}</p>
      )}
    </section>
  );
}
