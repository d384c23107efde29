// A Bitcoin address of the person's own, checked as it is typed.

import { useState } from 'react';
import { text } from '../texts/texts.ts';
import { addressFault, startsOf } from './bitcoin-address.ts';
import { TextField } from './controls.tsx';
import { bitcoinNetwork } from './page-wallets.ts';

type AddressFieldProps = {
  label: string;
  hint?: string;
  /** A fault that only the engine finds. */
  error?: string | null;
  value: string;
  onChange: (typed: string) => void;
};

export function AddressField({ error = null, value, onChange, ...field }: AddressFieldProps) {
  const [isLeft, setLeft] = useState(false);
  return (
    <TextField
      {...field}
      mono
      error={faultText(value, isLeft) ?? error}
      value={value}
      onChange={(typed) => {
        setLeft(false);
        onChange(typed);
      }}
      onBlur={() => setLeft(true)}
      autoComplete="off"
      maxLength={128}
    />
  );
}

/** null: it is right, or can still become so. */
function faultText(typed: string, isLeft: boolean): string | null {
  const own = bitcoinNetwork();
  const fault = addressFault(typed, own, isLeft);
  switch (fault?.is) {
    case undefined:
      return null;
    case 'network':
      return text('address.network', { other: fault.other, own: own ?? fault.other });
    case 'none':
      return text('address.none', { starts: startsOf(own ?? 'mainnet') });
    case 'evm':
    case 'unfinished':
      return text(`address.${fault.is}`);
  }
}

/** Whether a swap may be told to pay it. */
export function isAddress(typed: string): boolean {
  return typed.trim() !== '' && addressFault(typed, bitcoinNetwork(), true) === null;
}
