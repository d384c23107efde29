// Twelve words of another device, typed. They leave the page's memory with this form.

import { useState } from 'react';
import { messageOf } from '../../sdk/errors.ts';
import type { PhraseCheck } from '../../sdk/rescue/phrase.ts';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { TextArea } from './field.tsx';

export type PhraseFormProps = {
  /** Keeps a right phrase. */
  readonly restore: (typed: string) => Promise<PhraseCheck>;
  readonly done: () => void;
};

export function PhraseForm({ restore, done }: PhraseFormProps) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      const check = await restore(typed);
      if (!check.ok) return setFault(faultOf(check));
      setTyped('');
      done();
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
      <TextArea
        label={text('phrase.restore.label')}
        hint={text('phrase.restore.hint')}
        error={fault}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setFault(null);
        }}
        mono
        autoComplete="off"
        maxLength={1_000}
      />
      <Button type="submit" kind="main" busy={isBusy}>
        {text('phrase.restore.go')}
      </Button>
    </form>
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
