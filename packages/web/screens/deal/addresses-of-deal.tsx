// Where one is paid, and where a refund goes: chosen before the acceptance, which fixes them.

import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { config } from '../../market/config.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { chainName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { Select } from '../../parts/select.tsx';
import { text } from '../../texts/texts.ts';
import { type AddressNeed, chosenAddress } from './addresses.ts';

/** People who try the market have no address of its Bitcoin chain. */
const devAddress = config.dev?.bitcoinAddress ?? null;

type AddressesProps = {
  readonly needs: readonly AddressNeed[];
  /** By chain; the likeliest one where the person chose none. */
  readonly chosen: Readonly<Record<string, string>>;
  readonly onChange: (chosen: Readonly<Record<string, string>>) => void;
};

export function AddressesOfDeal({ needs, chosen, onChange }: AddressesProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id}>{text('deal.addresses')}</h2>
      {needs.map((need) => (
        <AddressOf
          key={need.chain}
          need={need}
          value={chosenAddress(need, chosen)}
          onChange={(address) => onChange({ ...chosen, [need.chain]: address })}
        />
      ))}
    </section>
  );
}

type AddressProps = {
  readonly need: AddressNeed;
  readonly value: string;
  readonly onChange: (address: string) => void;
};

function AddressOf({ need, value, onChange }: AddressProps) {
  const { use, options, isFree } = need;
  const chain = chainName(need.chain);
  const label = text(`deal.address.${use}`, { chain });
  if (isFree) {
    return (
      <>
        <TextField
          mono
          label={label}
          hint={text('deal.address.bitcoin.hint')}
          value={value}
          onChange={onChange}
          autoComplete="off"
          maxLength={128}
        />
        {devAddress !== null && (
          <p className="deal-dev-address">
            <Button kind="quiet" onPress={() => onChange(devAddress)}>
              {text('deal.address.dev')}
            </Button>
          </p>
        )}
      </>
    );
  }
  if (options.length === 0) {
    return (
      <Notice
        kind="warn"
        title={text('deal.address.none', { chain })}
        action={<Link to="/wallets">{text('deal.address.none.action')}</Link>}
      >
        {text(use === 'funder' ? 'deal.address.funder.hint' : 'deal.address.paid.hint')}
      </Notice>
    );
  }
  return (
    <Select
      label={label}
      hint={text(use === 'funder' ? 'deal.address.funder.hint' : 'deal.address.paid.hint')}
      value={value}
      onChange={onChange}
      options={options.map((each) => ({ value: each, label: each }))}
    />
  );
}
