// Asks for a token to be listed, and shows what its checks found.

import { asTyped } from '@parley/core/typed.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { market } from '../../market/client.ts';
import { now } from '../../market/clock.ts';
import { announce } from '../../parts/announce.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { chainName } from '../../parts/names.ts';
import { Select } from '../../parts/select.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';
import { type Asked, answered, refused, withAnswer } from './listing.ts';

type AskListingProps = { readonly chains: readonly string[] };

type Token = Pick<Asked, 'chain' | 'address'>;

export function AskListing({ chains }: AskListingProps) {
  const client = useQueryClient();
  const [all, setAll] = useState<readonly Asked[]>([]);
  const [chain, setChain] = useState(chains[0] ?? '');
  const [address, setAddress] = useState('');
  const { busy, error, run } = useAct();
  const ask = (token: Token) =>
    run(async () => {
      const at = isoTime(now());
      const decision = await market.listAsset(token).then(
        (answer) => answered(token, answer, at),
        (failure: unknown) => {
          const told = refused(token, failure, at);
          if (told === null) throw failure;
          return told;
        },
      );
      setAll(withAnswer(all, decision));
      announce(sentenceOf(decision));
      if (decision.status === 'listed') await client.invalidateQueries({ queryKey: ['assets'] });
    });
  const send = (event: FormEvent) => {
    event.preventDefault();
    ask({ chain, address: asTyped(address).trim() });
  };
  return (
    <section className="panel">
      <h2>{text('listing.title')}</h2>
      <p>{text('listing.what')}</p>
      <form className="way" onSubmit={send}>
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
        <Button type="submit" kind="main" busy={busy}>
          {text('listing.go')}
        </Button>
        {busy && <p role="status">{text('listing.going')}</p>}
        {error !== null && <Failed error={error} />}
      </form>
      {all.length > 0 && (
        <>
          <h3>{text('listing.asked')}</h3>
          <ul className="entries">
            {all.map((each) => (
              <Entry
                key={`${each.chain} ${each.address}`}
                asked={each}
                busy={busy}
                onAgain={() => ask({ chain: each.chain, address: each.address })}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function sentenceOf({ status, symbol, reasons }: Asked): string {
  if (status === 'listed') return text('listing.listed', { symbol: symbol ?? '' });
  if (status === 'pending' && reasons.length === 0) return text('listing.pending.slow');
  return text(`listing.${status}`);
}

type EntryProps = {
  readonly asked: Asked;
  readonly busy: boolean;
  readonly onAgain: () => void;
};

const inks = {
  listed: 'good-ink',
  pending: 'warn-ink',
  closed: 'warn-ink',
  refused: 'bad-ink',
} as const;

function Entry({ asked, busy, onAgain }: EntryProps) {
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
          <Button busy={busy} label={text('listing.again.label', { address })} onPress={onAgain}>
            {text('listing.again')}
          </Button>
        )}
      </div>
    </li>
  );
}
