// A value to the clipboard, and whether that worked.

import { useState } from 'react';
import { text } from '../texts/texts.ts';
import { announce } from './announce.ts';
import { Button } from './button.tsx';

type CopyProps = {
  readonly value: string;
  /** The name of the copied value: `address`, `amount`. Heard as `Copy the address`. */
  readonly what: string;
};

export function Copy({ value, what }: CopyProps) {
  const [result, setResult] = useState<'done' | 'failed' | null>(null);
  const copy = async () => {
    const outcome = await navigator.clipboard.writeText(value).then(
      () => 'done' as const,
      () => 'failed' as const,
    );
    setResult(outcome);
    announce(text(`copy.${outcome}`, { what }));
    setTimeout(() => setResult(null), 3_000);
  };
  return (
    <Button kind="quiet" label={text('copy.label', { what })} onPress={() => void copy()}>
      {text(result === null ? 'copy.short' : `copy.${result}`, { what })}
    </Button>
  );
}
