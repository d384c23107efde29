// Three words typed back, by the places that the vault asks for.

import { messageOf } from '@parley/sdk/errors.ts';
import { useState } from 'react';
import type { Vault } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { text } from '../../texts/texts.ts';

type TypeBackProps = {
  readonly vault: Pick<Vault, 'asked' | 'check'>;
  readonly done: () => void;
};

export function TypeBack({ vault, done }: TypeBackProps) {
  const [asked] = useState(() => vault.asked());
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrong, setWrong] = useState<readonly number[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const check = async () => {
    try {
      const answer = await vault.check(typed);
      setWrong(answer.wrong);
      if (answer.wrong.length > 0) return;
      setTyped({});
      done();
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <form
      className="panel"
      aria-labelledby="phrase-check"
      onSubmit={(event) => {
        event.preventDefault();
        void check();
      }}
    >
      <h2 id="phrase-check">{text('phrase.check.title')}</h2>
      <p>{text('phrase.check.how')}</p>
      {asked.map((at) => (
        <TextField
          key={at}
          label={text('phrase.check.word', { at })}
          error={wrong.includes(at) ? text('phrase.check.wrong', { at }) : null}
          value={typed[at] ?? ''}
          onChange={(word) => {
            setTyped({ ...typed, [at]: word });
            setWrong(wrong.filter((each) => each !== at));
          }}
          mono
          autoComplete="off"
          maxLength={20}
          required
        />
      ))}
      {fault !== null && <p role="alert">{fault}</p>}
      <Button type="submit" kind="main">
        {text('phrase.check.go')}
      </Button>
    </form>
  );
}
