// One of many assets, found by typing its symbol or chain.

import { lazy, Suspense } from 'react';
import type { Asset } from '../../sdk/types.ts';
import { text } from '../texts/texts.ts';
import { Field } from './field.tsx';
import { assetName } from './names.ts';

export type AssetFieldProps = {
  readonly label: string;
  readonly assets: readonly Asset[];
  /** An id; null: none is chosen. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
};

const AssetCombo = lazy(async () => ({
  default: (await import('./asset-combo.tsx')).AssetCombo,
}));

/** Of the same size while it is loaded: nothing below it moves. */
export function AssetField(props: AssetFieldProps) {
  const chosen = props.assets.find(({ id }) => id === props.value);
  const meanwhile = (
    <Field label={props.label}>
      {(tied) => (
        <input
          {...tied}
          readOnly
          placeholder={text('common.loading')}
          value={chosen === undefined ? '' : assetName(chosen)}
        />
      )}
    </Field>
  );
  return (
    <Suspense fallback={meanwhile}>
      <AssetCombo {...props} />
    </Suspense>
  );
}
