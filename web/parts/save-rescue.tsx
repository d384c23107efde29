// Files that a person keeps, as downloads: the rescue file and others.

import { useState } from 'react';
import { messageOf } from '../../sdk/errors.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';

/** Long enough for a browser to have read it. */
const keptMs = 60_000;

export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}

export type SaveRescueProps = {
  readonly save: () => Promise<{ readonly name: string; readonly blob: Blob }>;
};

export function SaveRescue({ save }: SaveRescueProps) {
  const [fault, setFault] = useState<string | null>(null);
  const go = async () => {
    try {
      const { name, blob } = await save();
      download(name, blob);
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
