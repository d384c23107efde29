// The rescue file, saved by a person.

import { useState } from 'react';
import { messageOf } from '../../sdk/errors.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { saveFile } from './save-file.ts';

export type SaveRescueProps = {
  readonly save: () => Promise<{ readonly name: string; readonly blob: Blob }>;
};

export function SaveRescue({ save }: SaveRescueProps) {
  const [fault, setFault] = useState<string | null>(null);
  const go = async () => {
    try {
      const { name, blob } = await save();
      saveFile(name, blob.type, await blob.text());
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
