// A rescue file that was chosen. It is read here and sent nowhere.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { messageOf, RescueError } from '@parley/sdk/errors.ts';
import { mostBytes, type RescueFile } from '@parley/sdk/rescue/file.ts';
import { useId, useState } from 'react';
import { Fault } from '../../parts/forms.tsx';
import { Icon } from '../../parts/icons.tsx';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import type { Opened } from './told.ts';

type Props = {
  now: () => UnixSeconds;
  /** Throws RescueError. */
  open: (text: string) => Promise<RescueFile>;
  opened: Opened | null;
  set: (opened: Opened | null) => void;
};

export function FromFile({ now, open, opened, set }: Props) {
  const id = useId();
  const [error, setError] = useState<unknown>(null);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    set(null);
    if (file.size > mostBytes) {
      setError(new Error(text('rescue.file.large', { size: file.size, most: mostBytes })));
      return;
    }
    try {
      const content = await file.text();
      set({ file: await open(content), text: content });
      setError(null);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <div className="rescue-file">
      <h3>{text('rescue.file')}</h3>
      <div className={opened === null ? 'rescue-drop' : 'rescue-drop done'}>
        <Icon name={opened === null ? 'file' : 'check'} />
        <label htmlFor={id}>{text('rescue.file.choose')}</label>
        {opened !== null && <p role="status">{saidOf(opened, now())}</p>}
        <input
          id={id}
          type="file"
          accept=".json,application/json"
          onChange={(event) => void read(event.target.files?.[0])}
        />
      </div>
      <Fault error={error} words={faultOf} />
    </div>
  );
}

export function saidOf({ file }: Opened, now: number): string {
  const { length } = file.swaps;
  if (length === 0) return text('rescue.file.none');
  const count =
    length === 1 ? text('rescue.file.one') : text('rescue.file.many', { count: length });
  return text('rescue.file.read', { at: localTime(file.writtenAt, now), count });
}

const known = [
  'foreign_file',
  'newer_file',
  'bad_file',
  'other_phrase',
  'other_network',
  'too_large',
] as const;

export function faultOf(error: unknown): string {
  const code = error instanceof RescueError ? error.code : null;
  const found = known.find((each) => each === code);
  return found === undefined ? messageOf(error) : text(`rescue.fault.${found}`);
}
