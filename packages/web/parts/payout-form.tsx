// Bitcoin: an address of the person, where claims and refunds are paid. The engine checks it.

import { asTyped } from '@parley/core/typed.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { TypedForm } from './typed-form.tsx';

type Props = {
  /** Throws what the engine says of the address, as a sentence. */
  readonly keep: (address: string) => Promise<void>;
  /** Where there is an address already, which may stay. */
  readonly leave?: () => void;
};

export function PayoutForm({ keep, leave }: Props) {
  const take = async (typed: string) => {
    await keep(asTyped(typed).trim());
    return null;
  };
  return (
    <TypedForm
      label={text('settlement.payto.label')}
      hint={text('settlement.payto.hint')}
      maxLength={100}
      go={text('settlement.payto.save')}
      take={take}
    >
      {leave !== undefined && <Button onPress={leave}>{text('settlement.payto.leave')}</Button>}
    </TypedForm>
  );
}
