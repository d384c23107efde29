// The rescue file, saved by a person.

import { useState } from 'react';
import { messageOf } from '../../sdk/errors.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { fileName, saveFile } from './save-file.ts';

type SaveRescueProps = {
  readonly save: () => Promise<string>;
};

export function SaveRescue({ save }: SaveRescueProps) {
  const [fault, setFault] = useState<string | null>(null);
  const go = async () => {
    try {
      saveFile(fileName('rescue', 'json'), 'application/json', await save());
      setFault(null);
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <>
      <Button onPress={() => void go()}>{text('settlement.rescue.save')}</Button>
      {fault !== null && (
        <p role="alert" className="bad-ink">
          {fault}
        </p>
      )}
    </>
  );
}
