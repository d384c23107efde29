// Twelve words of another device, typed. They leave the page's memory with this form.

import type { PhraseCheck } from '@parley/sdk/rescue/phrase.ts';
import { text } from '../texts/texts.ts';
import { TypedForm } from './typed-form.tsx';

type PhraseFormProps = {
  /** Keeps a right phrase. */
  readonly restore: (typed: string) => Promise<PhraseCheck>;
  readonly done: () => void;
};

export function PhraseForm({ restore, done }: PhraseFormProps) {
  const take = async (typed: string) => {
    const check = await restore(typed);
    if (!check.ok) return faultOf(check);
    done();
    return null;
  };
  return (
    <TypedForm
      label={text('phrase.restore.label')}
      hint={text('phrase.restore.hint')}
      maxLength={1_000}
      go={text('phrase.restore.go')}
      take={take}
      long
    />
  );
}

function faultOf(check: Exclude<PhraseCheck, { ok: true }>): string {
  switch (check.fault) {
    case 'count':
      return text('phrase.restore.count', { count: check.count });
    case 'words':
      return check.wrong
        .map(({ at, word, nearest }) => text('phrase.restore.word', { at, word, nearest }))
        .join(' ');
    case 'checksum':
      return text('phrase.restore.checksum');
  }
}
