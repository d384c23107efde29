// One of many assets, found by typing its symbol or chain.

import { lazy, Suspense } from 'react';
import { Field } from '../../parts/field.tsx';
import { assetName } from '../../parts/names.ts';
import { text } from '../../texts/texts.ts';
import type { AssetFieldProps } from './asset-combo.tsx';

const AssetCombo = lazy(async () => ({
  default: (await import('./asset-combo.tsx')).AssetCombo,
}));

/** The field has the same size while it is loaded: the page below it does not move. */
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
