// The sentence of an error, below the control that it came of.

import { messageOf } from '@parley/sdk/errors.ts';

type FaultProps = {
  /** null: draws nothing. */
  readonly error: unknown;
  readonly words?: (error: unknown) => string;
};

export function Fault({ error, words = messageOf }: FaultProps) {
  if (error === null) return null;
  return (
    <p role="alert" className="bad-ink">
      {words(error)}
    </p>
  );
}
