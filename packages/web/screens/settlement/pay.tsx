// Paying Bitcoin by hand: one exact amount, one address, one time after which nobody should pay.

import type { Ask, Engine } from '../../engine/types.ts';
import { Clock } from '../../parts/clock.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Qr } from '../../parts/qr.tsx';
import { formatAmount } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { ChooseWallet, FromWallet, type PayByWallet, usePayByWallet } from './by-wallet.tsx';
import type { Shown } from './shown.ts';
import type { Seen } from './situation.ts';

const decimals = 8;

type PayAsk = Extract<Ask, { kind: 'pay_by_hand' }>;
type PayProps = {
  readonly engine: Engine;
  readonly ask: PayAsk;
  readonly seen: Seen;
  readonly said: Shown;
};

export function Pay({ engine, ask, seen, said }: PayProps) {
  const by = usePayByWallet(engine, seen.swap.id);
  // A code beside a wallet that may have paid would be paid too.
  if (seen.wallet === undefined) return null;
  if (seen.wallet !== null) return <FromWallet engine={engine} seen={seen} said={said} />;
  if (said.situation === 'pay') return <Payment ask={ask} seen={seen} said={said} by={by} />;
  // A second payment is a decision: a person must not take it for the next step.
  return (
    <details className="swap-again">
      <summary>{text('settlement.pay.again')}</summary>
      <Payment ask={ask} seen={seen} said={said} by={by} />
    </details>
  );
}

type PaymentProps = Omit<PayProps, 'engine'> & { readonly by: PayByWallet };

function Payment({ ask, seen, said, by }: PaymentProps) {
  const { address, amount, uri, notAfter } = ask;
  const exact = formatAmount(amount, decimals);
  const values = { ...said.values, amount: `${exact}\u00a0BTC`, address };
  return (
    <div className="swap-pay">
      <div>
        <Qr value={uri} label={text('settlement.pay.qr', values)} />
        <a className="button" href={uri}>
          {text('settlement.pay.open')}
        </a>
      </div>
      <div>
        <dl className="swap-exact">
          <div>
            <dt>{text('settlement.pay.exact')}</dt>
            <dd>
              <strong className="swap-amount">{values.amount}</strong>{' '}
              <Copy value={plain(exact)} what={text('settlement.pay.what_amount')} />
            </dd>
          </div>
          <div>
            <dt>{text('settlement.pay.to')}</dt>
            <dd>
              <code className="swap-address">{address}</code>{' '}
              <Copy value={address} what={text('settlement.pay.what_address')} />
            </dd>
          </div>
          <div>
            <dt>{text('settlement.pay.before')}</dt>
            <dd>
              <Clock at={notAfter} />
            </dd>
          </div>
        </dl>
        <ChooseWallet by={by} seen={seen} />
      </div>
      <ul className="swap-rules">
        {(['exchange', 'less', 'more', 'once', 'late'] as const).map((rule) => (
          <li key={rule}>
            {text(`settlement.pay.${rule}`, { ...values, at: said.values.fundBy ?? '' })}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** As a field of an exchange takes it: no spaces between thousands, a point before decimals. */
function plain(shown: string): string {
  return shown.replace(/[\u202f\s]/g, '').replace(',', '.');
}
