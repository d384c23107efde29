// Bitcoin: an address of the person, where claims and refunds are paid. The engine checks it.

import { useState } from 'react';
import { messageOf } from '../../sdk/errors.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';

type Props = {
  /** Throws what the engine says of the address, as a sentence. */
  readonly keep: (address: string) => Promise<void>;
  /** Where there is an address already, which may stay. */
  readonly leave?: () => void;
};

export function PayoutForm({ keep, leave }: Props) {
  const [address, setAddress] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      await keep(address.trim());
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void go();
      }}
    >
      <TextField
        label={text('settlement.payto.label')}
        hint={text('settlement.payto.hint')}
        error={fault}
        value={address}
        onChange={(typed) => {
          setAddress(typed);
          setFault(null);
        }}
        mono
        autoComplete="off"
        maxLength={100}
      />
      <div className="actions">
        <Button type="submit" kind="main" busy={isBusy}>
          {text('settlement.payto.save')}
        </Button>
        {leave !== undefined && <Button onPress={leave}>{text('settlement.payto.leave')}</Button>}
      </div>
    </form>
  );
}
